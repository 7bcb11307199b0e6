"""Ports of this machine's loopback address: which are free, and who has the others."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Container, Iterator
from pathlib import Path

HOST = "127.0.0.1"
"""The only address that anything in the sandbox listens at."""

_RANGE = range(20_000, 32_000)
"""Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): a reserved port
whose server is stopped must not be taken by somebody's download."""

_LISTENING = "0A"
"""The state in ``/proc/net/tcp``."""


def free(taken: Container[int] = ()) -> int:
    """Return a port nobody listens at now, and that is not in ``taken``; drawn, so that two askers hardly ever meet."""
    candidates = (random.choice(_RANGE) for _ in range(10_000))  # noqa: S311 - no secret
    return next(port for port in candidates if port not in taken and is_free(port))


def is_free(port: int) -> bool:
    """Tell whether a server could listen at ``port``."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def holder(port: int) -> int | None:
    """Return the process that listens at ``port``; None if it cannot be told (another user's, or no ``/proc``)."""
    inodes = {f"socket:[{inode}]" for own, inode in _listening() if own == port}
    for entry in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if inodes and any(str(link.readlink()) in inodes for link in entry.iterdir()):
                return int(entry.parent.name)
    return None


def _listening() -> Iterator[tuple[int, str]]:
    """Yield port and inode of every listening socket."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(FileNotFoundError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING:
                    yield int(fields[1].rpartition(":")[2], 16), fields[9]
