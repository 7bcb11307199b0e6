"""Killing an engine, as a power cut or the system short of memory does: at a chosen moment, without a word before."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import IO

from sandbox.processes import end, start_time

STEP = re.compile(r"\b(?:creating|updating|deleting|replacing|reading) \(\d")
"""What the engine prints, one line for each, when it begins a step: ``creating (0s)``."""

_ENGINE = "pulumi"
_LOOK_SECONDS = 0.003
_LONGEST_SECONDS = 600.0
"""A command that has come to no end by then hangs."""


class Victims(Enum):
    """Who is killed."""

    ENGINE = auto()
    """The engine alone: its providers finish what they are doing, and notice a little later."""
    EVERYTHING = auto()
    """The engine and all it started, at once: providers stop between two calls."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: so many seconds after the engine began so many steps."""

    steps: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        """Say it in words, for the output of a test."""
        return f"{self.seconds:.3f} s after step {self.steps}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a command."""

    killed: bool
    """Whether its engine was killed; it may have ended before the moment came."""
    returncode: int
    output: str
    left: Mapping[int, str] = field(repr=False)
    """The processes of the engine that outlived it, with the times they started."""

    def tidy(self) -> None:
        """End what outlived the engine and has not noticed by now, such as the host of a policy pack."""
        for pid, started in self.left.items():
            end(pid, started)


@dataclass(frozen=True, slots=True)
class Command:
    """Something that runs an engine."""

    line: Sequence[str]
    """An engine, or anything that starts one: ``make up``, ``python -m sandbox up``."""
    cwd: Path
    log: Path
    """A file for its output; steps are counted in it."""
    env: Mapping[str, str] | None = None
    """Its environment; this process's own by default."""


def run_and_kill(command: Command, moment: Moment, victims: Victims) -> Outcome:
    """Run a command, kill its engine at the moment, and wait for the command's own end."""
    with (
        command.log.open("w") as output,
        command.log.open() as seen,
        subprocess.Popen(
            list(command.line),
            cwd=command.cwd,
            env=command.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            left = _kill(process, victims) if _comes(moment, process, seen) else None
            process.wait(_LONGEST_SECONDS)
        finally:
            process.kill()
    return Outcome(left is not None, process.returncode, command.log.read_text(), left or {})


def _comes(moment: Moment, process: subprocess.Popen[bytes], seen: IO[str]) -> bool:
    """Wait for the moment; tell whether it came while the command ran."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    steps, text = 0, ""
    while steps < moment.steps:
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline, f"there were {steps} steps in {_LONGEST_SECONDS:.0f} seconds"
        text += seen.read()
        whole, _, text = text.rpartition("\n")
        steps += len(STEP.findall(whole))
        time.sleep(_LOOK_SECONDS)
    time.sleep(moment.seconds)
    return process.poll() is None


def _kill(process: subprocess.Popen[bytes], victims: Victims) -> Mapping[int, str] | None:
    """Kill the engine that a command runs, and return what is left of its offspring; None if there is no engine."""
    processes = _processes()
    engines = [pid for pid in _family(processes, process.pid) if processes[pid][1] == _ENGINE]
    if not engines:
        return None
    engine = engines[-1]
    # What was started to stay, such as the AWS of the sandbox, leads a session of its own.
    offspring = [pid for pid in _family(processes, engine)[1:] if _session(pid) == _session(engine)]
    started = {pid: start_time(pid) for pid in offspring}
    for pid in (engine, *(offspring if victims is Victims.EVERYTHING else ())):
        if _session(pid):
            os.kill(pid, signal.SIGKILL)
    return {pid: when for pid, when in started.items() if when and start_time(pid) == when}


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def _family(processes: Mapping[int, tuple[int, str]], ancestor: int) -> list[int]:
    """Return a process and everything below it, parents before children."""
    children = [pid for pid, (parent, _) in processes.items() if parent == ancestor]
    return [ancestor, *(pid for child in children for pid in _family(processes, child))]


def _processes() -> dict[int, tuple[int, str]]:
    """Return the parent and the program of every process."""
    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,comm="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split(None, 2) for line in listed.splitlines())
    return {int(pid): (int(parent), Path(program).name) for pid, parent, program in rows}
