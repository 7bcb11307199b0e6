"""``exec``: any command, for this project or any other Pulumi program, in the sandbox's environment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from sandbox import aws, programs
from sandbox.checkout import Checkout
from sandbox.engine import prepare
from sandbox.errors import SandboxError


def execute(command: Sequence[str], cwd: str, *, real_kubernetes: bool = False) -> NoReturn:
    """Become ``command``, run in the folder ``cwd``; with ``real_kubernetes``, of the control plane, which is started.

    Raises:
        SandboxError: there is no command, no such folder, or no such program.

    """
    if not command:
        raise SandboxError("nothing to run; write it after two dashes: python -m sandbox exec -- pulumi preview")
    folder = Path(cwd).resolve()
    if not folder.is_dir():
        raise SandboxError(f"--cwd {cwd}: there is no such folder")
    checkout = Checkout.current()
    engine = prepare(checkout, programs.find(_program_folder(folder, command)))
    if real_kubernetes:
        engine = engine.with_kubernetes()
    executable = shutil.which(command[0], path=engine.environment["PATH"])
    if executable is None:
        raise SandboxError(f"{command[0]}: there is no such program on PATH")
    if Path(executable).name != "pulumi":
        # The engine's stand-ins start AWS when they need it; anything else expects it to be there.
        aws.start(checkout, wait=False)
    os.chdir(folder)
    # Replaced, not started: signals, terminal and exit code are the command's own.
    os.execve(executable, list(command), dict(engine.environment))  # noqa: S606 - running the user's command is the point


def _program_folder(folder: Path, command: Sequence[str]) -> Path:
    """Return the folder whose program is meant: ``pulumi`` can be told another one with ``-C`` or ``--cwd``."""
    if Path(command[0]).name != "pulumi":
        return folder
    for position, argument in enumerate(command):
        if argument in {"-C", "--cwd"} and position + 1 < len(command):
            return (folder / command[position + 1]).absolute()
        if argument.startswith("--cwd="):
            return (folder / argument.removeprefix("--cwd=")).absolute()
    return folder
