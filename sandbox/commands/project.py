"""This checkout's own program, its stack files and its policy pack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sandbox import programs, stacks
from sandbox.checkout import ROOT
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.programs import Program

POLICY_PACK = "policies"
"""The folder of the pack, from the root of the checkout."""


def load() -> Program:
    """Return the program of this checkout."""
    return programs.load(ROOT / "Pulumi.yaml")


def verdict(stack: str) -> int:
    """Print what ``eks-gpu check`` says of a stack, and return its exit code.

    Raises:
        SandboxError: the command line is not installed, or could not read the stack; it has said why.

    """
    command = Path(sys.executable).with_name("eks-gpu")
    if not command.exists():
        raise SandboxError(f"{command} is missing; run `uv sync` in {ROOT}")
    code = subprocess.run([command, "check", stack], cwd=ROOT, check=False).returncode
    if code not in {0, 1}:
        raise SandboxError("")
    return code


def open_stack(engine: Engine, program: Program, stack: str) -> Path:
    """Copy a stack's file for the engine, create the stack if need be, and return the copy."""
    copy = stacks.copy_config(engine.checkout, program, stack, program.stack_file(stack))
    engine.create(program, stack)
    return copy
