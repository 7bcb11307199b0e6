"""The reserved capacity that a pool's nodes are launched into."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.tags import selected_by_tags
from eks_gpu_policies.resource import Resource

_RESERVATIONS: Final = (tokens.CAPACITY_RESERVATION, tokens.CAPACITY_BLOCK)
_SPECIFICATION: Final = "capacityReservationSpecification"
_LOOKED_UP: Final = "the reservation is not in the stack"
CLUSTER_STRATEGY: Final = "cluster"


@dataclass(frozen=True, slots=True)
class Reservation:
    """An on-demand capacity reservation or a capacity block of the stack."""

    resource: Resource

    @property
    def name(self) -> str:
        """Its logical name."""
        return self.resource.name

    @property
    def is_block(self) -> bool:
        """Whether it is a capacity block, of which the program says nothing but which offer it takes."""
        return self.resource.type == tokens.CAPACITY_BLOCK

    @property
    def instance_type(self) -> str | None:
        """The type that is reserved; None where only EC2 knows."""
        return self.resource.view["instanceType"].text()

    @property
    def zone(self) -> str | None:
        """The availability zone; None where only EC2 knows."""
        return self.resource.view["availabilityZone"].text()

    @property
    def count(self) -> int | None:
        """How many instances are reserved; None where only EC2 knows."""
        return self.resource.view["instanceCount"].integer()

    @property
    def ends(self) -> dt.date | None:
        """The day it ends; None for one without an end, or with one that nobody can read."""
        try:
            return dt.date.fromisoformat((self.resource.view["endDate"].text() or "")[:10])
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Target:
    """The reservations that a launch template or EC2NodeClass names."""

    reservations: tuple[Reservation, ...]
    """Those of the stack."""
    looked_up: NotKnown | None
    """One that is named and not in the stack."""
    exclusive: bool
    """Whether nodes are launched there or not at all, as a launch template's target has it."""


def target_of(pool: Pool, program: Program) -> Target | None:
    """Return what a pool's nodes are launched into; None where it names no reservation.

    Raises ``NotKnownError`` when its launch template or EC2NodeClass is not known.
    """
    urn = need(pool.template)
    if urn is None:
        return None
    template = program.by_urn[urn]
    return _selected(template, program) if pool.kind is PoolKind.NODE_POOL else _targeted(template, program)


def _targeted(template: Resource, program: Program) -> Target | None:
    target = template.view.at(_SPECIFICATION, "capacityReservationTarget")
    if target["capacityReservationId"].exists:
        found = program.computed_from(template, _SPECIFICATION, *_RESERVATIONS)
        looked_up = None if found else target["capacityReservationId"].not_known(_LOOKED_UP)
        return Target(tuple(map(Reservation, found)), looked_up, exclusive=True)
    group = target["capacityReservationResourceGroupArn"]
    if not group.exists:
        return None
    members = tuple(_members(template, program))
    held = [program.computed_from(member, "resourceArn", *_RESERVATIONS) for member in members]
    missing = [member.view["resourceArn"] for member, made in zip(members, held, strict=True) if not made]
    place = next(iter(missing), group)
    looked_up = place.not_known(_LOOKED_UP) if missing or not members else None
    return Target(tuple(Reservation(item) for made in held for item in made), looked_up, exclusive=True)


def _members(template: Resource, program: Program) -> Iterator[Resource]:
    """Yield what puts something into the resource group that a template names."""
    for group in program.computed_from(template, _SPECIFICATION, tokens.RESOURCE_GROUP):
        yield from program.users_of(group, "groupArn", tokens.RESOURCE_GROUP_MEMBER)


def _selected(node_class: Resource, program: Program) -> Target | None:
    terms = node_class.view.at("spec", "capacityReservationSelectorTerms")
    places = terms.items()
    if not places:
        return None
    found = {item.urn: item for item in program.computed_from(node_class, "spec", *_RESERVATIONS)}
    for term in places:
        if term["tags"].exists:
            found |= {item.urn: item for item in _tagged(term["tags"], program)}
    missing = len(found) < len(places)
    looked_up = terms.not_known(_LOOKED_UP) if missing else None
    return Target(tuple(map(Reservation, found.values())), looked_up, exclusive=False)


def _tagged(tags: View, program: Program) -> Iterator[Resource]:
    wanted = tags.text_map()
    for reservation in program.of_type(*_RESERVATIONS):
        own = attempt(reservation.view["tags"].text_map)
        if not isinstance(own, NotKnown) and selected_by_tags(own, wanted):
            yield reservation


@dataclass(frozen=True, slots=True)
class Placement:
    """The placement group that a pool's nodes are launched into."""

    name: str
    """What it is called, as far as that is known."""
    group: Resource | None
    """Its resource; None for one that is looked up."""
    place: View

    @property
    def packs(self) -> bool:
        """Whether it packs instances together: only such a group is part of a reservation."""
        return self.group is None or self.group.view["strategy"].text() in {CLUSTER_STRATEGY, None}

    def holds(self, reservation: Reservation, program: Program) -> bool:
        """Return whether a reservation is shown to have been made in the group."""
        made_in = program.computed_from(reservation.resource, "placementGroupArn", tokens.PLACEMENT_GROUP)
        if self.group is not None and self.group.urn in {item.urn for item in made_in}:
            return True
        arn = attempt(reservation.resource.view["placementGroupArn"].text)
        return isinstance(arn, str) and arn.rpartition("/")[2] == self.name


def placement_of(pool: Pool, program: Program) -> Placement | None:
    """Return the placement group that a pool's launch template or EC2NodeClass names; None where it names none."""
    template = program.by_urn[need(pool.template) or ""]
    by_class = pool.kind is PoolKind.NODE_POOL
    prop = "spec" if by_class else "placement"
    place = template.view.at("spec", "placementGroupSelector") if by_class else template.view["placement"]
    named = [place[key] for key in ("groupName", "groupId", "name", "id") if place[key].exists]
    if not named:
        return None
    groups = program.computed_from(template, prop, tokens.PLACEMENT_GROUP)
    name = attempt(named[0].text)
    own = groups[0].name if groups else ""
    return Placement(name if isinstance(name, str) else own, groups[0] if groups else None, named[0])
