"""How long each part has been running, and how much memory it takes."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.checkout import Checkout
from sandbox.kubernetes import records
from sandbox.kubernetes.records import Record

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """What one process takes."""

    part: str
    """Its name; behind a slash the program, if it is one that the part has started."""
    pid: int
    uptime_seconds: float
    resident_bytes: int
    peak_bytes: int
    """The most it ever took."""

    def __str__(self) -> str:
        """Write it as a line of a table."""
        memory = f"{self.resident_bytes // _MIB:>5} MiB now, {self.peak_bytes // _MIB:>5} MiB at most"
        return f"{self.part:<26} process {self.pid:<8} {self.uptime_seconds:>7.0f} s {memory}"


def of(checkout: Checkout) -> list[Usage]:
    """Return what every process of the Kubernetes of a sandbox takes; empty where there is no ``/proc`` to ask."""
    return [usage for record in reversed(records.read_all(checkout)) if record.alive for usage in _of(record)]


def total_bytes(usages: list[Usage]) -> int:
    """Return how much memory all of it takes now. What programs share is counted for each, so it is an upper bound."""
    return sum(usage.resident_bytes for usage in usages)


def _of(record: Record) -> Iterator[Usage]:
    for pid in (record.pid, *sorted(records.session(record.pid) - {record.pid})):
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{pid}/status").read_text()
            name = record.name if pid == record.pid else f"{record.name}/{_field(status, 'Name')}"
            yield Usage(name, pid, _uptime(pid), _kilobytes(status, "VmRSS"), _kilobytes(status, "VmHWM"))


def _field(status: str, name: str) -> str:
    found = re.search(rf"^{name}:\s+(.*)$", status, re.MULTILINE)
    return found.group(1) if found else ""


def _kilobytes(status: str, name: str) -> int:
    # A process that is just ending has no memory any more.
    return int((_field(status, name) or "0 kB").split()[0]) * 1024


def _uptime(pid: int) -> float:
    since_boot = float(Path("/proc/uptime").read_text().split()[0])
    started = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return max(0.0, since_boot - started / os.sysconf("SC_CLK_TCK"))
