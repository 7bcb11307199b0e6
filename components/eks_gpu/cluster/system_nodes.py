"""System nodes: the CPU nodes that everything else starts from.

Builds
    NodeRole        as what the nodes run
    LaunchTemplate  disk, metadata options and tags of the nodes
    NodeGroup       the nodes

Needs
    A cluster whose node add-ons are there: without the VPC CNI no node becomes ready.

Karpenter cannot run on nodes that it makes itself, and CoreDNS must be there before any of them, so both run here. The
nodes carry no taint: GPU nodes repel whatever asked for no GPU, so the GPU operator's controllers, Prometheus, mirrors
and teams' CPU pods have nowhere else to go. A taint here would only move them all to a second group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi_aws.ec2 import LaunchTemplateBlockDeviceMappingArgsDict
from pulumi_aws.eks import NodeGroupScalingConfigArgsDict

from eks_gpu.facts import ami, labels
from eks_gpu.foundation.arguments import Problem, missing_entries, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.launch_template import gp3_volume, metadata_options, tag_specifications
from eks_gpu.foundation.node_role import NodeRole
from eks_gpu.settings.system_nodes import SystemNodes as SystemNodesSettings
from eks_gpu.settings.system_nodes import SystemSize

ROOT_VOLUME_GIB: Final = 50
"""Controllers' images are small; Prometheus keeps its data on volumes of its own."""

_IOPS: Final = 3000
_THROUGHPUT_MIB_PER_SECOND: Final = 125
"""What gp3 includes in its price."""

_FAMILY: Final = ami.AmiFamily.AL2023


@dataclass(frozen=True, kw_only=True)
class SystemNodesArgs:
    """What system nodes are built from."""

    settings: SystemNodesSettings
    """Instance types and size."""

    cluster: ClusterConnection
    """The cluster that the nodes join."""

    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the instances, their volumes and network interfaces, which the provider's default tags do not reach."""


class SystemNodes(Component):
    """CPU nodes for controllers, managed by EKS.

    Changing the size updates the group in place; a new image or launch template rolls the nodes one by one; changing
    instance types or the cluster's zones replaces the group, the new one first.
    """

    node_group: aws.eks.NodeGroup
    """The group: depend on it to come after its nodes."""

    def __init__(self, name: str, args: SystemNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define as what the nodes run, how they start, then the group."""
        refuse(_problems(args), component=name)
        super().__init__(name, opts)
        role = NodeRole(self.child_name("node"), args.cluster, self.child_opts())
        template = self._launch_template(name, args)
        self.node_group = self._node_group(args, role, template)
        self.register_outputs({"node_group_name": self.node_group.node_group_name})

    def _launch_template(self, name: str, args: SystemNodesArgs) -> aws.ec2.LaunchTemplate:
        """Define how nodes start. It names no security group, so that EKS puts the cluster's on them."""
        return aws.ec2.LaunchTemplate(
            self.child_name("launch-template"),
            block_device_mappings=[root_volume()],
            metadata_options=metadata_options(),
            tag_specifications=tag_specifications({"Name": name, **args.tags}),
            update_default_version=True,
            opts=self.child_opts(),
        )

    def _node_group(self, args: SystemNodesArgs, role: NodeRole, template: aws.ec2.LaunchTemplate) -> aws.eks.NodeGroup:
        settings, cluster = args.settings, args.cluster
        return aws.eks.NodeGroup(
            self.child_name("node-group"),
            cluster_name=cluster.name,
            node_role_arn=role.role_arn,
            subnet_ids=list(cluster.private_subnets.values()),
            instance_types=list(settings.instance_types),
            ami_type=ami.ami_type(_FAMILY, settings.arch, nvidia=False).name,
            version=cluster.version,
            release_version=ami.AL2023_RELEASE_VERSIONS[cluster.version],
            capacity_type="ON_DEMAND",
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config=scaling(settings.size),
            update_config={"max_unavailable": 1},
            node_repair_config={"enabled": True},
            labels={labels.WORKLOAD: labels.WORKLOAD_SYSTEM},
            opts=self.child_opts(depends_on=(*cluster.ready, *role.ready)),
        )


def root_volume() -> LaunchTemplateBlockDeviceMappingArgsDict:
    """Return the root volume: encrypted gp3 on the device that the image really boots from."""
    return gp3_volume(
        _FAMILY.root_device, ROOT_VOLUME_GIB, iops=_IOPS, throughput_mib_per_second=_THROUGHPUT_MIB_PER_SECOND
    )


def scaling(size: SystemSize) -> NodeGroupScalingConfigArgsDict:
    """Return the scaling of a group that stays at its minimum, because nothing scales it."""
    return {"min_size": size.min, "max_size": size.max, "desired_size": size.min}


def _problems(args: SystemNodesArgs) -> list[Problem]:
    problems = missing_entries(args.cluster, "private_subnets", under="cluster")
    if args.cluster.version not in ami.AL2023_RELEASE_VERSIONS:
        known = ", ".join(ami.AL2023_RELEASE_VERSIONS)
        problems.append(
            Problem(
                "cluster", f"runs Kubernetes {args.cluster.version}, for which no node image is pinned; use {known}"
            )
        )
    return problems
