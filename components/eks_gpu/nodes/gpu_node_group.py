"""GPU node group: a fixed number of GPU nodes that EKS manages.

Builds
    NodeRole        as what the nodes run
    LaunchTemplate  disk, metadata options, tags and user data of the nodes
    NodeGroup       the nodes, with their labels and taint

Needs
    A cluster that is ready for nodes. EKS makes the access entry of the role itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi_aws.eks import (
    NodeGroupNodeRepairConfigArgsDict,
    NodeGroupScalingConfigArgsDict,
    NodeGroupTaintArgsDict,
    NodeGroupUpdateConfigArgsDict,
)

from eks_gpu.facts import ami, labels, taints
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.node_role import NodeRole
from eks_gpu.nodes.launch_template import launch_template_inputs
from eks_gpu.nodes.pool_arguments import image_problems, pool_problems, zones_of
from eks_gpu.settings.gpu_pool import Capacity, GpuPool
from eks_gpu.settings.node_group import NodeGroup, NodeRepair

_FAMILY: Final = AmiFamily.AL2023
_CAPACITY_TYPES: Final = {Capacity.ON_DEMAND: "ON_DEMAND", Capacity.SPOT: "SPOT"}
"""How the EKS API spells what Karpenter calls a capacity type (botocore 1.44.5, checked 2026-11-21)."""

_HALF: Final = 50


@dataclass(frozen=True, kw_only=True)
class GpuNodeGroupArgs:
    """What a GPU node group is built from."""

    settings: NodeGroup
    """Which GPUs, how many, on which disk."""

    cluster: ClusterConnection
    """The cluster that the nodes join."""

    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the instances, their volumes and network interfaces, which the provider's default tags do not reach."""


class GpuNodeGroup(Component):
    """A fixed number of GPU nodes that EKS manages.

    Changing count, update settings, labels or repair updates the group in place; changing disk or user data rolls
    the nodes one by one; changing instance types, capacity or zones replaces the group, the new one first.
    """

    node_group: aws.eks.NodeGroup
    """The group: depend on it to come after its nodes."""

    node_group_name: pulumi.Output[str]
    """Name of the group."""

    node_role_arn: pulumi.Output[str]
    """ARN of the role that the nodes run as."""

    def __init__(self, name: str, args: GpuNodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define as what the nodes run, how they start, then the group."""
        refuse(_problems(name, args), component=name)
        super().__init__(name, opts, args.settings.previously)
        role = NodeRole(self.child_name("node"), args.cluster, self.child_opts())
        template = self._launch_template(name, args)
        self.node_group = self._node_group(args, role, template)
        self.node_group_name = self.node_group.node_group_name
        self.node_role_arn = role.role_arn
        self.register_outputs({"node_group_name": self.node_group_name, "node_role_arn": self.node_role_arn})

    def _launch_template(self, name: str, args: GpuNodeGroupArgs) -> aws.ec2.LaunchTemplate:
        tags = {"Name": name, **args.tags}
        return aws.ec2.LaunchTemplate(
            self.child_name("launch-template"),
            **launch_template_inputs(args.settings, _FAMILY, tags),
            opts=self.child_opts(),
        )

    def _node_group(
        self, args: GpuNodeGroupArgs, role: NodeRole, template: aws.ec2.LaunchTemplate
    ) -> aws.eks.NodeGroup:
        settings = args.settings
        return aws.eks.NodeGroup(
            self.child_name("node-group"),
            cluster_name=args.cluster.name,
            node_role_arn=role.role_arn,
            subnet_ids=[args.cluster.private_subnets[zone] for zone in zones_of(settings, args.cluster)],
            instance_types=list(settings.instance_types),
            ami_type=ami.ami_type(_FAMILY, settings.arch, nvidia=True).name,
            version=args.cluster.version,
            release_version=ami.AL2023_RELEASE_VERSIONS[args.cluster.version],
            capacity_type=_CAPACITY_TYPES[settings.capacity],
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config=fixed_size(settings.count),
            update_config=update_config(settings.count),
            node_repair_config=node_repair_config(settings.node_repair),
            labels=pool_labels(settings),
            taints=pool_taints(),
            opts=self.child_opts(depends_on=(*args.cluster.ready, *role.ready)),
        )


def fixed_size(count: int) -> NodeGroupScalingConfigArgsDict:
    """Return the scaling of a group that nobody scales: Karpenter is the only scaler."""
    return {"min_size": count, "max_size": count, "desired_size": count}


def update_config(count: int) -> NodeGroupUpdateConfigArgsDict:
    """Return how a new image or launch template reaches the nodes: one at a time, its replacement first.

    A group of one node is given a percentage, which EKS rounds up to that node: "one unavailable" would say the same
    as "the whole group at once".
    """
    return {"max_unavailable": 1} if count > 1 else {"max_unavailable_percentage": _HALF}


def node_repair_config(repair: NodeRepair | None) -> NodeGroupNodeRepairConfigArgsDict | None:
    """Return the automatic repair of unhealthy nodes, or ``None`` for EKS's default, which is off."""
    if repair is None:
        return None
    return {"enabled": True, "max_parallel_nodes_repaired_count": repair.max_parallel_nodes}


def pool_labels(pool: GpuPool) -> dict[str, str]:
    """Return the labels that every GPU pool carries, with this one's values."""
    return labels.pool_labels(pool.gpu_name, pool.purpose.value)


def pool_taints() -> list[NodeGroupTaintArgsDict]:
    """Return the taint that keeps pods off that asked for no GPU, as the EKS API spells it."""
    taint = taints.GPU
    return [{"key": taint.key, "value": taint.value, "effect": taint.effect.eks}]


def _problems(name: str, args: GpuNodeGroupArgs) -> list[Problem]:
    return [*pool_problems(name, args.settings, args.cluster), *image_problems(args.cluster)]
