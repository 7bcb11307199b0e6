"""This checkout's own program, its stack files and its policy pack."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox import home, programs, stacks
from sandbox.checkout import ROOT, Checkout
from sandbox.engine import Engine, prepare
from sandbox.errors import SandboxError
from sandbox.home import Home
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


def judge(program: Program, stack: str) -> None:
    """Print the verdict of ``eks-gpu check`` on a stack; findings are left to the engine's run of the pack.

    Raises:
        SandboxError: the stack's file is refused, which has been said.

    """
    refuse(subprocess.run(check_command(program, stack), cwd=program.root, check=False).returncode)


def refuse(verdict: int) -> None:
    """Stop, without another word, after an ``eks-gpu check`` that could not judge.

    Raises:
        SandboxError: it could not.

    """
    if verdict not in {0, 1}:
        raise SandboxError("")


def remedy(verb: str, stack: str) -> str:
    """Return the command that a message tells its reader to run."""
    default = verb != "preview" and stack == "local"
    return f"`make {verb}`" if default else f"`make {verb} STACK={stack}`"


def outlived(code: int, advice: str) -> int:
    """Return the exit code of an engine that ended by itself.

    Raises:
        SandboxError: it was killed; the message says by which signal, and ends with the advice.

    """
    if code >= 0:
        return code
    name = signal.Signals(-code).name
    cause = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    raise SandboxError(f"the engine was killed ({name}{cause}); {advice}", exit_code=1)


@dataclass(frozen=True, slots=True)
class OpenStack:
    """A stack of this checkout's program, ready for the engine."""

    engine: Engine
    program: Program
    name: str
    config: Path
    """The copy of its file, for the engine to rewrite."""

    def with_kubernetes(self) -> OpenStack:
        """Return the same stack, for an engine that works with the sandbox's real Kubernetes, which is started."""
        return replace(self, engine=self.engine.with_kubernetes())

    @property
    def is_empty(self) -> bool:
        """Tell whether the backend holds nothing of it."""
        return stacks.is_empty(self.engine.checkout, self.program, self.name)

    @property
    def home(self) -> Home | None:
        """Where it was built, if it holds anything."""
        return home.read(self.engine.checkout, self.program, self.name)

    def command(self, verb: str, *options: str) -> list[str]:
        """Return the command line of ``pulumi <verb>`` on it."""
        return self.engine.command(verb, self.program, self.name, "--config-file", str(self.config), *options)

    def run(self, verb: str, *options: str) -> int:
        """Run ``pulumi <verb>`` on it, and return the engine's exit code.

        Raises:
            SandboxError: somebody killed the engine.

        """
        code = run(self.command(verb, *options), cwd=self.program.root, env=self.engine.environment)
        return outlived(code, "run again" if verb == "preview" else f"{remedy('recover', self.name)} finishes its work")


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
