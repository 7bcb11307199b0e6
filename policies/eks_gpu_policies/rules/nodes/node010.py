"""NODE010: reservations and sizes agree.

A reservation that is looked up is *not evaluated*: its zone, type and count are EC2's. But a placement group that the
stack itself makes cannot be the one that such an older reservation was made in. Groups that spread instances or
partition them are no part of any reservation and pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import View, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.launch_templates import used_by
from eks_gpu_policies.readers.reservations import Placement, Target, placement_of, target_of
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, clauses, undecided
from eks_gpu_policies.rules.nodes.reserved_capacity import mismatches
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

_BLOCK: Final = "CAPACITY_BLOCK"
_MARKET: Final = "capacity-block"
_RESERVED: Final = frozenset({"reserved"})


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(_size(pool), _block(pool, stack), _reserved_only(pool, stack), _target(pool, stack))


def _size(pool: Pool) -> Iterator[Outcome]:
    size = need(pool.size)
    said = {"minimum": size.minimum, "desired size": size.desired, "maximum": size.maximum}
    known = [(name, value) for name, value in said.items() if value is not None]
    for (low, smaller), (high, larger) in pairwise(known):
        if smaller > larger:
            yield Problem(f"has a {low} of {smaller} nodes above its {high} of {larger}", fix=_SIZES)


_SIZES: Final = "write the sizes so that minimum <= desired <= maximum"


def _block(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Judge what EKS demands of the launch template of a group in a capacity block."""
    if _capacity_type(pool, stack) != _BLOCK:
        return
    template = used_by(pool, stack)
    target = template.at("capacityReservationSpecification", "capacityReservationTarget")
    lacking = [
        name
        for name, there in (
            (f"instanceMarketOptions.marketType {_MARKET}", _market(template) == _MARKET),
            ("the id of the block as capacityReservationTarget", _names_reservation(target)),
            ("instanceType", template["instanceType"].exists),
        )
        if not there
    ]
    if lacking:
        what = "its launch template lacks" if template.exists else "no launch template, which must say"
        yield Problem(f"has the capacity type {_BLOCK}, and {what} {', '.join(lacking)}", fix=_BLOCKS)


_BLOCKS: Final = (
    "say marketType capacity-block, capacityReservationTarget and instanceType in the launch template, as GpuNodeGroup "
    "does with a capacity_block_id"
)


def _capacity_type(pool: Pool, stack: Stack) -> str | None:
    return stack.by_urn[pool.urn].view["capacityType"].text()


def _market(template: View) -> str | None:
    return template.at("instanceMarketOptions", "marketType").text()


def _names_reservation(target: View) -> bool:
    return any(target[key].exists for key in ("capacityReservationId", "capacityReservationResourceGroupArn"))


def _reserved_only(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if pool.kind is PoolKind.NODE_POOL and need(pool.capacity_types) == _RESERVED and target_of(pool, stack) is None:
        yield Problem(
            "may use reserved capacity only, and its EC2NodeClass selects no reservation: no node ever comes",
            fix="add capacityReservationSelectorTerms to the EC2NodeClass, or admit on-demand too",
        )


def _target(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    target = target_of(pool, stack)
    if target is None:
        return
    yield from clauses(_placement(pool, target, stack), mismatches(target, pool, stack), _markets(pool, target, stack))
    if target.looked_up is not None:
        yield undecided(target.looked_up)


def _markets(pool: Pool, target: Target, stack: Stack) -> Iterator[Outcome]:
    """Judge whether nodes that are launched into a capacity block ask for its market."""
    blocks = [item.name for item in target.reservations if item.is_block]
    if not blocks:
        return
    if pool.kind is PoolKind.NODE_GROUP and _capacity_type(pool, stack) != _BLOCK:
        yield Problem(
            f"is launched into the capacity block {blocks[0]} without the capacity type {_BLOCK}", fix=_BLOCKS
        )
    elif pool.kind is PoolKind.SELF_MANAGED and _market(used_by(pool, stack)) != _MARKET:
        yield Problem(f"is launched into the capacity block {blocks[0]} without the market {_MARKET}", fix=_BLOCKS)


def _placement(pool: Pool, target: Target, stack: Stack) -> Iterator[Outcome]:
    group = placement_of(pool, stack)
    if group is None or not group.packs:
        return
    for reservation in target.reservations:
        if not group.holds(reservation, stack):
            yield _apart(group, f"the reservation {reservation.name}")
    if target.looked_up is None:
        return
    if group.group is not None or _market(used_by(pool, stack)) == _MARKET:
        yield _apart(group, "the reservation")
    else:
        yield undecided(group.place.not_known("whether the reservation was made in the placement group"))


def _apart(group: Placement, reservation: str) -> Problem:
    return Problem(
        f"is launched into the placement group {group.name} and into {reservation}, which nothing shows to have been "
        "made in it: EC2 launches into a reservation only what is in its group, so it is paid for and not used",
        fix=(
            "make the reservation in the placement group (placementGroupArn), or leave the group out; a capacity block "
            "belongs to none"
        ),
    )


def _example(zone: str) -> Example:
    """Return a group in one zone that is launched into a reservation in ``zone``."""
    subnet = examples.resource(tokens.SUBNET, "a", {"availabilityZone": "us-east-1a"})
    held = {
        "instanceType": "g5.2xlarge",
        "availabilityZone": zone,
        "instanceCount": 1,
        "instancePlatform": "Linux/UNIX",
    }
    reservation = examples.resource(tokens.CAPACITY_RESERVATION, "held", held)
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-0123"}}
    sound = examples.launch_template(capacityReservationSpecification=target)
    template = examples.resource(
        tokens.LAUNCH_TEMPLATE, "gpu", sound.props, capacityReservationSpecification=(reservation,)
    )
    group = examples.node_group(template, "inference", {"subnetIds": (subnet,)}, subnetIds=["subnet-1"])
    return Example((subnet, reservation, template, group))


RULE: Final = Rule(
    id="NODE010",
    title="Reservations and sizes agree",
    severity=Severity.HIGH,
    why=(
        "EC2 launches into a reservation only what has its zone, its instance type and its placement group. Whatever "
        "does not match is paid for twice, once reserved and once on demand, or never starts because the launch "
        "template allows nothing else."
    ),
    fix="give pool and reservation the same zone, instance type and number, as reservation in GpuNodeGroup does",
    lessons=("N11",),
    levels=EVERYWHERE,
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=_example("us-east-1b"),
    passing=_example("us-east-1a"),
)
