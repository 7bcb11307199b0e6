"""The Pulumi engine, ready to run against the sandbox: for the commands, and for the tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox import aws, environment, plugins, programs, stacks
from sandbox.checkout import ROOT, Checkout
from sandbox.programs import Program
from sandbox.toolchain import pulumi_cli
from sandbox.toolchain.pulumi_cli import Installation


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine with its environment; `prepare` makes one."""

    checkout: Checkout
    installation: Installation
    environment: Mapping[str, str]

    def create(self, program: Program, stack: str) -> None:
        """Create the stack in the backend if it is not there."""
        stacks.create(self.checkout, program, stack, self.environment, self.installation.executable)

    def command(self, verb: str, program: Program, stack: str, *options: str) -> list[str]:
        """Return the command line of ``pulumi <verb>`` for a stack."""
        colour = ["--color", "always"] if sys.stdout.isatty() and "NO_COLOR" not in os.environ else []
        chosen = ["--stack", stacks.qualified(program, stack)]
        return [self.installation.executable, verb, "--non-interactive", *colour, *chosen, *options]

    def with_kubernetes(self) -> Engine:
        """Return the same engine, working with the sandbox's real Kubernetes, which is started.

        Raises:
            SandboxError: it cannot be built or started.

        """
        # Imported where it is used: a preview, which needs none of it, must not wait for it.
        from sandbox.kubernetes import control_plane  # noqa: PLC0415 - see above
        from sandbox.kubernetes.environment import variables  # noqa: PLC0415 - see above

        plane = control_plane.start(self.checkout)
        added = variables(self.checkout, plane, self.environment["PATH"])
        return replace(self, environment={**self.environment, **added})


def prepare(checkout: Checkout, program: Program | None) -> Engine:
    """Return the engine for a program (None: for no program in particular), after building it where that is needed.

    The stand-ins are installed under the versions the program's SDKs ask for, and under our own: the stand-in of the
    EKS component creates its AWS children with the SDK it runs on.

    Raises:
        SandboxError: the engine is not there and cannot be built, or something the program runs with is missing.

    """
    checkout.prepare()
    if program is not None:
        programs.require_host(program, os.environ.get("PATH", os.defpath))
    installation = pulumi_cli.ensure(checkout)
    server = aws.reserve(checkout)
    own = program is not None and program.root == ROOT
    variables = environment.build(checkout, engine=installation.folder, aws_endpoint=server.url, own_program=own)
    plugins.install(checkout, programs.own_versions())
    if program is not None and not own and program.runtime == "python":
        _serve(checkout, program, variables["PATH"])
    return Engine(checkout, installation, variables)


def _serve(checkout: Checkout, program: Program, path: str) -> None:
    """Install the stand-ins for somebody else's program."""
    python = programs.interpreter(program, path)
    if python is None or Path(python).absolute() == Path(sys.executable):
        return
    found = programs.packages(python)
    plugins.install(checkout, found.versions)
    if not found.pip and program.options.get("toolchain") != "uv":
        print(
            f"note: {python} has no pip, and Pulumi's Python host lists packages with it; "
            f"if it refuses: uv pip install --python {python} pip",
            file=sys.stderr,
        )
