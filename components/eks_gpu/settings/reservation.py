"""The ``reservation`` of a group or pool: capacity that was reserved before, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from eks_gpu.facts import instances
from eks_gpu.settings.block import Block
from eks_gpu.settings.iso_date import Moment, moment

ReservationId = Annotated[str, Field(pattern=r"^cr-[0-9a-z]+$")]
"""Id of an EC2 capacity reservation or capacity block."""


class Reservation(Block):
    """Capacity that was reserved before. A program that makes the reservation itself gives its id to the component.

    A reservation that does not match is paid for and not used: EC2 launches into it only what has its zone, its
    instance type and its placement group. What is said here of it is held against the group or pool.
    """

    capacity_block_id: ReservationId | None = None
    """Id of a capacity block for machine learning."""

    on_demand_id: ReservationId | None = None
    """Id of an on-demand capacity reservation."""

    zone: str | None = None
    """Availability zone that the capacity is in."""

    instance_type: str | None = None
    """Instance type that was reserved."""

    count: int | None = Field(default=None, ge=1)
    """Instances that were reserved."""

    starts: Moment | None = None
    """When the reservation begins, in quotes: ``"2026-12-01"`` or ``"2026-12-01T11:30:00Z"``."""

    ends: Moment | None = None
    """When it ends, in the same form. EC2 ends instances of a capacity block half an hour before."""

    placement_group: Annotated[str, Field(min_length=1)] | None = None
    """Name of the cluster placement group that an on-demand reservation was made in. Only instances of it are launched
    into the reservation, and of no other."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.capacity_block_id is not None and self.on_demand_id is not None:
            raise ValueError("capacity_block_id and on_demand_id are both given; give the one that the pool uses")
        if self.capacity_block_id is not None and self.placement_group is not None:
            raise ValueError(
                f"placement_group {self.placement_group} is given, but a capacity block belongs to none: EC2 places "
                "its instances close together by itself; remove it"
            )
        if self.instance_type is not None and self.instance_type not in instances.CATALOGUE:
            raise ValueError(
                f"instance_type {self.instance_type} is no instance type with an NVIDIA GPU that is known here; give "
                "the one that was reserved"
            )
        if self.starts is not None and self.ends is not None and moment(self.ends) <= moment(self.starts):
            raise ValueError(f"ends {self.ends} is not after starts {self.starts}; exchange them, or correct one")
        return self

    @property
    def id(self) -> str | None:
        """The reservation's id, if the settings name it."""
        return self.capacity_block_id or self.on_demand_id

    @property
    def is_capacity_block(self) -> bool:
        """Whether it is a capacity block, whose instances EC2 ends at a set time."""
        return self.capacity_block_id is not None

    @property
    def hours(self) -> float | None:
        """How long it lasts, if both its ends are said."""
        if self.starts is None or self.ends is None:
            return None
        return (moment(self.ends) - moment(self.starts)).total_seconds() / 3600

    def refuse_mismatch(
        self, *, zones: Sequence[str] | None, instance_types: Iterable[str], nodes: int | None = None
    ) -> None:
        """Raise ``ValueError`` where zone, instance types or number of nodes are not those of the reservation.

        ``zones`` are those that nodes may be in, ``None`` if any; ``nodes`` is the greatest number of them, if set.
        """
        if self.zone is not None and zones is not None and self.zone not in zones:
            raise ValueError(
                f"the reservation is in zone {self.zone}, but zones has {', '.join(zones)}, so it would be paid for "
                f"and not used; give zones: [{self.zone}] or another reservation"
            )
        types = tuple(instance_types)
        if self.instance_type is not None and self.instance_type not in types:
            raise ValueError(
                f"the reservation is for {self.instance_type}, but instance_types has {', '.join(types)}, so it would "
                f"be paid for and not used; give instance_types: [{self.instance_type}] or another reservation"
            )
        if self.count is not None and nodes is not None and nodes > self.count:
            raise ValueError(
                f"{nodes} nodes are wanted, but the reservation has {self.count} instances; lower the number of nodes, "
                "or put the others into a group of their own with capacity: on-demand"
            )
