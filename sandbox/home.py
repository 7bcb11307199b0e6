"""In which AWS and which Kubernetes a stack was built: the next command must go on in the same ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from sandbox import stacks
from sandbox.aws import Server
from sandbox.checkout import Checkout
from sandbox.programs import Program


class Kubernetes(StrEnum):
    """What answers for the cluster of a stack."""

    REAL = "real"
    """The control plane of the sandbox, through the real provider."""
    STAND_IN = "stand-in"
    """The stand-in provider, which echoes what it is given: nothing has to be built for it, and nothing is proven."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a stack lives."""

    aws: Server
    kubernetes: Kubernetes


def read(checkout: Checkout, program: Program, stack: str) -> Home | None:
    """Return where the stack was last built; None if it never was, or is empty by now."""
    return None if stacks.is_empty(checkout, program, stack) else last(checkout, program, stack)


def last(checkout: Checkout, program: Program, stack: str) -> Home | None:
    """Return where the stack was last built, though it may hold nothing any more, or nothing yet."""
    return _parse(_record(checkout, f"{program.name}.{stack}"))


def write(checkout: Checkout, program: Program, stack: str, home: Home) -> None:
    """Remember where the stack is built."""
    record = _record(checkout, f"{program.name}.{stack}")
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps(asdict(home)))


def others_in_kubernetes(checkout: Checkout, program: Program, stack: str) -> Iterator[str]:
    """Yield ``project/stack`` of every other stack that holds something and lives in the real Kubernetes."""
    own = f"{program.name}/{stack}"
    for name, count in stacks.resource_counts(checkout).items():
        home = _parse(_record(checkout, name.replace("/", "."))) if count and name != own else None
        if home is not None and home.kubernetes is Kubernetes.REAL:
            yield name


def _parse(record: Path) -> Home | None:
    try:
        known = json.loads(record.read_text())
        return Home(Server(**known["aws"]), Kubernetes(known["kubernetes"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _record(checkout: Checkout, name: str) -> Path:
    return checkout.directory / "built-in" / f"{name}.json"
