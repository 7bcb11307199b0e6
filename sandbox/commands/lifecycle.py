"""``up``, ``down`` and ``recover``: a stack from nothing to everything and back, with the sandbox answering for AWS."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from sandbox import aws, stacks, turns
from sandbox.aws import Server
from sandbox.checkout import Checkout
from sandbox.commands import project
from sandbox.commands.project import OpenStack
from sandbox.environment import REGION
from sandbox.errors import SandboxError
from sandbox.inventory import Account

RECONCILE = ("--yes", "--skip-preview", "--clear-pending-creates", "--run-program=false")
"""The options of a refresh that takes what there is as it is, without showing it twice."""


def up(stack: str, options: Sequence[str] = ()) -> int:
    """Build the stack, judged by the policy pack before anything is made; ``options`` go to ``pulumi up``.

    Raises:
        SandboxError: the stack is unknown, or what it was built in is gone.

    """
    opened = _open_judged(stack)
    checkout = opened.engine.checkout
    with _turn(opened):
        _refuse_if_cut_off(opened)
        server = aws.start(checkout, wait=False)
        if not opened.is_empty and _home(opened) != server:
            raise SandboxError(
                f"the AWS stand-in was stopped since {stack} was built, and what it held is gone; "
                f"{project.remedy('recover', stack)} builds it anew"
            )
        return _up(opened, server, options)


def down(stack: str, options: Sequence[str] = ()) -> int:
    """Destroy the stack, list what is left in AWS, and stop AWS if nothing is; ``options`` go to ``pulumi destroy``.

    Raises:
        SandboxError: the stack is unknown, or is not destroyed.

    """
    opened = project.open_stack(stack)
    with turns.turn(opened.engine.checkout, opened.program, stack):
        _refuse_if_cut_off(opened)
        if not opened.is_empty:
            _destroy(opened, options)
        return _leave(opened)


def _destroy(opened: OpenStack, options: Sequence[str]) -> None:
    checkout = opened.engine.checkout
    with aws.in_use(checkout):
        aws.start(checkout, wait=False)
        if opened.run("destroy", "--yes", *options):
            raise SandboxError(
                f"{opened.name} is not destroyed; {project.remedy('recover', opened.name)} reconciles it, then try "
                "again; if what a crash left in AWS stands in the way, `make clean-sandbox` forgets all of it",
                exit_code=1,
            )


def _leave(opened: OpenStack) -> int:
    """Say what is left after a destroy, and stop AWS if nothing is."""
    checkout, stack = opened.engine.checkout, opened.name
    others = {name: count for name, count in stacks.resource_counts(checkout).items() if count}
    if others:
        named = ", ".join(f"{name} ({count} resources)" for name, count in others.items())
        print(f"{stack} is gone; the AWS stand-in stays, for it holds {named}")
        return 0
    if aws.is_in_use(checkout):
        print(f"{stack} is gone; the AWS stand-in stays, for another command works with it")
        return 0
    return _prove_empty(checkout)


def recover(stack: str, options: Sequence[str] = ()) -> int:
    """Finish what a crash left: drop the lock, reconcile the state with what there is, then build the stack.

    A creation that was under way is dropped from the state. What it may have made is named by ``down``: it cannot be
    told from what somebody else made, so it is not deleted.

    Raises:
        SandboxError: the stack is unknown, or its lock cannot be dropped.

    """
    opened = _open_judged(stack)
    with _turn(opened):
        server = aws.start(opened.engine.checkout)
        _unlock(opened)
        if not opened.is_empty and opened.run("refresh", *RECONCILE):
            raise SandboxError(
                f"the state of {stack} cannot be reconciled; `make clean-sandbox` forgets it and its AWS", exit_code=1
            )
        return _up(opened, server, options)


def _open_judged(stack: str) -> OpenStack:
    """Open a stack whose file ``eks-gpu check`` can read; nothing is begun for any other."""
    program = project.load()
    program.stack_file(stack)
    project.judge(program, stack)
    return project.open_stack(stack)


@contextmanager
def _turn(opened: OpenStack) -> Iterator[None]:
    checkout = opened.engine.checkout
    with turns.turn(checkout, opened.program, opened.name), aws.in_use(checkout):
        yield


def _refuse_if_cut_off(opened: OpenStack) -> None:
    if turns.is_locked(opened.engine.checkout, opened.program, opened.name):
        raise SandboxError(
            f"a command that was changing {opened.name} was killed, and left it locked; "
            f"{project.remedy('recover', opened.name)} finishes its work"
        )


def _up(opened: OpenStack, server: Server, options: Sequence[str]) -> int:
    memory = _memory(opened)
    memory.parent.mkdir(exist_ok=True)
    memory.write_text(json.dumps(asdict(server)))
    return 1 if opened.run("up", "--yes", "--policy-pack", project.POLICY_PACK, *options) else 0


def _unlock(opened: OpenStack) -> None:
    command = opened.engine.command("cancel", opened.program, opened.name, "--yes")
    environment = opened.engine.environment
    answer = subprocess.run(
        command, cwd=opened.program.root, env=environment, capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        said = answer.stderr.strip() or answer.stdout.strip()
        raise SandboxError(f"the lock of {opened.name} cannot be dropped: {said}")


def _prove_empty(checkout: Checkout) -> int:
    server = aws.running(checkout)
    if server is None:
        print("nothing is left: AWS was not running, and no stack holds a resource")
        return 0
    aws.start(checkout)
    left = Account(server.url).contents(_regions(checkout))
    if left:
        print(f"error: left in AWS ({server.url}), and known to no stack ({len(left)}):")
        print("\n".join(f"  {line}" for line in left))
        print("  the AWS stand-in stays, so that you can look; `make clean-sandbox` forgets it")
        return 1
    aws.stop(checkout)
    print("nothing is left in AWS; it is stopped")
    return 0


def _regions(checkout: Checkout) -> set[str]:
    """Return the regions of all stacks that were ever opened in this sandbox."""
    files = checkout.config.glob("*/Pulumi.*.yaml")
    named = {
        found for file in files for found in re.findall(r"aws:region[\"']?:\s*[\"']?([a-z0-9-]+)", file.read_text())
    }
    return named | {REGION}


def _home(opened: OpenStack) -> Server | None:
    """Return the AWS server the stack was last built in."""
    try:
        return Server(**json.loads(_memory(opened).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _memory(opened: OpenStack) -> Path:
    return opened.engine.checkout.directory / "built-in" / f"{opened.program.name}.{opened.name}.json"
