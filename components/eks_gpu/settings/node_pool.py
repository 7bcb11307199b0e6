"""The ``node_pools`` block: GPU capacity that Karpenter buys when pods ask for it."""

from __future__ import annotations

from typing import Final, Self

from pydantic import Field, model_validator

from eks_gpu.settings.efa import refuse_impossible_efa
from eks_gpu.settings.gpu_pool import Capacity, GpuPool, Purpose, lost_work
from eks_gpu.settings.reservation import Reservation
from eks_gpu.settings.sharing import Sharing, refuse_on_demand

DEFAULT_MAX_JOB_HOURS: Final = 72
"""Longest training job that is assumed when a pool does not say."""

DEAR_USD_PER_HOUR: Final = 2.5
"""What the cheapest node of a dear pool costs at least, on demand. Every type with several GPUs is above it, and the
types with one T4, L4, A10G or L40S that servers usually run on are below."""


class NodePool(GpuPool):
    """GPU capacity that Karpenter buys when pods ask for it, and gives back when they are gone."""

    capacity: tuple[Capacity, ...] = Field(default=(Capacity.ON_DEMAND,), min_length=1)
    """How instances may be paid for. Whatever the order here, Karpenter tries reserved, then spot, then on-demand, and
    each in every zone of the pool. An account that never had spot instances needs the role for them once: ``aws iam
    create-service-linked-role --aws-service-name spot.amazonaws.com``."""

    max_gpus: int = Field(ge=1)
    """Most GPUs that the pool may hold at once. No default: this is the bill."""

    max_job_hours: int | None = Field(default=None, ge=1, le=24 * 60)
    """Longest training job in hours: so long nodes wait for their jobs before they are forced away. 72 when left out;
    only for purpose training."""

    dedicated: bool | None = None
    """Keep off every pod that does not tolerate the pool's own taint ``gpu-type=<GPU model>``. Weights alone do not: a
    pod that finds the cheap pools full spills into a dear one. When left out, a pool is dedicated if its cheapest node
    costs 2.50 dollars an hour or more (in us-east-1, on demand), or has no such price; whatever other pools there are,
    so that adding one changes no other."""

    warm_nodes: int = Field(default=0, ge=0)
    """Nodes to keep ready for the next pod: placeholders of low priority hold them, and go as soon as somebody needs
    the room; then Karpenter buys another node for them. They cost as much as nodes that work."""

    validate_new_nodes: bool = False
    """Keep workloads off each new node until its GPUs have been proved: it starts with the taint
    ``eks-gpu.io/not-validated``, which the validation takes off."""

    placement_group: bool | None = None
    """Place all nodes close together, in a cluster placement group of their own, which is in one zone. When left out:
    with efa and one zone, unless there is a reservation, because that decides the place itself."""

    reservation: Reservation | None = None
    """Capacity that was reserved before; needed for, and only for, capacity reserved."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        lost_work(self.purpose, self.capacity, resumable=self.resumable)
        self._reservation_and_capacity_agree()
        self._limit_admits_a_node()
        self._job_hours_are_for_training()
        self._warm_nodes_fit()
        if self.efa:
            refuse_impossible_efa(self.types)
        if self.placement_group:
            self._placement_group_can_be_made()
        refuse_on_demand(self.sharing or Sharing())
        return self

    def _reservation_and_capacity_agree(self) -> None:
        reserved = Capacity.RESERVED in self.capacity
        if reserved and self.reservation is None:
            raise ValueError(
                "capacity reserved names no reservation; add reservation: {capacity_block_id: cr-…} or "
                "{on_demand_id: cr-…}, because Karpenter uses only reservations that it is told of"
            )
        if self.reservation is not None and not reserved:
            raise ValueError(
                f"a reservation is given, but capacity is {', '.join(self.capacity)}; add reserved to capacity or "
                "remove the reservation"
            )
        if self.reservation is not None:
            self._reservation_fits(self.reservation)

    def _reservation_fits(self, reservation: Reservation) -> None:
        """Hold what is known of the reservation against the pool. What goes beyond it may be bought in other ways."""
        only = self.capacity == (Capacity.RESERVED,)
        nodes = self.max_gpus // max(kind.gpu_count for kind in self.types)
        reservation.refuse_mismatch(zones=self.zones, instance_types=self.instance_types, nodes=nodes if only else None)
        if self.purpose is Purpose.TRAINING and only and (reservation.hours or self.job_hours) < self.job_hours:
            raise ValueError(
                f"the reservation lasts {reservation.hours:g} hours, but max_job_hours is {self.job_hours}, so the "
                "longest job could not end in it; give a shorter max_job_hours or a longer reservation"
            )

    def _limit_admits_a_node(self) -> None:
        if self.max_gpus < self.smallest_gpu_count:
            smallest = min(self.types, key=lambda kind: kind.gpu_count)
            raise ValueError(
                f"max_gpus {self.max_gpus} is less than the {smallest.gpu_count} GPUs of {smallest.name}, so no node "
                f"could ever be bought; give at least {smallest.gpu_count} or smaller instance types"
            )

    def _job_hours_are_for_training(self) -> None:
        if self.max_job_hours is not None and self.purpose is not Purpose.TRAINING:
            raise ValueError(
                f"max_job_hours {self.max_job_hours} has no meaning with purpose {self.purpose}; remove it or set "
                "purpose: training"
            )

    def _warm_nodes_fit(self) -> None:
        gpus = self.warm_nodes * self.smallest_gpu_count
        if gpus > self.max_gpus:
            raise ValueError(
                f"warm_nodes {self.warm_nodes} hold at least {gpus} GPUs, but max_gpus is {self.max_gpus}; give at "
                f"most {self.max_gpus // self.smallest_gpu_count} warm_nodes or a larger max_gpus"
            )

    def _placement_group_can_be_made(self) -> None:
        if len(self.zones or ()) != 1:
            given = f"zones has {', '.join(self.zones)}" if self.zones else "the pool may use every zone"
            raise ValueError(
                f"a cluster placement group is within one zone, but {given}; give one, such as zones: [us-east-1a]"
            )
        if self.reservation is not None:
            raise ValueError(
                "placement_group makes a new group, but a reservation was made outside of it and would not be used; "
                "remove placement_group, and give reservation: {placement_group: <name>} where an on-demand "
                "reservation was made in one"
            )

    @property
    def job_hours(self) -> int:
        """The longest training job in hours, as stated or assumed."""
        return self.max_job_hours or DEFAULT_MAX_JOB_HOURS

    @property
    def makes_placement_group(self) -> bool:
        """Whether the pool gets a cluster placement group of its own."""
        if self.placement_group is None:
            return self.efa and self.reservation is None and len(self.zones or ()) == 1
        return self.placement_group

    @property
    def smallest_gpu_count(self) -> int:
        """How many GPUs the smallest node of the pool has."""
        return min(kind.gpu_count for kind in self.types)

    @property
    def is_dedicated(self) -> bool:
        """Whether only pods that tolerate the pool's own taint may use it, as stated or because it is dear."""
        return self.is_dear if self.dedicated is None else self.dedicated

    @property
    def is_dear(self) -> bool:
        """Whether even its cheapest node costs much more than one GPU need cost. Types without a price are dear."""
        prices = [kind.usd_per_hour for kind in self.types if kind.usd_per_hour is not None]
        return not prices or min(prices) >= DEAR_USD_PER_HOUR
