from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import turns
from sandbox.checkout import ROOT, Checkout
from sandbox.cli import main
from sandbox.errors import SandboxError
from sandbox.programs import Program

PROGRAM = Program(ROOT, "eks-gpu", "python", {}, ROOT / "stacks")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start something the system calls `pulumi`."""
    named = tmp_path / "bin" / "pulumi"
    named.parent.mkdir()
    shutil.copyfile(shutil.which("sleep") or "/bin/sleep", named)
    named.chmod(0o755)
    with subprocess.Popen([named, "60"]) as process:
        yield process
        process.kill()


def lock(checkout: Checkout, content: str) -> Path:
    file = checkout.state / ".pulumi" / "locks" / "organization" / "eks-gpu" / "local" / "1.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


def test_a_second_command_is_told_which_process_changes_the_stack(checkout: Checkout) -> None:
    with (
        turns.turn(checkout, PROGRAM, "local"),
        pytest.raises(SandboxError, match=r"wait until it has ended, or interrupt it, and run again$") as refused,
        turns.turn(checkout, PROGRAM, "local"),
    ):
        raise AssertionError("two have their turn")

    assert f"local is being changed by another command (process {os.getpid()})" in str(refused.value)


def test_another_stack_can_be_changed_meanwhile_and_the_same_one_afterwards(checkout: Checkout) -> None:
    with turns.turn(checkout, PROGRAM, "local"), turns.turn(checkout, PROGRAM, "dev"):
        assert turns.anybody(checkout)

    assert not turns.anybody(checkout)
    with turns.turn(checkout, PROGRAM, "local"):
        assert turns.anybody(checkout)


@pytest.mark.parametrize("command", ["up", "down", "recover"])
def test_an_engine_that_outlived_its_command_is_left_alone(
    command: str, checkout: Checkout, engine: subprocess.Popen[bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    file = lock(checkout, json.dumps({"pid": engine.pid}))
    state = checkout.state / ".pulumi" / "stacks" / "eks-gpu" / "local.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"checkpoint": {}}')

    assert main([command]) == 2

    said = capfd.readouterr().err
    assert said.startswith(f"error: local is being changed by another command (pulumi, process {engine.pid}); wait")
    assert file.exists()
    assert engine.poll() is None


@pytest.mark.parametrize(
    "content",
    [json.dumps({"pid": os.getpid()}), json.dumps({"pid": 0}), "", "[]"],
    ids=["stranger", "none", "cut", "odd"],
)
def test_the_lock_of_a_dead_engine_is_known_as_such(content: str, checkout: Checkout) -> None:
    lock(checkout, content)

    with turns.turn(checkout, PROGRAM, "local"):
        assert turns.is_locked(checkout, PROGRAM, "local")
        assert not turns.is_locked(checkout, PROGRAM, "dev")


def test_clean_forgets_nothing_while_another_command_works(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    with turns.turn(checkout, PROGRAM, "local"):
        assert main(["clean"]) == 2

    assert capsys.readouterr().err == (
        "error: another command works in this sandbox; wait until it has ended, or interrupt it, and run again\n"
    )
    assert checkout.pulumi_home.is_dir()
    assert main(["clean"]) == 0
