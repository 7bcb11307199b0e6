"""This checkout's own program, its stack files and its policy pack."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox import programs, stacks
from sandbox.checkout import ROOT, Checkout
from sandbox.engine import Engine, prepare
from sandbox.errors import SandboxError
from sandbox.processes import run
from sandbox.programs import Program

POLICY_PACK = "policies"
"""The folder of the pack, from the root of the checkout."""


def load() -> Program:
    """Return the program of this checkout."""
    return programs.load(ROOT / "Pulumi.yaml")


def check_command(program: Program, stack: str) -> list[str]:
    """Return the command line of ``eks-gpu check`` for a stack.

    Raises:
        SandboxError: the command line is not installed.

    """
    command = Path(sys.executable).with_name("eks-gpu")
    if not command.exists():
        raise SandboxError(f"{command} is missing; run `uv sync` in {program.root}")
    return [str(command), "check", stack]


@dataclass(frozen=True, slots=True)
class OpenStack:
    """A stack of this checkout's program, ready for the engine."""

    engine: Engine
    program: Program
    name: str
    config: Path
    """The copy of its file, for the engine to rewrite."""

    @property
    def is_empty(self) -> bool:
        """Tell whether the backend holds nothing of it."""
        return stacks.is_empty(self.engine.checkout, self.program, self.name)

    def command(self, verb: str, *options: str) -> list[str]:
        """Return the command line of ``pulumi <verb>`` on it."""
        return self.engine.command(verb, self.program, self.name, "--config-file", str(self.config), *options)

    def run(self, verb: str, *options: str) -> int:
        """Run ``pulumi <verb>`` on it, and return the engine's exit code."""
        return run(self.command(verb, *options), cwd=self.program.root, env=self.engine.environment)


def open_stack(name: str) -> OpenStack:
    """Build the engine and create the stack if need be, and copy the stack's file.

    Raises:
        SandboxError: there is no such stack, or no engine.

    """
    checkout = Checkout.current()
    program = load()
    source = program.stack_file(name)
    engine = prepare(checkout, program)
    copy = stacks.copy_config(checkout, program, name, source)
    engine.create(program, name)
    return OpenStack(engine, program, name, copy)
