"""Runs Go with progress and a log; what it does can be interrupted, and goes on with the next run."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from sandbox.errors import SandboxError
from sandbox.processes import stop
from sandbox.toolchain.go import Go, explain
from sandbox.toolchain.progress import Progress

TAIL_LINES = 12
"""How much of a failed run's log is shown; the whole of it stays in the log file."""


def run(go: Go, arguments: Sequence[str], *, folder: Path, log: Path, progress: Progress) -> None:
    """Run Go in ``folder`` to its end.

    Raises:
        SandboxError: Go failed; the message says why if it can be told, and where the whole log is.

    """
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    with subprocess.Popen(
        [go.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=go.environment(),
        process_group=0,
    ) as process:
        try:
            with log.open("w") as written:
                code = _follow(process, progress, written, tail)
        except BaseException:
            stop(process)
            progress.done("stopped (what is downloaded and compiled is kept; the next run goes on from there)")
            raise
    if code != 0:
        progress.done("failed")
        raise SandboxError(_failure(progress.doing, go, log, tail))


def _follow(process: subprocess.Popen[str], progress: Progress, log: IO[str], tail: deque[str]) -> int:
    """Read the output to its end, while the main thread shows progress and can be interrupted."""

    def read(stream: IO[str]) -> None:
        # A full disk must not stop the reading: Go would wait for ever on a full pipe.
        for line in stream:
            progress.saw(line)
            tail.append(line.rstrip())
            with contextlib.suppress(OSError, ValueError):
                log.write(line)

    reader = threading.Thread(target=read, args=(process.stdout,), daemon=True)
    reader.start()
    while reader.is_alive():
        reader.join(timeout=1)
        progress.tick()
    return process.wait()


def _failure(doing: str, go: Go, log: Path, tail: deque[str]) -> str:
    reason = explain(log.read_text(errors="replace") if log.exists() else "\n".join(tail), go)
    shown = "\n".join(f"    {line}" for line in tail if line)
    return "\n".join(
        part
        for part in (
            f"{doing} failed" + (f": {reason}" if reason else ""),
            "  the end of what Go said:" if shown else "",
            shown,
            f"  all of it: {log}",
        )
        if part
    )
