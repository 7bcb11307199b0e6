from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import aws
from sandbox.checkout import ROOT, Checkout
from sandbox.cli import main
from sandbox.commands import housekeeping, project
from sandbox.toolchain.tools import TOOLS


@pytest.mark.parametrize("command", ["preview", "up", "down", "recover"])
@pytest.mark.usefixtures("checkout")
def test_an_unknown_stack_is_one_sentence_with_the_stacks_there_are(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([command, "prd"])

    said = capsys.readouterr()
    assert code == 2
    assert said.err == "error: unknown stack 'prd'; the stacks of eks-gpu are dev, local, prod, staging\n"
    assert said.out == ""


@pytest.mark.parametrize("built", [True, False])
def test_a_stack_whose_file_is_refused_by_the_check_shows_no_preview(
    built: bool, checkout: Checkout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check = tmp_path / "bin" / "eks-gpu"
    check.parent.mkdir()
    check.write_text("#!/bin/sh\necho five mistakes >&2\nexit 2\n")
    check.chmod(0o755)
    engine = tmp_path / "engine"
    engine.mkdir()
    for name in ("pulumi", "pulumi-language-python", "uv"):
        (engine / name).write_text('#!/bin/sh\n[ "$1" = version ] && echo v3.259.0 || echo a preview\n')
        (engine / name).chmod(0o755)
    state = checkout.state / ".pulumi" / "stacks" / "eks-gpu" / "dev.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"checkpoint": {}}')
    monkeypatch.setattr(sys, "executable", str(check.with_name("python")))
    monkeypatch.setenv("PATH", f"{engine}:/usr/bin:/bin" if built else "/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    code = main(["preview", "dev"])

    said = capfd.readouterr()
    assert code == 2
    assert said.err == "five mistakes\n"
    assert said.out == ""


@pytest.mark.usefixtures("checkout")
def test_a_missing_command_line_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    assert main(["preview", "dev"]) == 2
    assert re.search(r"eks-gpu is missing; run `uv sync`", capsys.readouterr().err)


def test_the_default_stacks_exist() -> None:
    assert {"dev", "local"} <= set(project.load().stacks)


@pytest.mark.usefixtures("checkout")
def test_an_unknown_tool_is_one_sentence_with_the_tools_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "terraform"]) == 2
    assert capsys.readouterr().err == f"error: unknown tool 'terraform'; there are {', '.join(TOOLS)}, modules\n"


@pytest.mark.usefixtures("checkout", "cache")
def test_without_go_a_preview_fails_with_one_message_and_no_traceback(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "sandbox", "build"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 2
    assert answer.stderr.startswith("error: no Go found on PATH, and building pulumi needs it\n")
    assert "Traceback" not in answer.stderr


@pytest.mark.usefixtures("checkout")
def test_exec_says_what_is_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["exec"]) == 2
    assert "nothing to run" in capsys.readouterr().err
    assert main(["exec", "--cwd", str(tmp_path / "gone"), "--", "true"]) == 2
    assert "there is no such folder" in capsys.readouterr().err


@pytest.mark.usefixtures("cache")
def test_status_says_what_is_built_runs_and_is_deployed(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    state = checkout.state / ".pulumi" / "stacks" / "eks-gpu" / "local.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"checkpoint": {"latest": {"resources": [{}, {}]}}}')
    server = aws.start(checkout, wait=False)

    assert main(["status"]) == 0

    said = capsys.readouterr().out
    assert str(checkout.directory) in said
    assert "engine    not built yet" in said
    assert "promtool  not built yet" in said
    assert f"{server.url} (process {server.pid})" in said
    assert "eks-gpu/local: 2 resources" in said


def test_clean_stops_what_runs_and_forgets_everything(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    server = aws.start(checkout, wait=False)

    assert main(["clean"]) == 0

    assert not server.alive
    assert not checkout.directory.exists()
    assert str(checkout.directory) in capsys.readouterr().out
    assert main(["clean"]) == 0


def test_clean_deletes_nothing_that_is_not_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    monkeypatch.setenv("EKS_GPU_SANDBOX_DIR", str(precious))

    assert main(["clean"]) == 2
    assert "nothing was deleted" in capsys.readouterr().err
    assert (precious / "file").exists()


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.ENOSPC, "error: /full/state: no space left on device; free some space, and run again\n"),
        (errno.EROFS, "error: /full/state: read-only file system; use a checkout that can be written to, or set "),
        (errno.EACCES, "error: /full/state: permission denied; use a checkout of your own, or set "),
        (errno.EMFILE, "error: /full/state: too many open files\n"),
    ],
)
def test_what_the_system_refuses_is_one_sentence(
    code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> int:
        raise OSError(code, os.strerror(code), "/full/state")

    monkeypatch.setattr(housekeeping, "status", refuse)

    assert main(["status"]) == 2
    assert capsys.readouterr().err.startswith(said)
