from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.checkout import ROOT
from sandbox.processes import run, start_time

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
        "import os, sys; from pathlib import Path; from sandbox.processes import run;"
        f"sys.exit(run([sys.executable, {str(program)!r}, {str(told)!r}], cwd=Path('.'), env=os.environ))"
    )
    # A group of its own stands for a terminal: its Ctrl-C goes to the whole group.
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, process_group=0) as outer:
        deadline = time.monotonic() + 20
        while not (told.exists() and "ready" in told.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(outer.pid, signal.SIGINT)
        code = outer.wait(timeout=20)

    assert told.read_text().split() == ["ready", "interrupt", "saved"]
    assert code == 7


def test_a_process_that_is_gone_has_no_start_time() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        known = start_time(process.pid)
        assert known
        assert start_time(process.pid) == known
        process.kill()

    assert start_time(process.pid) == ""
