from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import aws, stacks
from sandbox.checkout import ROOT, Checkout
from sandbox.cli import main
from sandbox.commands import project
from sandbox.inventory import Account
from sandbox.processes import end, start_time

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi_aws as aws

queue = aws.sqs.Queue("jobs")
aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", tags={"queue": queue.name})
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def private(args, report):
    if args.resource_type == "aws:ec2/vpc:Vpc" and not args.props["cidrBlock"].startswith("10."):
        report("the network is not private")

PolicyPack("pack", [ResourceValidationPolicy("private", "networks are private", private, EnforcementLevel.MANDATORY)])
"""

CHECK = project.check_command

STAND_IN = ("local", "--kubernetes", "stand-in")

QUICK = ("local", "--", "--skip-preview")

STACK_FILE = "# tracked\nconfig:\n  aws:region: eu-west-1\n  app:when: 2026-01-01\n"


@pytest.fixture
def program(in_place_of_ours: Callable[..., Path]) -> Path:
    """Put a small program with a pack in the place of this checkout's own."""
    return in_place_of_ours("small", program=PROGRAM, pack=PACK, stack_file=STACK_FILE)


def contents(checkout: Checkout) -> list[str]:
    server = aws.running(checkout)
    assert server is not None
    return [line.split(" ")[1] for line in Account(server.url).contents(["eu-west-1"]) if "route" not in line]


def test_up_builds_a_second_up_changes_nothing_and_down_proves_that_nothing_is_left(
    checkout: Checkout, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tracked = program / "stacks" / "Pulumi.local.yaml"
    written = tracked.stat().st_mtime_ns

    assert main(["up", *STAND_IN]) == 0
    assert {"queue", "VPC"} <= set(contents(checkout))
    assert main(["up", *QUICK, "--expect-no-changes"]) == 0

    server = aws.running(checkout)
    assert server is not None
    queues = Account(server.url).client("sqs", "eu-west-1")
    forgotten = queues.create_queue(QueueName="forgotten")["QueueUrl"]
    capfd.readouterr()
    assert main(["down", *QUICK]) == 1
    said = capfd.readouterr().out
    assert re.search(
        r"^error: left in AWS \(http://127\.0\.0\.1:\d+\), and known to no stack \(1\):$", said, re.MULTILINE
    )
    assert f"  eu-west-1 queue {forgotten}\n" in said
    assert aws.running(checkout) == server, "it stays, so that one can look"

    queues.delete_queue(QueueUrl=forgotten)
    assert main(["down"]) == 0
    assert capfd.readouterr().out.endswith("nothing is left in AWS; it is stopped\n")
    assert aws.running(checkout) is None
    assert stacks.resource_counts(checkout) == {"small/local": 0}
    assert tracked.read_text() == STACK_FILE
    assert tracked.stat().st_mtime_ns == written
    assert [file.name for file in program.rglob("Pulumi.*.yaml")] == ["Pulumi.local.yaml"]


def test_a_stack_file_that_is_refused_begins_nothing(
    checkout: Checkout, program: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(project, "check_command", CHECK)
    (program / "stacks" / "Pulumi.local.yaml").write_text("config: [unclosed\n")

    for command in ("up", "recover"):
        assert main([command]) == 2
        said = capfd.readouterr()
        assert re.search(r"Pulumi\.local\.yaml is not YAML: .*\(line 2, column 1\)\n$", said.err)
        assert said.out == ""
    assert stacks.resource_counts(checkout) == {}


def test_a_mandatory_rule_stops_up_before_anything_is_made(checkout: Checkout, program: Path) -> None:
    (program / "__main__.py").write_text(PROGRAM.replace("10.0.0.0/16", "172.16.0.0/16"))

    assert main(["up", *STAND_IN]) == 1

    assert contents(checkout) == []


def test_down_of_a_stack_that_was_never_built_is_fine(
    checkout: Checkout, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert program.is_dir()
    assert main(["down"]) == 0

    assert "nothing is left" in capfd.readouterr().out
    assert aws.running(checkout) is None


def test_down_of_a_stack_that_protects_something_says_how_and_a_deployment_without_protection_opens_it(
    checkout: Checkout, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    protected = PROGRAM.replace('Queue("jobs")', 'Queue("jobs", opts=pulumi.ResourceOptions(protect=True))')
    (program / "__main__.py").write_text(f"import pulumi\n{protected}")
    assert main(["up", *STAND_IN, "--", "--skip-preview"]) == 0
    capfd.readouterr()

    assert main(["down", *QUICK]) == 2
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith("error: local protects jobs from being deleted; to delete it on purpose, set another ")
    assert "Pulumi.local.yaml, `make up` once, then `make down` again" in said
    assert {"queue", "VPC"} <= set(contents(checkout)), "nothing was deleted"

    (program / "__main__.py").write_text(PROGRAM)
    assert main(["up", *QUICK]) == 0
    assert main(["down", *QUICK]) == 0
    assert stacks.resource_counts(checkout) == {"small/local": 0}


def test_after_aws_was_lost_up_says_so_and_recover_builds_everything_anew(
    checkout: Checkout, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert program.is_dir()
    assert main(["up", *STAND_IN, "--", "--skip-preview"]) == 0
    aws.stop(checkout)

    assert main(["up"]) == 2
    assert "the AWS stand-in was stopped since local was built" in capfd.readouterr().err
    assert main(["recover", *QUICK]) == 0
    assert {"queue", "VPC"} <= set(contents(checkout))
    assert main(["up", *QUICK, "--expect-no-changes"]) == 0
    assert main(["down", *QUICK]) == 0


def test_recover_finishes_what_a_killed_engine_left_locked_and_half_created(
    checkout: Checkout, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = aws.start(checkout)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        _kill_engine_while_it_creates(checkout, program)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    for command in ("up", "down"):
        capfd.readouterr()
        assert main([command, *QUICK]) == 2
        said = capfd.readouterr().err
        assert said.startswith("error: a command that was changing local was killed, and left it locked; ")
        assert said.endswith("`make recover` finishes its work\n")

    assert main(["recover", *QUICK]) == 0

    assert main(["up", *QUICK, "--expect-no-changes"]) == 0
    assert {"queue", "VPC"} <= set(contents(checkout))


def _kill_engine_while_it_creates(checkout: Checkout, program: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from sandbox.commands import project; from sandbox.cli import main;"
        f"project.ROOT = Path({str(program)!r});"
        f"sys.exit(main({['up', *STAND_IN, '--', '--skip-preview']!r}))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as command:
        state = checkout.state / ".pulumi" / "stacks" / "small" / "local.json"
        try:
            _wait_for(lambda: _half_created(state) == ["aws:sqs/queue:Queue"])
            [engine] = _children_of(command.pid)
            left = {pid: start_time(pid) for pid in _offspring_of(engine)}
            os.kill(engine, signal.SIGKILL)
            _, said = command.communicate(timeout=60)
            for pid, started in left.items():
                # The host of a foreign policy pack outlives its engine.
                end(pid, started)
        finally:
            command.kill()
        assert start_time(engine) == ""
        assert command.returncode == 1
        assert "error: the engine was killed (SIGKILL, as the system does when memory runs out); `make recover`" in said


def _half_created(state: Path) -> list[str]:
    try:
        latest = json.loads(state.read_text())["checkpoint"]["latest"]
    except (OSError, ValueError):
        return []
    return [
        left["resource"]["type"] for left in (latest or {}).get("pending_operations", ()) if left["type"] == "creating"
    ]


def _offspring_of(parent: int) -> list[int]:
    children = _children_of(parent)
    return children + [pid for child in children for pid in _offspring_of(child)]


def _children_of(parent: int) -> list[int]:
    listed = subprocess.run(["/bin/ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (line.split() for line in listed.splitlines())
    return [int(pid) for pid, above in pairs if int(above) == parent]


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in a minute"
        time.sleep(0.05)
