"""The root of the settings: what stands under ``eks-gpu:platform`` in a stack file."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from eks_gpu.settings.block import Block
from eks_gpu.settings.budget import Budget
from eks_gpu.settings.cluster import Cluster
from eks_gpu.settings.gpu_pool import LONGEST_NAME, GpuPool
from eks_gpu.settings.gpu_software import GpuSoftware
from eks_gpu.settings.karpenter import KarpenterController
from eks_gpu.settings.model_cache import ModelCache
from eks_gpu.settings.monitoring import Monitoring
from eks_gpu.settings.network import Network
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.quotas import Quotas
from eks_gpu.settings.system_nodes import SystemNodes
from eks_gpu.settings.waiver import Waiver
from eks_gpu.settings.workloads import Workloads

PROJECT = "eks-gpu"
"""The namespace of the configuration, which is the Pulumi project's name."""

KEY = "platform"
"""The key within the namespace."""

FULL_KEY = f"{PROJECT}:{KEY}"
"""The key as a stack file spells it: ``eks-gpu:platform``."""

REGION_KEY = "aws:region"
"""The key beside it that names the AWS region."""

PoolName = Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=LONGEST_NAME)]
"""Lowercase letters, digits and hyphens: a Kubernetes name and a label's value at once."""


class Environment(StrEnum):
    """How much is at stake: it sets how strict the rules are."""

    DEV = "dev"
    STAGING = "staging"
    PROD = "prod"


class Platform(Block):
    """A GPU platform on one EKS cluster. A block is optional unless it costs money or holds data."""

    environment: Environment
    """How much is at stake: it sets how strict the rules are. No default: prod must not be taken for dev."""

    owner: Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$", max_length=63)]
    """Team that answers for the platform; a tag on every AWS resource, so letters, digits, dots, hyphens."""

    network: Network
    """The VPC: a new one, or ``existing`` and which."""

    cluster: Cluster
    """The EKS cluster: a new one, or ``existing`` and which."""

    system_nodes: SystemNodes | None = None
    """CPU nodes for controllers. A new cluster must say them, because they run always; an existing one has its own."""

    node_groups: Mapping[PoolName, NodeGroup] = Field(default_factory=dict)
    """EKS managed groups of GPU nodes, of fixed size, by name."""

    node_pools: Mapping[PoolName, NodePool] = Field(default_factory=dict)
    """Pools from which Karpenter buys GPU nodes when pods ask for them, by name."""

    karpenter: KarpenterController = KarpenterController()
    """What Karpenter does beside buying nodes for ``node_pools``; it is there as soon as there is one."""

    gpu_software: GpuSoftware | None = None
    """What makes GPUs visible to pods: exactly one owner. Needed as soon as there is a group or pool."""

    model_cache: ModelCache | None = None
    """A shared file system for model weights; none when left out."""

    monitoring: Monitoring | None = None
    """GPU metrics, alerts and dashboards; none when left out, which production's rules refuse."""

    workloads: Workloads | None = None
    """Model servers that run on the platform; none when left out."""

    budget: Budget | None = None
    """What the platform may cost; unlimited when left out."""

    quotas: Quotas | None = None
    """What the AWS account may run, as it was read there; the pools are not compared with it when left out."""

    waivers: tuple[Waiver, ...] = ()
    """Rules that are suspended for a resource until a date."""

    @property
    def pools(self) -> dict[str, GpuPool]:
        """Node groups and node pools by name, which no two of them share."""
        return {**self.node_groups, **self.node_pools}
