"""The ``node_pools`` block: GPU capacity that Karpenter buys when pods ask for it."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from eks_gpu.facts import resources
from eks_gpu.settings.block import Block
from eks_gpu.settings.gpu_pool import Capacity, GpuPool, Purpose, lost_work

DEFAULT_MAX_JOB_HOURS: Final = 72
"""Longest training job that is assumed when a pool does not say."""

EFA_LAYOUT_UNKNOWN: Final = ("p6-",)
"""Families whose network cards are numbered in a way that is not established here."""

ReservationId = Annotated[str, Field(pattern=r"^cr-[0-9a-z]+$")]
"""Id of an EC2 capacity reservation or capacity block."""


class Reservation(Block):
    """Capacity that was reserved before. A program that makes the reservation itself gives its id to the component."""

    capacity_block_id: ReservationId | None = None
    """Id of a capacity block for machine learning."""

    on_demand_id: ReservationId | None = None
    """Id of an on-demand capacity reservation."""

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        if self.capacity_block_id is not None and self.on_demand_id is not None:
            raise ValueError("capacity_block_id and on_demand_id are both given; give the one that the pool uses")
        return self

    @property
    def id(self) -> str | None:
        """The reservation's id, if the settings name it."""
        return self.capacity_block_id or self.on_demand_id


class NodePool(GpuPool):
    """GPU capacity that Karpenter buys when pods ask for it, and gives back when they are gone."""

    capacity: tuple[Capacity, ...] = Field(default=(Capacity.ON_DEMAND,), min_length=1)
    """How instances may be paid for. Whatever the order here, Karpenter tries reserved, then spot, then on-demand."""

    max_gpus: int = Field(ge=1)
    """Most GPUs that the pool may hold at once. No default: this is the bill."""

    max_job_hours: int | None = Field(default=None, ge=1, le=24 * 60)
    """Longest training job in hours: so long nodes wait for their jobs before they are forced away. 72 when left out;
    only for purpose training."""

    dedicated: bool = False
    """Keep off every pod that does not tolerate the pool's own taint ``gpu-type=<GPU model>``. Weights alone do not:
    a pod that finds the cheap pools full spills into a dear one. Node agents must tolerate the taint too."""

    validate_new_nodes: bool = False
    """Keep workloads off each new node until its GPUs have been proved: it starts with the taint
    ``eks-gpu.io/not-validated``, which the validation takes off."""

    efa: bool = False
    """Attach every Elastic Fabric Adapter that the instance type has, for training across nodes."""

    reservation: Reservation | None = None
    """Capacity that was reserved before; needed for, and only for, capacity reserved."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        lost_work(self.purpose, self.capacity, resumable=self.resumable)
        self._reservation_and_capacity_agree()
        self._limit_admits_a_node()
        self._job_hours_are_for_training()
        self._efa_fits()
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

    def _limit_admits_a_node(self) -> None:
        smallest = min(self.types, key=lambda kind: kind.gpu_count)
        if self.max_gpus < smallest.gpu_count:
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

    def _efa_fits(self) -> None:
        if not self.efa:
            return
        without = [kind.name for kind in self.types if kind.efa_interfaces == 0]
        if without:
            raise ValueError(
                f"{', '.join(without)} has no Elastic Fabric Adapter; remove efa, or use types that have one, "
                "such as p4d.24xlarge or p5.48xlarge"
            )
        unknown = [kind.name for kind in self.types if kind.name.startswith(EFA_LAYOUT_UNKNOWN)]
        if unknown:
            raise ValueError(
                f"the order of the network cards of {', '.join(unknown)} is not established here; remove efa: "
                f"Karpenter then attaches adapters for pods that ask for {resources.EFA}"
            )
        if len({kind.efa_interfaces for kind in self.types}) > 1:
            counts = ", ".join(f"{kind.name} has {kind.efa_interfaces}" for kind in self.types)
            raise ValueError(
                f"the types have different numbers of Elastic Fabric Adapters ({counts}), and one list of interfaces "
                "cannot serve them; make one pool for each"
            )

    @property
    def job_hours(self) -> int:
        """The longest training job in hours, as stated or assumed."""
        return self.max_job_hours or DEFAULT_MAX_JOB_HOURS
