"""``build``, ``status`` and ``clean``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from sandbox import aws, turns
from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import control_plane, usage
from sandbox.stacks import resource_counts
from sandbox.toolchain import builder, go_module, pulumi_cli
from sandbox.toolchain.tools import PULUMI, TOOLS, Tool

MODULES = "modules"
"""What ``build`` calls the modules that are only read, beside the tools."""


def build(names: Sequence[str]) -> int:
    """Build the named tools, or all of them; the engine only if PATH has none that will do.

    Raises:
        SandboxError: a name is unknown, or a build failed.

    """
    known = [*TOOLS, MODULES]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SandboxError(f"unknown tool {', '.join(map(repr, unknown))}; there are {', '.join(known)}")
    for name in names or known:
        for line in _build(name):
            print(line)
    return 0


def _build(name: str) -> list[str]:
    if name == MODULES:
        return [f"{name}: {folder}" for folder in go_module.fetch_all()]
    if name == PULUMI.name:
        engine = pulumi_cli.ensure(Checkout.current())
        return [f"{name}: {engine.executable} ({engine.origin})"]
    return [f"{name}: {_place(TOOLS[name], builder.ensure(TOOLS[name]))}"]


def _place(tool: Tool, folder: Path) -> Path:
    """Return the one program of a tool, or the folder of several."""
    return folder / tool.contents[0] if len(tool.contents) == 1 else folder


def status() -> int:
    """Print what is built, what runs and what is deployed."""
    checkout = Checkout.current()
    engine = pulumi_cli.available(checkout)
    print(f"sandbox   {checkout.directory}")
    print(f"engine    {f'{engine.executable} ({engine.origin})' if engine else 'not built yet'}")
    for name, tool in TOOLS.items():
        if name != PULUMI.name:
            folder = builder.built(tool)
            print(f"{name:<9} {_place(tool, folder) if folder else 'not built yet'}")
    server = aws.running(checkout)
    print(f"aws       {f'{server.url} (process {server.pid})' if server else 'not running'}")
    plane = control_plane.running(checkout)
    print(f"cluster   {f'{plane.endpoint} (kubeconfig {plane.kubeconfig})' if plane else 'not running'}")
    for used in usage.of(checkout):
        print(f"          {used}")
    for stack, count in resource_counts(checkout).items():
        print(f"stack     {stack}: {count} resources")
    return 0


def clean() -> int:
    """Stop what runs and delete the state of this checkout; built tools stay, for all checkouts share them.

    Raises:
        SandboxError: the folder is not one of a sandbox, or somebody works in it.

    """
    checkout = Checkout.current()
    if not checkout.directory.exists():
        return 0
    if not checkout.pulumi_home.is_dir():
        raise SandboxError(f"{checkout.directory} is not the folder of a sandbox; nothing was deleted")
    if turns.anybody(checkout) or aws.is_in_use(checkout):
        raise SandboxError(
            "another command works in this sandbox; wait until it has ended, or interrupt it, and run again"
        )
    control_plane.wipe(checkout)
    aws.stop(checkout)
    shutil.rmtree(checkout.directory)
    print(f"deleted {checkout.directory}")
    return 0
