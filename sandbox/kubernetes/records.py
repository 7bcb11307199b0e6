"""Which process each part is: written down when it is started, believed only while the process is still that one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.checkout import DIRECTORY_VARIABLE, Checkout
from sandbox.kubernetes import layout, parts
from sandbox.kubernetes.parts import Part
from sandbox.processes import end, start_detached, start_time

LOG_BYTES = 5_000_000
"""From which size on a log is set aside when its part is started again."""


@dataclass(frozen=True, slots=True)
class Record:
    """A part that was started."""

    name: str
    pid: int
    started: str
    """As the system writes it; with the process id it names one process for ever."""
    digest: str
    """Of its command, so that one that was started otherwise is not taken for what is wanted now."""
    log_offset: int
    """Where in the log it begins to speak."""

    @property
    def alive(self) -> bool:
        """Tell whether the process is there."""
        return bool(self.started) and start_time(self.pid) == self.started


def digest(part: Part) -> str:
    """Return what changes with the command of a part."""
    return hashlib.sha256(json.dumps([part.command, dict(part.environment)]).encode()).hexdigest()[:16]


def read(checkout: Checkout, name: str) -> Record | None:
    """Return what is written of a part."""
    try:
        return Record(**json.loads(_path(checkout, name).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def read_all(checkout: Checkout) -> list[Record]:
    """Return what is written, in the order in which it is to be stopped: nothing before what needs it."""
    paths = layout.records(checkout).glob("*.json")
    found = [record for path in paths if (record := read(checkout, path.stem)) is not None]
    return sorted(found, key=_place, reverse=True)


def _place(record: Record) -> tuple[int, str, int]:
    # A part that this version does not know: the last started first.
    known = parts.ORDER.index(record.name) if record.name in parts.ORDER else len(parts.ORDER)
    return known, record.started.rjust(20), record.pid


def spawn(checkout: Checkout, part: Part) -> Record:
    """Start a part; an interruption does not come between that and the writing of its record."""
    with ThreadPoolExecutor(max_workers=1) as uninterrupted:
        return uninterrupted.submit(_spawn, checkout, part).result()


def finish(checkout: Checkout, record: Record) -> None:
    """End a part and whatever it has started, and forget it."""
    end_all_of(checkout, record)
    _path(checkout, record.name).unlink(missing_ok=True)


def end_all_of(checkout: Checkout, record: Record) -> None:
    """End a part and whatever it has started."""
    end(record.pid, record.started)
    for pid in _left_behind(checkout, record):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _spawn(checkout: Checkout, part: Part) -> Record:
    log = layout.log(checkout, part.name)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    offset = log.stat().st_size if log.exists() else 0
    environment = {**parts.environment(checkout), **part.environment}
    pid = start_detached(part.command, environment, log)
    record = Record(part.name, pid, start_time(pid), digest(part), offset)
    layout.write(_path(checkout, part.name), json.dumps(asdict(record)))
    return record


def session(leader: int) -> set[int]:
    """Return the processes of the session that a part leads or led: itself, and what it has started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == leader:
                found.add(int(folder.name))
    return found


def _left_behind(checkout: Checkout, record: Record) -> Iterator[int]:
    """Yield what is still there of the session that a part led, if it is of this sandbox without doubt."""
    mark = f"{DIRECTORY_VARIABLE}={checkout.directory}".encode()
    for pid in session(record.pid):
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                yield pid


def _path(checkout: Checkout, name: str) -> Path:
    return layout.records(checkout) / f"{name}.json"
