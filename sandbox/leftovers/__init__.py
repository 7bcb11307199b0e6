"""What a stack has in AWS and nobody recorded: made by an engine that was killed before it could note it down.

It is told from what somebody else made by the stack's tag, which the program gives to everything it makes. What bears
no tag is left alone, with two exceptions that leave no doubt: what the engine noted as under way, found by its inputs,
and what EKS made for a cluster that is gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sandbox import inventory
from sandbox.checkout import Checkout
from sandbox.leftovers import nodes
from sandbox.leftovers.interruptions import apis, finish_deletions, undo_creations
from sandbox.leftovers.kinds import GLOBAL, Leftover
from sandbox.leftovers.removal import remove, still_there
from sandbox.leftovers.states import Operation, operations, recorded
from sandbox.leftovers.tagged import with_tag, without_cluster
from sandbox.programs import Program
from sandbox.providers.stand_in import ENGINE_CHECK_SECONDS

_SETTLED_SECONDS = ENGINE_CHECK_SECONDS + 1.0
"""How long after the death of an engine its stand-in providers may still make something."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """What came of the removal."""

    removed: int
    refused: int


@contextmanager
def around_refresh(endpoint: str, checkout: Checkout, program: Program, stack: str) -> Iterator[None]:
    """Make good what a dead engine left in AWS, before and after the context refreshes the state of its stack.

    What the engine noted as under way comes first, for the refresh drops the notes: whoever is killed in here can begin
    again. It waits until the providers of the engine have noticed its end and make nothing any more.
    """
    interrupted = operations(checkout, program, stack)
    if interrupted:
        time.sleep(_SETTLED_SECONDS)
        settle(endpoint, checkout, interrupted)
    yield
    clear(endpoint, checkout, stack)


def settle(endpoint: str, checkout: Checkout, interrupted: Sequence[Operation]) -> None:
    """Finish the deletions that were under way, and undo the creations that no tag will tell of."""
    groups = (each.id for each in interrupted if (each.action, each.token) == ("deleting", nodes.NODE_GROUP))
    nodes.leave(checkout, groups)
    finish_deletions(endpoint, interrupted)
    undo_creations(endpoint, interrupted, recorded(checkout))


def clear(endpoint: str, checkout: Checkout, stack: str) -> Cleared:
    """Remove what is left over of a stack, and say of each thing what became of it.

    Args:
        endpoint: the URL of the AWS stand-in.
        checkout: whose states say what is recorded.
        stack: the name of the stack, which is the value of the tag.

    """
    regions = inventory.regions(checkout)
    things, api_of = find(endpoint, checkout, stack, regions), apis(endpoint)
    nodes.leave(checkout, (thing.id for thing in things if thing.kind.token == nodes.NODE_GROUP))
    refused = remove(things, lambda thing: api_of(_region(thing, regions)))
    for thing, reason in refused.items():
        print(f"not removed: {thing} ({reason})")
    return Cleared(len(things) - len(refused), len(refused))


def find(endpoint: str, checkout: Checkout, stack: str, regions: Iterable[str]) -> list[Leftover]:
    """Return what bears the tag of a stack, is in no state of the sandbox, and exists; in no order of use."""
    known, api_of, where = recorded(checkout), apis(endpoint), sorted(set(regions))
    listed = [
        thing
        for region in where
        for thing in (*with_tag(api_of(region), stack, and_global=region == where[0]), *without_cluster(api_of(region)))
    ]
    return [thing for thing in listed if not known.knows(thing) and still_there(api_of(_region(thing, where)), thing)]


def _region(thing: Leftover, regions: Iterable[str]) -> str:
    return min(regions) if thing.region == GLOBAL else thing.region


__all__ = ["Cleared", "Leftover", "Operation", "around_refresh", "clear", "find", "operations", "settle"]
