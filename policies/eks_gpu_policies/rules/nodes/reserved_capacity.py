"""Whether a pool matches the reservations of the stack that it is launched into: the clauses of NODE010 about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu.planning.requirements import narrowed
from eks_gpu_policies.readers.instance_names import named_types
from eks_gpu_policies.readers.reservations import Reservation, Target
from eks_gpu_policies.readers.subnets import LOOKED_UP, Location
from eks_gpu_policies.rule import Outcome, Problem, clauses, undecided
from eks_gpu_policies.stack import Stack


def mismatches(target: Target, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Yield what of a pool does not match the reservations of the stack that it is launched into.

    Of several reservations those for other types or in other zones may be other pools'; where all are, they are
    nobody's.
    """
    bought = {*named_types(pool, stack), *pool.unlisted, *(item.name for item in pool.gpu_types)}
    types = {item.resource.urn: attempt(_type_of, item) for item in target.reservations}
    others = [item for item in target.reservations if not _bought(types[item.resource.urn], bought)]
    if len(others) == len(target.reservations):
        yield from (_of_another_type(item, bought) for item in others)
        return
    yield from (undecided(answer) for answer in types.values() if isinstance(answer, NotKnown))
    own = _near(
        replace(target, reservations=tuple(item for item in target.reservations if item not in others)), pool, stack
    )
    for reservation in own.reservations:
        yield from clauses(_ended(reservation, stack))
    yield from clauses(_zones(own, pool, stack), _count(own, pool))


def _near(target: Target, pool: Pool, stack: Stack) -> Target:
    """Return a target without the reservations in zones that the pool has no subnet in, unless all of them are."""
    places = attempt(stack.locations, pool)
    if isinstance(places, NotKnown) or any(item.zone is None for item in places):
        return target
    zones = {item.zone for item in places}
    near = tuple(item for item in target.reservations if _may_be_in(item, zones))
    return replace(target, reservations=near) if near else target


def _may_be_in(reservation: Reservation, zones: set[str | None]) -> bool:
    zone = attempt(lambda: reservation.zone)
    return zone is None or isinstance(zone, NotKnown) or zone in zones


def _type_of(reservation: Reservation) -> str | None:
    return reservation.instance_type


def _bought(reserved: str | NotKnown | None, bought: set[str]) -> bool:
    return reserved is None or isinstance(reserved, NotKnown) or reserved in bought


def _of_another_type(reservation: Reservation, bought: set[str]) -> Problem:
    named = sorted(bought)
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return Problem(
        f"buys {', '.join(named[:_SHOWN])}{more}, and the reservation {reservation.name} is for "
        f"{reservation.instance_type}: it is paid for and not used"
    )


_SHOWN: Final = 4


def _ended(reservation: Reservation, stack: Stack) -> Iterator[Outcome]:
    ends = reservation.ends
    if ends is not None and ends < stack.options.today:
        yield Problem(f"is launched into the reservation {reservation.name}, which ended on {ends}")


def _zones(target: Target, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    reserved = {item.name: item.zone for item in target.reservations if item.zone is not None}
    for name, zone in reserved.items():
        if zone not in narrowed(need(pool.requirements), labels.ZONE, {zone}):
            yield Problem(
                f"requires other zones than {zone}, where the reservation {name} is: it is paid for and not used"
            )
            return
    places = stack.locations(pool)
    zones = {item.zone for item in places if item.zone is not None}
    yield from _outside(reserved, places, zones)
    others = sorted(zones - set(reserved.values()))
    if target.exclusive and others and _all_known(target, reserved) and zones & set(reserved.values()):
        yield Problem(
            f"has subnets in {', '.join(others)} as well, where the reservation {', '.join(reserved)} is not "
            f"({', '.join(sorted(set(reserved.values())))}): launches there fail"
        )


def _all_known(target: Target, reserved: dict[str, str]) -> bool:
    """Return whether it is known where every reservation of a target is."""
    return target.looked_up is None and len(reserved) == len(target.reservations)


def _outside(reserved: dict[str, str], places: tuple[Location, ...], zones: set[str]) -> Iterator[Outcome]:
    looked_up = next((item for item in places if item.zone is None), None)
    for name, zone in reserved.items():
        if zone in zones:
            continue
        if looked_up is not None:
            raise NotKnownError(looked_up.place.not_known(LOOKED_UP))
        if zones:
            yield Problem(
                f"has subnets in {', '.join(sorted(zones))}, and the reservation {name} is in {zone}: it is paid "
                "for and not used"
            )


def _count(target: Target, pool: Pool) -> Iterator[Outcome]:
    counts = [item.count for item in target.reservations]
    maximum = need(pool.size).maximum
    if not target.exclusive or target.looked_up is not None or maximum is None or None in counts:
        return
    held = sum(count for count in counts if count is not None)
    if held < maximum:
        names = ", ".join(item.name for item in target.reservations)
        yield Problem(f"may grow to {maximum} nodes, and the reservation {names} holds {held}: further launches fail")
