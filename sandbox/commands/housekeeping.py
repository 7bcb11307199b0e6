"""``build``, ``status`` and ``clean``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from sandbox import aws, turns
from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.stacks import resource_counts
from sandbox.toolchain import builder, pulumi_cli
from sandbox.toolchain.tools import PULUMI, TOOLS


def build(names: Sequence[str]) -> int:
    """Build the named tools, or all of them; the engine only if PATH has none that will do.

    Raises:
        SandboxError: a name is unknown, or a build failed.

    """
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        raise SandboxError(f"unknown tool {', '.join(map(repr, unknown))}; there are {', '.join(TOOLS)}")
    for name in names or TOOLS:
        if name == PULUMI.name:
            engine = pulumi_cli.ensure(Checkout.current())
            print(f"{name}: {engine.executable} ({engine.origin})")
        else:
            print(f"{name}: {builder.ensure(TOOLS[name]) / name}")
    return 0


def status() -> int:
    """Print what is built, what runs and what is deployed."""
    checkout = Checkout.current()
    engine = pulumi_cli.available(checkout)
    print(f"sandbox   {checkout.directory}")
    print(f"engine    {f'{engine.executable} ({engine.origin})' if engine else 'not built yet'}")
    for name, tool in TOOLS.items():
        if name != PULUMI.name:
            folder = builder.built(tool)
            print(f"{name:<9} {folder / name if folder else 'not built yet'}")
    server = aws.running(checkout)
    print(f"aws       {f'{server.url} (process {server.pid})' if server else 'not running'}")
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
    aws.stop(checkout)
    shutil.rmtree(checkout.directory)
    print(f"deleted {checkout.directory}")
    return 0
