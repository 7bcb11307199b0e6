"""The ``node_groups`` block: EKS managed groups of GPU nodes, of fixed size."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from eks_gpu.facts import node_repair
from eks_gpu.settings.block import Block
from eks_gpu.settings.efa import refuse_impossible_efa
from eks_gpu.settings.gpu_pool import Capacity, GpuPool, Purpose, lost_work
from eks_gpu.settings.reservation import Reservation


class NodeRepair(Block):
    """Let EKS replace or reboot unhealthy nodes, by what is wrong with the GPU.

    What the GPUs say is told by the EKS node monitoring agent, which a new cluster gets; without it EKS sees only that
    a node is not ready. A reboot resets the GPUs and keeps the instance; what a reset does not mend is replaced.
    """

    enabled: bool = True
    """Whether EKS repairs at all."""

    max_parallel_nodes: int = Field(default=1, ge=1, le=100)
    """Nodes repaired at once. One, because capacity for a replacement GPU node is rarely there twice."""

    wait_minutes: int = Field(default=node_repair.DEFAULT_WAIT_MINUTES, ge=1, le=24 * 60)
    """How long a GPU must be unwell first. Longer leaves time to look at the node, and to save what can be saved."""


class NodeGroup(GpuPool):
    """One EKS managed group of GPU nodes.

    Its size is fixed: Karpenter is the only scaler, because two scalers would fight over the same pods. A group is for
    what must be static: a floor of inference capacity, or GPUs that MIG partitions. EC2 Auto Scaling keeps a group of
    several zones even, by terminating nodes where it must (AZRebalance; EC2 Auto Scaling user guide, "Rebalancing
    activities", checked 2026-11-21), so training that cannot resume stays in one zone. A new image or launch template
    brings up to two more nodes in each zone until the old ones are gone (EKS user guide, "Understand each phase of
    node updates", checked 2026-11-21), except in a reservation: quota and capacity must have room for them, and a group
    in one zone needs least.
    """

    count: int = Field(ge=1, le=450)
    """Nodes, always. No default: this is the bill."""

    capacity: Capacity = Capacity.ON_DEMAND
    """How the nodes are paid for."""

    reservation: Reservation | None = None
    """Capacity that was reserved before; needed for, and only for, capacity reserved."""

    placement_group: bool | None = None
    """Place all nodes close together, in a cluster placement group of their own, which is in one zone. When left out:
    with efa and one zone, unless the capacity is reserved, because a reservation decides the place itself."""

    node_repair: NodeRepair = NodeRepair()
    """Automatic repair of unhealthy nodes."""

    @model_validator(mode="after")
    def _keeps_work(self) -> Self:
        lost_work(self.purpose, (self.capacity,), resumable=self.resumable)
        if self.purpose is Purpose.TRAINING and self.count > 1 and not self.resumable and len(self.zones or ()) != 1:
            raise ValueError(
                "purpose training over several zones loses the work of a job whenever EC2 Auto Scaling evens out nodes "
                "between zones, which it does by terminating some; give one zone, such as zones: [us-east-1a], or set "
                "resumable: true when every job of the group saves checkpoints and resumes from them"
            )
        return self

    @model_validator(mode="after")
    def _reservation_fits(self) -> Self:
        reserved = self.capacity is Capacity.RESERVED
        if self.reservation is None:
            if reserved:
                raise ValueError(
                    "capacity reserved names no reservation; add reservation: {capacity_block_id: cr-…} or "
                    "{on_demand_id: cr-…}, because EKS uses only the reservation that it is told of"
                )
            return self
        if not reserved:
            raise ValueError(
                f"a reservation is given, but capacity is {self.capacity}; set capacity: reserved or remove the "
                "reservation"
            )
        if len(self.instance_types) > 1:
            raise ValueError(
                f"a reservation is for one instance type, but instance_types has {', '.join(self.instance_types)}; "
                "keep the one that was reserved, and make a group for each other"
            )
        self._one_zone("a reservation is in one zone", always=True)
        self.reservation.refuse_mismatch(zones=self.zones, instance_types=self.instance_types, nodes=self.count)
        return self

    @model_validator(mode="after")
    def _nodes_reach_each_other(self) -> Self:
        if self.efa:
            refuse_impossible_efa(self.types)
            self._one_zone("EFA does not reach from one zone into another")
        if self.placement_group:
            # One node, too: its replacement comes while it is there, and could not come to another zone.
            self._one_zone("a cluster placement group is within one zone", always=True)
            if self.reservation is not None:
                raise ValueError(
                    "placement_group makes a new group, but a reservation was made outside of it and would not be "
                    "used; remove placement_group, and give reservation: {placement_group: <name>} where an on-demand "
                    "reservation was made in one"
                )
        return self

    def _one_zone(self, reason: str, *, always: bool = False) -> None:
        """Refuse several zones, for a group of one node only if ``always``."""
        if len(self.zones or ()) != 1 and (always or self.count > 1):
            given = f"zones has {', '.join(self.zones)}" if self.zones else "the group may use every zone"
            raise ValueError(f"{reason}, but {given}; give one, such as zones: [us-east-1a]")

    @property
    def makes_placement_group(self) -> bool:
        """Whether the group gets a cluster placement group of its own."""
        if self.placement_group is None:
            return self.efa and self.reservation is None and len(self.zones or ()) == 1
        return self.placement_group
