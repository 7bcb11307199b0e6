"""The ``node_groups`` block: EKS managed groups of GPU nodes, of fixed size."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from eks_gpu.settings.block import Block
from eks_gpu.settings.gpu_pool import Capacity, GpuPool, Purpose, lost_work


class NodeRepair(Block):
    """Let EKS replace or reboot nodes that the node monitoring agent finds unhealthy; the add-on must be there."""

    max_parallel_nodes: int = Field(default=1, ge=1, le=100)
    """Nodes repaired at once. One, because capacity for a replacement GPU node is rarely there twice."""


class NodeGroup(GpuPool):
    """One EKS managed group of GPU nodes.

    Its size is fixed: Karpenter is the only scaler, because two scalers would fight over the same pods. A group is for
    what must be static: a floor of inference capacity, or GPUs that MIG partitions. EC2 Auto Scaling keeps a group of
    several zones even, by terminating nodes where it must (AZRebalance; EC2 Auto Scaling user guide, "Rebalancing
    activities", checked 2026-11-21), so training that cannot resume stays in one zone.
    """

    count: int = Field(ge=1, le=450)
    """Nodes, always. No default: this is the bill."""

    capacity: Literal[Capacity.ON_DEMAND, Capacity.SPOT] = Capacity.ON_DEMAND
    """How the nodes are paid for."""

    node_repair: NodeRepair | None = None
    """Automatic repair of unhealthy nodes; off when left out, because it needs the node monitoring agent."""

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
