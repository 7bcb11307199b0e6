"""GPU node group: a fixed number of GPU nodes that EKS manages.

Builds
    NodeRole          as what the nodes run
    EfaSecurityGroup  of Elastic Fabric Adapters, if asked for
    PlacementGroup    where all nodes are close together, if asked for or with adapters
    LaunchTemplate    disk, network, reservation, metadata options, tags and user data of the nodes
    NodeGroup         the nodes, with their labels and taint

Needs
    A cluster that is ready for nodes. EKS makes the access entry of the role itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi_aws.eks import (
    NodeGroupNodeRepairConfigArgsDict,
    NodeGroupNodeRepairConfigNodeRepairConfigOverrideArgsDict,
    NodeGroupScalingConfigArgsDict,
    NodeGroupTaintArgsDict,
    NodeGroupUpdateConfigArgsDict,
)

from eks_gpu.facts import ami, node_repair, taints
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.node_role import NodeRole
from eks_gpu.nodes.efa import CLUSTER_STRATEGY, EfaSecurityGroup
from eks_gpu.nodes.launch_template import Identities, launch_template_inputs
from eks_gpu.nodes.pool_arguments import image_problems, pool_problems, zones_of
from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_group import NodeGroup, NodeRepair

_CAPACITY_TYPES: Final = {
    Capacity.ON_DEMAND: "ON_DEMAND",
    Capacity.SPOT: "SPOT",
    Capacity.RESERVED: "ON_DEMAND",
}
"""How the EKS API spells what Karpenter calls a capacity type (botocore 1.44.5, checked 2026-11-21). An on-demand
reservation is paid like on-demand; where it is, the launch template says."""

_CAPACITY_BLOCK: Final = "CAPACITY_BLOCK"

_MINIMAL: Final = "MINIMAL"
"""Update strategy that terminates a node before its replacement is launched (same source): within a reservation there
is no room for both."""

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

    capacity_block_id: pulumi.Input[str] | None = None
    """Capacity block that the program makes itself, instead of one in the settings."""

    on_demand_reservation_id: pulumi.Input[str] | None = None
    """On-demand capacity reservation that the program makes itself, instead of one in the settings."""

    placement_group_name: pulumi.Input[str] | None = None
    """Placement group that the program makes itself; the component then makes none."""


class GpuNodeGroup(Component):
    """A fixed number of GPU nodes that EKS manages.

    Changing count, update settings, labels or repair updates the group in place; changing disk, network, release or
    user data rolls the nodes one by one; changing instance types, image family, capacity or zones replaces the group,
    the new one first. A group in a reservation goes the other way round, the old one first: the reservation has no
    room for both. The type of a capacity block stands in the launch template, so that another one rolls the nodes.
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
        efa = EfaSecurityGroup(self.child_name("efa"), args.cluster, self.child_opts()) if args.settings.efa else None
        template = self._launch_template(name, args, efa)
        ready = (*role.ready, *(efa.ready if efa is not None else ()))
        self.node_group = self._node_group(args, role, template, ready)
        self.node_group_name = self.node_group.node_group_name
        self.node_role_arn = role.role_arn
        self.register_outputs({"node_group_name": self.node_group_name, "node_role_arn": self.node_role_arn})

    def _launch_template(
        self, name: str, args: GpuNodeGroupArgs, efa: EfaSecurityGroup | None
    ) -> aws.ec2.LaunchTemplate:
        identities = Identities(
            security_group_ids=() if efa is None else (args.cluster.security_group_id, efa.security_group_id),
            capacity_block_id=_capacity_block(args),
            on_demand_reservation_id=_on_demand_reservation(args),
            placement_group_name=self._placement_group(args),
            tags={"Name": name, **args.tags},
        )
        return aws.ec2.LaunchTemplate(
            self.child_name("launch-template"),
            **launch_template_inputs(args.settings, identities),
            opts=self.child_opts(),
        )

    def _placement_group(self, args: GpuNodeGroupArgs) -> pulumi.Input[str] | None:
        """Return the name of the group to launch into: the program's, the reservation's, or one that is made here."""
        reservation = args.settings.reservation
        named = reservation.placement_group if reservation is not None else None
        given = args.placement_group_name if args.placement_group_name is not None else named
        if given is not None or not args.settings.makes_placement_group:
            return given
        made = aws.ec2.PlacementGroup(
            self.child_name("placement-group"), strategy=CLUSTER_STRATEGY, opts=self.child_opts()
        )
        return made.name

    def _node_group(
        self,
        args: GpuNodeGroupArgs,
        role: NodeRole,
        template: aws.ec2.LaunchTemplate,
        ready: tuple[pulumi.Resource, ...],
    ) -> aws.eks.NodeGroup:
        settings = args.settings
        block = _capacity_block(args) is not None
        reserved = settings.capacity is Capacity.RESERVED
        return aws.eks.NodeGroup(
            self.child_name("node-group"),
            cluster_name=args.cluster.name,
            node_role_arn=role.role_arn,
            subnet_ids=[args.cluster.private_subnets[zone] for zone in zones_of(settings, args.cluster)],
            # The type of a capacity block stands in the launch template, and EKS takes it in one place only.
            instance_types=None if block else list(settings.instance_types),
            ami_type=ami.ami_type(settings.image.ami_family, settings.arch, nvidia=True).name,
            version=args.cluster.version,
            release_version=settings.image.release_version(args.cluster.version),
            capacity_type=_CAPACITY_BLOCK if block else _CAPACITY_TYPES[settings.capacity],
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config=fixed_size(settings.count),
            update_config=update_config(settings.count, reserved=reserved),
            node_repair_config=node_repair_config(settings.node_repair),
            labels=settings.node_labels,
            taints=pool_taints(),
            opts=self.child_opts(depends_on=(*args.cluster.ready, *ready), delete_before_replace=reserved or None),
        )


def fixed_size(count: int) -> NodeGroupScalingConfigArgsDict:
    """Return the scaling of a group that nobody scales: Karpenter is the only scaler."""
    return {"min_size": count, "max_size": count, "desired_size": count}


def update_config(count: int, *, reserved: bool = False) -> NodeGroupUpdateConfigArgsDict:
    """Return how a new image or launch template reaches the nodes: one at a time, its replacement first.

    Before the first old one goes EKS launches up to two in each zone, which no number here makes fewer. A group of one
    node is given a percentage, which EKS rounds up to that node: "one unavailable" would say the same as "the whole
    group at once". In a reservation the old node goes first.
    """
    config: NodeGroupUpdateConfigArgsDict = (
        {"max_unavailable": 1} if count > 1 else {"max_unavailable_percentage": _HALF}
    )
    return {**config, "update_strategy": _MINIMAL} if reserved else config


def node_repair_config(repair: NodeRepair) -> NodeGroupNodeRepairConfigArgsDict:
    """Return the automatic repair of unhealthy nodes, with what to do for each way in which a GPU can be unwell."""
    if not repair.enabled:
        return {"enabled": False}
    return {
        "enabled": True,
        "max_parallel_nodes_repaired_count": repair.max_parallel_nodes,
        "node_repair_config_overrides": [
            _repair_override(reason, action, repair.wait_minutes) for reason, action in node_repair.repairs().items()
        ],
    }


def _repair_override(
    reason: str, action: str, wait_minutes: int
) -> NodeGroupNodeRepairConfigNodeRepairConfigOverrideArgsDict:
    return {
        "node_monitoring_condition": node_repair.GPU_CONDITION,
        "node_unhealthy_reason": reason,
        "repair_action": action,
        "min_repair_wait_time_mins": wait_minutes,
    }


def pool_taints() -> list[NodeGroupTaintArgsDict]:
    """Return the taint that keeps pods off that asked for no GPU, as the EKS API spells it."""
    taint = taints.GPU
    return [{"key": taint.key, "value": taint.value, "effect": taint.effect.eks}]


def _capacity_block(args: GpuNodeGroupArgs) -> pulumi.Input[str] | None:
    if args.capacity_block_id is not None:
        return args.capacity_block_id
    return args.settings.reservation.capacity_block_id if args.settings.reservation is not None else None


def _on_demand_reservation(args: GpuNodeGroupArgs) -> pulumi.Input[str] | None:
    if args.on_demand_reservation_id is not None:
        return args.on_demand_reservation_id
    return args.settings.reservation.on_demand_id if args.settings.reservation is not None else None


def _problems(name: str, args: GpuNodeGroupArgs) -> list[Problem]:
    return [
        *pool_problems(name, args.settings, args.cluster),
        *image_problems(args.settings, args.cluster),
        *_reservation_problems(args),
        *_placement_problems(args),
    ]


def _reservation_problems(args: GpuNodeGroupArgs) -> Iterator[Problem]:
    reserved = args.settings.capacity is Capacity.RESERVED
    given = [each for each in (_capacity_block(args), _on_demand_reservation(args)) if each is not None]
    if reserved and not given:
        yield Problem(
            "capacity_block_id",
            "is missing, and so is on_demand_reservation_id, but settings.capacity is reserved and the settings name "
            "no reservation; give the id of one",
        )
    if given and not reserved:
        yield Problem("capacity_block_id", "is given, but settings.capacity is not reserved; set it to reserved")
    if len(given) > 1:
        yield Problem(
            "on_demand_reservation_id", "is given beside a capacity block; a group is launched into one of the two"
        )


def _placement_problems(args: GpuNodeGroupArgs) -> Iterator[Problem]:
    if args.placement_group_name is not None and _capacity_block(args) is not None:
        yield Problem(
            "placement_group_name", "is given, but a capacity block belongs to no placement group; leave it out"
        )
