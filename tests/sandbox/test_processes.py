from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.checkout import ROOT
from sandbox.processes import end, run, run_behind, start_detached, start_time

TELLS_OF_INTERRUPTS = """
import signal, sys, time
count = 0
def on_interrupt(*_):
    global count
    count += 1
    open(sys.argv[1], "a").write("interrupt\\n")
signal.signal(signal.SIGINT, on_interrupt)
open(sys.argv[1], "a").write("ready\\n")
while not count:
    time.sleep(0.01)
time.sleep(0.5)
open(sys.argv[1], "a").write("saved\\n")
sys.exit(7)
"""


@pytest.mark.parametrize("code", [0, 1, 255])
def test_the_exit_code_is_handed_on(code: int) -> None:
    assert run([sys.executable, "-c", f"raise SystemExit({code})"], cwd=ROOT, env=os.environ) == code


def test_an_interrupt_reaches_the_engine_once_and_it_is_waited_for(tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = tmp_path / "engine.py"
    program.write_text(TELLS_OF_INTERRUPTS)
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom sandbox.processes import run\n"
        f"try: run([sys.executable, {str(program)!r}, {str(told)!r}], cwd=Path('.'), env=os.environ)\n"
        "except KeyboardInterrupt: sys.exit(130)\n"
    )
    # A group of its own stands for a terminal: its Ctrl-C goes to the whole group.
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, process_group=0) as outer:
        deadline = time.monotonic() + 20
        while not (told.exists() and "ready" in told.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(outer.pid, signal.SIGINT)
        try:
            code = outer.wait(timeout=20)
        finally:
            outer.kill()

    assert told.read_text().split() == ["ready", "interrupt", "saved"]
    assert code == 130


def test_two_programs_run_at_once_and_are_shown_one_after_the_other(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    begun = tmp_path / "begun"
    # The first one ends only when the second one runs: one after the other, they would wait for ever.
    first = ["/bin/sh", "-c", f"while [ ! -e {begun} ]; do sleep 0.01; done; echo first; exit 1"]
    second = ["/bin/sh", "-c", f"echo second; echo beside >&2; touch {begun}; exit 3"]

    codes = run_behind(first, second, cwd=tmp_path, env=os.environ)

    said = capfd.readouterr()
    assert codes == (1, 3)
    assert said.out == "first\nsecond\n"
    assert said.err == "beside\n"


def test_what_is_behind_a_program_that_could_not_run_is_stopped_unseen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pid = tmp_path / "pid"
    first = ["/bin/sh", "-c", f"while [ ! -s {pid} ]; do sleep 0.01; done; exit 2"]
    second = ["/bin/sh", "-c", f"echo unseen; echo $$ > {pid}; exec sleep 60"]

    codes = run_behind(first, second, cwd=tmp_path, env=os.environ)

    assert codes == (2, 2)
    assert capfd.readouterr().out == ""
    assert start_time(int(pid.read_text())) == ""


def test_a_process_that_is_gone_has_no_start_time() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        known = start_time(process.pid)
        assert known
        assert start_time(process.pid) == known
        process.kill()

    assert start_time(process.pid) == ""


def test_a_process_that_was_gone_before_its_start_was_noted_is_not_signalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = start_detached(["/bin/true"], {}, tmp_path / "log")
    while start_time(pid):
        time.sleep(0.01)
    signalled: list[int] = []
    monkeypatch.setattr(os, "kill", lambda number, _signal: signalled.append(number))

    end(pid, "")

    assert signalled == []
