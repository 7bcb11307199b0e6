"""Whether a pool matches the reservations of the stack that it is launched into: the clauses of NODE010 about them."""

from __future__ import annotations

from collections.abc import Iterator

from eks_gpu.facts import labels
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnownError, need
from eks_gpu.planning.requirements import narrowed
from eks_gpu_policies.readers.instance_names import named_types
from eks_gpu_policies.readers.reservations import Reservation, Target
from eks_gpu_policies.readers.subnets import LOOKED_UP, Location
from eks_gpu_policies.rule import Outcome, Problem, clauses
from eks_gpu_policies.stack import Stack


def mismatches(target: Target, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Yield what of a pool does not match the reservations of the stack that it is launched into."""
    for reservation in target.reservations:
        yield from clauses(_type(reservation, pool, stack), _ended(reservation, stack))
    if target.reservations:
        yield from clauses(_zones(target, pool, stack), _count(target, pool))


def _type(reservation: Reservation, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    bought = {*named_types(pool, stack), *pool.unlisted, *(item.name for item in pool.gpu_types)}
    reserved = reservation.instance_type
    if reserved is not None and reserved not in bought:
        yield Problem(
            f"buys {', '.join(sorted(bought))}, and the reservation {reservation.name} is for {reserved}: it is paid "
            "for and not used"
        )


def _ended(reservation: Reservation, stack: Stack) -> Iterator[Outcome]:
    ends = reservation.ends
    if ends is not None and ends < stack.options.today:
        yield Problem(f"is launched into the reservation {reservation.name}, which ended on {ends}")


def _zones(target: Target, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    reserved = {item.name: item.zone for item in target.reservations if item.zone is not None}
    for name, zone in reserved.items():
        if pool.kind is PoolKind.NODE_POOL and zone not in narrowed(need(pool.requirements), labels.ZONE, {zone}):
            yield Problem(f"requires other zones than {zone}, where the reservation {name} is")
            return
    places = stack.locations(pool)
    zones = {item.zone for item in places if item.zone is not None}
    yield from _outside(reserved, places, zones)
    others = sorted(zones - set(reserved.values()))
    if target.exclusive and others and len(reserved) == len(target.reservations) and zones & set(reserved.values()):
        yield Problem(
            f"has subnets in {', '.join(others)} as well, where the reservation {', '.join(reserved)} is not "
            f"({', '.join(sorted(set(reserved.values())))}): launches there fail"
        )


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
