"""Starting and ending other programs, each by its own process id."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TextIO

GRACE_SECONDS = 10.0
"""How long a program may take to end by itself after it was told to."""


def stop(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End a program we started and the group it leads: first politely, then for certain."""
    for attempt in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is not None:
            return
        try:
            os.killpg(process.pid, attempt)
            process.wait(timeout=GRACE_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """Run a program to its end and return its exit code; a Ctrl-C is handed to it, waited for, and then passed on.

    The engine must be told exactly once: its first interrupt finishes the running steps and writes the state, a second
    one gives up on both. In a group of its own it does not hear the terminal's Ctrl-C beside ours.
    """
    with subprocess.Popen(list(command), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, process_group=0) as process:
        return _wait(process)


def run_behind(first: Sequence[str], command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> tuple[int, int]:
    """Run two programs at the same time, show them one after the other, and return both exit codes.

    ``first`` has the terminal and our own environment. The output of ``command`` is held back until ``first`` has
    ended; if that ended with anything but 0 or 1 it could not run, and ``command`` is stopped, unseen.
    """
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(list(command), cwd=cwd, env=dict(env), process_group=0, **pipes) as process:
        try:
            before = subprocess.run(first, cwd=cwd, check=False).returncode
        except BaseException:
            stop(process)
            raise
        if before not in {0, 1}:
            stop(process)
            return before, before
        shown = [
            threading.Thread(target=_show, args=pair)
            for pair in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
        ]
        for thread in shown:
            thread.start()
        try:
            return before, _wait(process)
        finally:
            for thread in shown:
                thread.join()


def _show(source: IO[bytes], target: TextIO) -> None:
    for line in source:
        target.write(line.decode(errors="replace"))
        target.flush()


def _wait(process: subprocess.Popen[bytes]) -> int:
    interrupted = False
    while process.returncode is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            interrupted = True
            print("\ninterrupted: the engine finishes what it is doing and saves the state", flush=True)
            process.send_signal(signal.SIGINT)
    if interrupted and process.returncode != 0:
        raise KeyboardInterrupt
    return process.returncode


def start_detached(command: Sequence[str], env: Mapping[str, str], log: Path) -> int:
    """Start a program that outlives this one and does not hear its Ctrl-C; return its process id."""
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], list(command), dict(env), file_actions=files, setsid=True)


def end(pid: int, started: str) -> None:
    """End a process of an earlier command by its id, if it is still the one that started then."""
    for attempt in (signal.SIGTERM, signal.SIGKILL):
        # Without a start time it was gone before anybody could ask.
        if not started or start_time(pid) != started:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, attempt)
        deadline = time.monotonic() + GRACE_SECONDS
        while start_time(pid) == started and time.monotonic() < deadline:
            time.sleep(0.02)
    with contextlib.suppress(ChildProcessError):
        # It may be our own child, and would stay in the process table.
        os.waitpid(pid, os.WNOHANG)


def start_time(pid: int) -> str:
    """Return when a process started, as the system writes it; empty if there is no such process.

    A process id together with its start time names one process for ever, so that a stale id never hits a stranger.
    """
    try:
        # The name in parentheses may hold spaces; what follows the last one is separated by single spaces. The zombie
        # of a child nobody waited for counts as gone.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return _start_time_without_proc(pid)
    except (ProcessLookupError, PermissionError):
        return ""
    return "" if fields[0] == "Z" else fields[19]


def _start_time_without_proc(pid: int) -> str:
    if Path("/proc/self/stat").exists():
        return ""
    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
