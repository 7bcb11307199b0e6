"""Says in one sentence why a part is not there: what ended it, what can be done, and where its log lies."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from pathlib import Path

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import layout
from sandbox.kubernetes.records import Record

SHOWN_LINES = 5

FULL_BYTES = 16_000_000
"""With less than this on the disk, it is to blame for whatever ends: etcd's log of writes grows by 64 MB at a time."""
_READ_BYTES = 65_536
_WIDTH = 300
_REAPING_SECONDS = 2.0

_DISK = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_DATABASE = re.compile(r"database space exceeded", re.IGNORECASE)
_PORT = re.compile(r"address already in use", re.IGNORECASE)
_TELLING = re.compile(
    r"^F\d{4} |^panic: |^fatal error: |^error: |\berr=|level=(error|fatal)|\t(fatal|panic|error)\t|\bError\b|^E\d{4} "
)
"""How the parts write a line that says why they end: klog, Go itself, etcd, ours."""


def ended(checkout: Checkout, record: Record, status: int | None) -> SandboxError:
    """Return what to say of a part that ended by itself; ``status`` is as `os.waitpid` gives it, if it is known."""
    lines = _said(checkout, record)
    return _error(checkout, record, f"{record.name} ended{_how(status)}", _reason(checkout, lines, status), lines)


def never_ready(checkout: Checkout, record: Record, seconds: float, answer: str) -> SandboxError:
    """Return what to say of a part that runs, and still does not work after ``seconds``."""
    lines = _said(checkout, record)
    said = f" ({answer})" if answer else ""
    what = f"{record.name} is not ready after {seconds:.0f} s{said}"
    return _error(
        checkout, record, what, _reason(checkout, lines, None) or "the machine may be too busy; run again", lines
    )


def exit_status(pid: int) -> int | None:
    """Return how a process ended that this very program started; None of any other."""
    deadline = time.monotonic() + _REAPING_SECONDS
    while time.monotonic() < deadline:
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if found:
            return status
        # Its first thread has ended, and the system has not yet done so with the others.
        time.sleep(0.02)
    return None


def _error(checkout: Checkout, record: Record, what: str, reason: str, lines: list[str]) -> SandboxError:
    log = layout.log(checkout, record.name)
    because = f": {reason}" if reason else ""
    tail = "".join(f"\n    {line[:_WIDTH]}" for line in _shown(lines))
    return SandboxError(f"{what}{because}; its log is {log}{tail}")


def _how(status: int | None) -> str:
    if status is None:
        return ""
    code = os.waitstatus_to_exitcode(status)
    return f" with exit code {code}" if code >= 0 else f" by {signal.Signals(-code).name}"


def _reason(checkout: Checkout, lines: list[str], status: int | None) -> str:
    text = "\n".join(lines)
    # What a full disk makes a part say does not get onto it either.
    if _DISK.search(text) or free_bytes(checkout) < FULL_BYTES:
        return "the disk is full; free some space, and run again"
    if _DATABASE.search(text):
        return "its database is full; `make clean-sandbox` begins with an empty one"
    if _PORT.search(text):
        return "its port was taken by another program this moment; run again"
    if status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return f"somebody killed it, or the system did for want of memory{_available()}; run again"
    return ""


def _available() -> str:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except FileNotFoundError:
        return ""
    return f" ({int(found.group(1)) // 1024} MiB are available now, and it needs 1 GiB)" if found else ""


def free_bytes(checkout: Checkout) -> int:
    """Return how much can still be written to the sandbox's disk."""
    return shutil.disk_usage(checkout.directory).free


def _said(checkout: Checkout, record: Record) -> list[str]:
    """Return the end of what a part said since it was started."""
    log = layout.log(checkout, record.name)
    try:
        with log.open("rb") as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(min(record.log_offset, size), size - _READ_BYTES))
            return [line for line in handle.read().decode(errors="replace").splitlines() if line.strip()]
    except FileNotFoundError:
        return []


def _shown(lines: list[str]) -> list[str]:
    """Return the last lines, and before them the last that says why, if it stands farther up (above a stack trace)."""
    tail = lines[-SHOWN_LINES:]
    telling = [line for line in lines[:-SHOWN_LINES] if _TELLING.search(line)]
    return tail if any(_TELLING.search(line) for line in tail) else [*telling[-1:], *tail]
