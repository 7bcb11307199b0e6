from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.checkout import ROOT
from sandbox.errors import SandboxError
from sandbox.processes import start_time
from sandbox.toolchain import builder
from sandbox.toolchain.tools import PROMTOOL, GoBinary, ModuleFile, Tool

FakeGo = Callable[..., Path]

MODULE_FILE = """module tools/demo

go 1.26

require (
\texample.org/demo v1.2.3 // indirect
\texample.org/demo/cmd v0.9.0 // indirect
\texample.org/other v7.0.0 // indirect
)

tool example.org/demo/cmd/demo
"""


@pytest.fixture
def demo(tmp_path: Path) -> Tool:
    folder = tmp_path / "modules" / "demo"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(MODULE_FILE)
    (folder / "go.sum").write_text("example.org/demo v1.2.3 h1:x\n")
    binary = GoBinary("demo", 60, stamps={"example.org/demo.Version": "v{version}"}, parent=tmp_path / "modules")
    return Tool("demo", (binary,), (ModuleFile("helper", "example.org/demo", "cmd/helper"),))


def test_a_build_puts_executable_files_into_the_cache_and_says_what_it_does(
    demo: Tool, cache: Path, fake_go: FakeGo, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = fake_go(
        build='echo "go: downloading example.org/other v7.0.0" >&2; echo example.org/a >&2; printf x > "$out"'
    )

    folder = builder.ensure(demo)

    assert folder == cache / demo.folder_name
    assert os.access(folder / "demo", os.X_OK)
    assert os.access(folder / "helper", os.X_OK)
    assert "-X example.org/demo.Version=v0.9.0" in calls.read_text()
    said = capfd.readouterr().err
    assert "building demo v0.9.0 with Go, once: about 1m00s" in said
    assert "1 modules downloaded, 1 packages compiled" in said


def test_a_second_start_runs_no_go(demo: Tool, cache: Path, fake_go: FakeGo) -> None:
    calls = fake_go()
    builder.ensure(demo)
    calls.unlink()

    assert builder.ensure(demo) == cache / demo.folder_name
    assert not calls.exists()


def test_without_go_the_message_says_what_to_install(
    demo: Tool, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SandboxError, match=r"no Go found on PATH.*\n.*install Go 1\.26 or newer") as caught:
        builder.ensure(demo)

    assert caught.value.exit_code == 2
    assert not (cache / demo.folder_name).exists()


@pytest.mark.parametrize("version", ["go1.25.9", "go1.9", "devel"])
@pytest.mark.usefixtures("cache")
def test_a_go_that_is_too_old_is_named_with_the_one_that_is_needed(demo: Tool, fake_go: FakeGo, version: str) -> None:
    fake_go(version=version)

    with pytest.raises(SandboxError, match=rf"(?s)Go is too old: .*{version}.* needs 1\.26 or newer"):
        builder.ensure(demo)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("write /x/y: no space left on device", "the disk is full"),
        ("dial tcp 127.0.0.1:9: connect: connection refused", "module proxy (GOPROXY) cannot be reached"),
        ("verifying module: checksum mismatch", "not the one that was pinned"),
        ("undefined: thing", "failed\n"),
    ],
)
def test_a_failing_build_says_why_shows_the_end_of_the_log_and_where_the_rest_is(
    demo: Tool, cache: Path, fake_go: FakeGo, said: str, reason: str
) -> None:
    fake_go(build=f'for i in $(seq 40); do echo "line $i"; done; echo "{said}" >&2; exit 1')

    with pytest.raises(SandboxError) as caught:
        builder.ensure(demo)

    message = str(caught.value)
    log = cache / demo.folder_name / "demo.log"
    assert reason in message
    assert said in message
    assert str(log) in message
    assert "line 1\n" not in message
    assert "line 1\n" in log.read_text()
    assert builder.built(demo) is None


@pytest.mark.usefixtures("cache")
def test_a_run_after_a_failed_build_goes_on(demo: Tool, fake_go: FakeGo) -> None:
    fake_go(build="exit 1")
    with pytest.raises(SandboxError):
        builder.ensure(demo)
    fake_go()

    assert builder.built(demo) is None
    assert os.access(builder.ensure(demo) / "demo", os.X_OK)


def test_what_a_killed_build_left_is_not_taken_for_the_tool(demo: Tool, cache: Path, fake_go: FakeGo) -> None:
    pid_file = cache.parent / "go-pid"
    fake_go(build=f'printf half > "$out"; chmod 755 "$out"; mkdir -p {cache}; echo $$ > {pid_file}; sleep 60')
    script = (
        "from pathlib import Path; from sandbox.toolchain import builder; from sandbox.toolchain.tools import *;"
        f"builder.ensure(Tool('demo', (GoBinary('demo', 1, parent=Path({str(demo.binaries[0].parent)!r})),)))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
    )
    folder = cache / demo.folder_name
    part = folder / ".demo.part"
    _wait_for(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
    child.kill()
    child.wait()
    # Go runs in a group of its own, which the killed process cannot end any more.
    os.killpg(int(pid_file.read_text()), signal.SIGKILL)
    assert part.read_text() == "half"

    assert not (folder / "demo").exists()
    assert builder.built(demo) is None
    fake_go(build='printf whole > "$out"')
    assert (builder.ensure(demo) / "demo").read_text() == "whole"


def test_an_interrupted_build_ends_go_and_keeps_nothing_half_made(tmp_path: Path, cache: Path, fake_go: FakeGo) -> None:
    pid_file = tmp_path / "go-pid"
    fake_go(build=f'printf half > "$out"; echo $$ > {pid_file}; sleep 60')
    child = subprocess.Popen(
        [sys.executable, "-m", "sandbox", "build", "promtool"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _wait_for(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)

    assert child.returncode == 130
    assert "Traceback" not in said
    assert "the next run goes on from there" in said
    assert not list((cache / PROMTOOL.folder_name).glob("*promtool*.part"))
    assert start_time(int(pid_file.read_text())) == ""


def test_two_checkouts_do_not_build_the_same_tool_twice(
    demo: Tool, cache: Path, fake_go: FakeGo, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = fake_go()
    cache.mkdir(parents=True)
    with (cache / f"{demo.folder_name}.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = threading.Thread(target=builder.ensure, args=(demo,))
        second.start()
        said = ""
        deadline = time.monotonic() + 20
        while "another process is building demo" not in said and time.monotonic() < deadline:
            time.sleep(0.02)
            said += capfd.readouterr().out
        # What the other process would have made by now.
        folder = cache / demo.folder_name
        folder.mkdir()
        for name in demo.contents:
            (folder / name).write_text("made by the other one")
            (folder / name).chmod(0o755)
    second.join(timeout=20)

    assert "another process is building demo v0.9.0" in said
    assert not calls.exists()


def test_a_cache_that_cannot_be_written_is_one_sentence(
    demo: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_go: FakeGo
) -> None:
    fake_go()
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with pytest.raises(SandboxError, match=r"cannot build demo in .*: Not a directory"):
        builder.ensure(demo)


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in 20 seconds"
        time.sleep(0.02)
