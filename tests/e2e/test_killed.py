"""The engine is killed again and again, with AWS, Kubernetes and Helm in the middle of things."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from sandbox import aws, leftovers, stacks
from sandbox.checkout import DIRECTORY_VARIABLE, ROOT, Checkout
from sandbox.inventory import regions
from sandbox.kubernetes import control_plane
from sandbox.kubernetes import leftovers as in_kubernetes
from tests.e2e.local_stack.living import WITHOUT_PREVIEW, command
from tests.support.killing import Command, Moment, Outcome, Victims, run_and_kill

KILLS_IN_UP = 3
STEPS = 120
"""The stack has 134 resources; what `recover` finds built already are no steps, so that later kills come earlier."""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "sandbox")


@pytest.fixture(autouse=True)
def nothing_runs_afterwards(checkout: Checkout) -> object:
    yield
    control_plane.wipe(checkout)
    aws.stop(checkout)


def kill(checkout: Checkout, verb: str, draw: random.Random, most: int) -> Outcome:
    """Kill the engine of a command at a random moment, and say when and how it was."""
    victims = draw.choice(list(Victims))
    moment = Moment(draw.randint(1, max(1, most)), draw.uniform(0.0, 2.0))
    environment = {**os.environ, DIRECTORY_VARIABLE: str(checkout.directory)}
    line = [sys.executable, "-m", "sandbox", verb, "local", *WITHOUT_PREVIEW]
    outcome = run_and_kill(Command(line, ROOT, checkout.directory.parent / "output", environment), moment, victims)
    held = sum(stacks.resource_counts(checkout).values())
    sys.stdout.write(f"{verb}: {victims.name}, {moment}, killed: {outcome.killed}, {held} resources recorded\n")
    return outcome


def orphans(checkout: Checkout) -> list[str]:
    """Return what is there, made by the stack, and in no state."""
    plane, server = control_plane.running(checkout), aws.running(checkout)
    assert plane is not None
    assert server is not None
    return [
        *in_kubernetes.find(plane, in_kubernetes.recorded(checkout)),
        *map(str, leftovers.find(server.url, checkout, "local", regions(checkout))),
    ]


def test_after_kills_at_random_moments_recover_finishes_with_nothing_orphaned(checkout: Checkout) -> None:
    draw = random.Random(random.getrandbits(32))  # noqa: S311 - a moment is no secret
    verb = "up"
    for number in range(KILLS_IN_UP):
        missing = STEPS - sum(stacks.resource_counts(checkout).values()) if number else STEPS
        kill(checkout, verb, draw, missing).tidy()
        verb = "recover"

    recovered = command(checkout, "recover", "local", *WITHOUT_PREVIEW)
    assert recovered.code == 0, recovered.output
    assert orphans(checkout) == []
    again = command(checkout, "up", "local", *WITHOUT_PREVIEW, "--expect-no-changes")
    assert again.code == 0, again.output

    kill(checkout, "down", draw, STEPS).tidy()
    recovered = command(checkout, "recover", "local", *WITHOUT_PREVIEW)
    assert recovered.code == 0, recovered.output
    assert orphans(checkout) == []

    down = command(checkout, "down", "local", *WITHOUT_PREVIEW)
    assert down.code == 0, down.output
    assert "nothing is left in Kubernetes; it is stopped\n" in down.output
    assert down.output.endswith("nothing is left in AWS; it is stopped\n")
