"""One command at a time changes a stack.

Two locks tell: ours, which the kernel releases when its holder dies, and the engine's in the backend, which a killed
engine leaves behind. An engine can outlive the command that started it, so both are looked at.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.locks import is_held
from sandbox.programs import Program


@contextmanager
def turn(checkout: Checkout, program: Program, stack: str) -> Iterator[None]:
    """Change a stack as the only one.

    Raises:
        SandboxError: another command or its engine is changing it; the message names the process.

    """
    path = _folder(checkout) / f"{program.name}.{stack}.lock"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with path.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise _taken(stack, f"process {handle.read().strip() or 'unknown'}") from None
        handle.truncate(0)
        handle.write(f"{os.getpid()}\n")
        handle.flush()
        engine = next((pid for pid in _lock_owners(checkout, program, stack) if _is_engine(pid)), None)
        if engine is not None:
            raise _taken(stack, f"pulumi, process {engine}")
        yield


def is_locked(checkout: Checkout, program: Program, stack: str) -> bool:
    """Tell whether an engine's lock lies on a stack; in a `turn`, it is that of a dead one."""
    return bool(_lock_owners(checkout, program, stack))


def anybody(checkout: Checkout) -> bool:
    """Tell whether a command is changing any stack of this sandbox."""
    return any(is_held(path) for path in _folder(checkout).glob("*.lock"))


def _taken(stack: str, by: str) -> SandboxError:
    return SandboxError(
        f"{stack} is being changed by another command ({by}); wait until it has ended, or interrupt it, and run again"
    )


def _lock_owners(checkout: Checkout, program: Program, stack: str) -> list[int]:
    """Return the process ids in the engine's lock files; 0 for one that cannot be read."""
    folder = checkout.state / ".pulumi" / "locks" / "organization" / program.name / stack
    return [_owner(file) for file in folder.glob("*.json")]


def _owner(lock: Path) -> int:
    try:
        return int(json.loads(lock.read_text())["pid"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0


def _is_engine(pid: int) -> bool:
    """Tell whether a process is an engine: the number of a dead one may be a stranger's by now."""
    if pid <= 0:
        return False
    command = ["/bin/ps", "-o", "comm=", "-p", str(pid)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return Path(said).name == "pulumi"


def _folder(checkout: Checkout) -> Path:
    return checkout.directory / "turns"
