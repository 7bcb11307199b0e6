"""Two shells that change one stack at once: the second one is refused, and harms nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox import aws, stacks
from sandbox.checkout import DIRECTORY_VARIABLE, ROOT, Checkout
from sandbox.kubernetes import control_plane
from sandbox.kubernetes.api import Api, connect
from tests.support.cluster import eventually

PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s

waits = {"pulumi.com/waitFor": "jsonpath={.data.go}=on"}
gate = k8s.core.v1.ConfigMap("gate", metadata={"name": "gate", "namespace": "default", "annotations": waits})
k8s.core.v1.ConfigMap(
    "behind", metadata={"name": "behind", "namespace": "default"}, opts=pulumi.ResourceOptions(depends_on=[gate])
)
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def never(args, report):
    pass

PolicyPack("pack", [ResourceValidationPolicy("never", "refuses nothing", never, EnforcementLevel.MANDATORY)])
"""

ELSEWHERE = """
import sys
from pathlib import Path

from sandbox.cli import main
from sandbox.commands import project

project.ROOT = Path(sys.argv[1])
project.check_command = lambda _program, _stack: ["true"]
sys.exit(main(sys.argv[2:]))
"""
"""The command line of the sandbox, for a small program in the place of this checkout's own."""

FIRST = ("up", "local", "--", "--skip-preview")
STACK = ("--stack", "organization/small/local", "--non-interactive")


class Shells:
    """Runs commands of the sandbox on a small program, each in a process of its own, as somebody in a shell would."""

    def __init__(self, checkout: Checkout, folder: Path) -> None:
        """Write the program to ``folder``."""
        self.checkout, self.program = checkout, folder
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        files = {
            "Pulumi.yaml": json.dumps({"name": "small", "runtime": runtime, "stackConfigDir": "stacks"}),
            "__main__.py": PROGRAM,
            "stacks/Pulumi.local.yaml": "config: {}\n",
            "policies/PulumiPolicy.yaml": json.dumps({"runtime": runtime, "version": "1.0.0"}),
            "policies/__main__.py": PACK,
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the sandbox."""
        return self._start("-c", ELSEWHERE, str(self.program), *arguments)

    def start_engine(self, verb: str, *options: str) -> subprocess.Popen[str]:
        """Start the engine itself in the sandbox's environment."""
        into = ("exec", "--kubernetes", "--cwd", str(self.program), "--")
        return self._start("-m", "sandbox", *into, "pulumi", verb, *STACK, *options)

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, DIRECTORY_VARIABLE: str(self.checkout.directory)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def shells(tmp_path: Path) -> Iterator[Shells]:
    """Give a test shells in a sandbox of its own: the end of its last stack is the end of its Kubernetes."""
    checkout = Checkout(tmp_path / "sandbox")
    yield Shells(checkout, tmp_path / "small")
    control_plane.wipe(checkout)
    aws.stop(checkout)


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Let no process outlive a test that failed."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def names(cluster: Api) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.list("v1", "ConfigMap", "default")} - {"kube-root-ca.crt"}


def test_the_second_of_two_ups_is_refused_and_the_first_goes_on(shells: Shells) -> None:
    plane = control_plane.start(shells.checkout)
    with connect(plane) as cluster, ended(shells.start(*FIRST)) as first:
        eventually(lambda: "gate" in names(cluster) or first.poll() is not None, "the first to be under way")

        code, said = end(shells.start(*FIRST))
        assert code == 2, said
        assert said.splitlines()[-1] == (
            f"error: local is being changed by another command (process {first.pid}); "
            "wait until it has ended, or interrupt it, and run again"
        )

        code, said = end(shells.start_engine("up", "--yes", "--skip-preview"))
        assert code != 0
        assert "error: the stack is currently locked by 1 lock(s)." in said

        assert first.poll() is None
        assert names(cluster) == {"gate"}
        metadata = {"name": "gate", "namespace": "default"}
        cluster.patch({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"go": "on"}})
        code, said = end(first)
        assert code == 0, said
        assert names(cluster) == {"gate", "behind"}

    assert stacks.resource_counts(shells.checkout) == {"small/local": 4}
    code, said = end(shells.start("down", "local"))
    assert code == 0, said
    assert "nothing is left in Kubernetes; it is stopped\n" in said
