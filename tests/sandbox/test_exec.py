from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import aws, programs
from sandbox.checkout import ROOT, Checkout

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi
import pulumi_aws as aws
import yaml

queue = aws.sqs.Queue("jobs")
pulumi.export("who", aws.get_caller_identity_output().account_id)
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def encrypted(args, report):
    if args.resource_type == "aws:sqs/queue:Queue" and not args.props.get("sqsManagedSseEnabled"):
        report("the queue is not encrypted")

rule = ResourceValidationPolicy("encrypted", "queues are encrypted", encrypted, EnforcementLevel.MANDATORY)
PolicyPack("theirs", [rule])
"""


def sandbox(checkout: Checkout, cwd: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody in another folder does."""
    return subprocess.run(
        [sys.executable, "-m", "sandbox", "exec", "--", *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "EKS_GPU_SANDBOX_DIR": str(checkout.directory)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Write a program of somebody else, with a pack of theirs, and a stack file."""
    folder = tmp_path / "theirs"
    (folder / "pack").mkdir(parents=True)
    runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (folder / "Pulumi.yaml").write_text(json.dumps({"name": "theirs", "runtime": runtime}))
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "Pulumi.dev.yaml").write_text("config:\n  aws:region: eu-west-1\n")
    (folder / "pack" / "PulumiPolicy.yaml").write_text(json.dumps({"runtime": runtime, "version": "1.0.0"}))
    (folder / "pack" / "__main__.py").write_text(PACK)
    return folder


def test_a_foreign_program_and_pack_run_with_the_stand_ins(checkout: Checkout, theirs: Path) -> None:
    created = sandbox(checkout, theirs, "pulumi", "stack", "init", "dev")
    refused = sandbox(checkout, theirs, "pulumi", "preview", "--non-interactive", "--policy-pack", "pack")
    deployed = sandbox(checkout, theirs, "pulumi", "up", "--yes", "--non-interactive", "--skip-preview")

    assert created.returncode == 0, created.stderr
    assert refused.returncode != 0
    assert "the queue is not encrypted" in refused.stdout
    assert deployed.returncode == 0, deployed.stdout + deployed.stderr
    assert '"123456789012"' in deployed.stdout
    assert "warning" not in f"{refused.stdout}{refused.stderr}{deployed.stdout}{deployed.stderr}"
    assert aws.running(checkout) is not None, "the stand-in of AWS was started by the provider that needed it"


def test_the_stand_ins_are_installed_under_the_versions_the_program_asks_for(checkout: Checkout, theirs: Path) -> None:
    python = theirs / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    known = {"versions": {"aws": "6.83.0", "kubernetes": "4.1.0"}, "pip": False}
    python.write_text(f"#!/bin/sh\necho '{json.dumps(known)}'\n")
    python.chmod(0o755)
    (theirs / "Pulumi.yaml").write_text(
        json.dumps({"name": "theirs", "runtime": {"name": "python", "options": {"virtualenv": "venv"}}})
    )

    answer = sandbox(checkout, theirs.parent, "pulumi", "-C", str(theirs), "version")

    installed = {folder.name for folder in (checkout.pulumi_home / "plugins").iterdir()}
    own = {f"resource-{provider}-v{version}" for provider, version in programs.own_versions().items()}
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.startswith(f"note: {python} has no pip")
    assert installed == own | {"resource-aws-v6.83.0", "resource-kubernetes-v4.1.0"}


def test_the_command_runs_in_its_folder_with_its_exit_code_and_finds_aws(checkout: Checkout, theirs: Path) -> None:
    answer = sandbox(checkout, theirs, "sh", "-c", 'pwd; echo "$AWS_ENDPOINT_URL"; exit 7')

    server = aws.running(checkout)
    assert server is not None
    assert answer.stdout.split() == [str(theirs.resolve()), server.url]
    assert answer.returncode == 7


def test_a_command_that_is_not_there_is_one_sentence(checkout: Checkout, theirs: Path) -> None:
    assert shutil.which("no-such-command") is None

    answer = sandbox(checkout, theirs, "no-such-command")

    assert answer.returncode == 2
    assert answer.stderr == "error: no-such-command: there is no such program on PATH\n"
