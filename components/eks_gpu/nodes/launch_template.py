"""The launch template of a managed GPU node group, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

import pulumi
from pulumi_aws.ec2 import (
    LaunchTemplateBlockDeviceMappingArgsDict,
    LaunchTemplateCapacityReservationSpecificationArgsDict,
    LaunchTemplateInstanceMarketOptionsArgsDict,
    LaunchTemplateMetadataOptionsArgsDict,
    LaunchTemplateNetworkInterfaceArgsDict,
    LaunchTemplatePlacementArgsDict,
    LaunchTemplateTagSpecificationArgsDict,
)

from eks_gpu.foundation import launch_template
from eks_gpu.nodes import user_data
from eks_gpu.nodes.efa import NetworkInterface, efa_interfaces
from eks_gpu.nodes.volumes import node_volumes
from eks_gpu.settings.node_group import NodeGroup

_CAPACITY_BLOCK: Final = "capacity-block"
"""The market of capacity blocks (botocore 1.44.5, ec2 ``MarketType``, checked 2026-11-21)."""


@dataclass(frozen=True, kw_only=True)
class Identities:
    """What a launch template is bound to in the account."""

    security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of every interface, the cluster's own among them: as soon as a template names one, EKS adds no
    more. Only for nodes with EFA, whose interfaces must be listed."""

    capacity_block_id: pulumi.Input[str] | None = None
    on_demand_reservation_id: pulumi.Input[str] | None = None
    """The reservation that nodes are launched into: one or the other."""

    placement_group_name: pulumi.Input[str] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of all that an instance brings."""


class LaunchTemplateInputs(TypedDict):
    """The inputs of ``aws.ec2.LaunchTemplate`` that we set.

    EKS forbids subnets, role and spot requests here, and adds the cluster's security group only as long as no other is
    named.
    """

    block_device_mappings: list[LaunchTemplateBlockDeviceMappingArgsDict]
    metadata_options: LaunchTemplateMetadataOptionsArgsDict
    tag_specifications: list[LaunchTemplateTagSpecificationArgsDict]
    user_data: str
    update_default_version: bool
    network_interfaces: NotRequired[list[LaunchTemplateNetworkInterfaceArgsDict]]
    placement: NotRequired[LaunchTemplatePlacementArgsDict]
    capacity_reservation_specification: NotRequired[LaunchTemplateCapacityReservationSpecificationArgsDict]
    instance_market_options: NotRequired[LaunchTemplateInstanceMarketOptionsArgsDict]
    instance_type: NotRequired[str]


def launch_template_inputs(group: NodeGroup, identities: Identities) -> LaunchTemplateInputs:
    """Return the launch template of ``group``."""
    inputs: LaunchTemplateInputs = {
        "block_device_mappings": [
            launch_template.gp3_volume(
                volume.device,
                volume.size_gib,
                iops=volume.iops,
                throughput_mib_per_second=volume.throughput_mibps,
            )
            for volume in node_volumes(group)
        ],
        "metadata_options": launch_template.metadata_options(),
        "tag_specifications": launch_template.tag_specifications(identities.tags),
        "user_data": user_data.encoded(user_data.render(group)),
        "update_default_version": True,
    }
    if group.efa:
        inputs["network_interfaces"] = [
            _network_interface(interface, identities.security_group_ids) for interface in efa_interfaces(group.types[0])
        ]
    if identities.placement_group_name is not None:
        inputs["placement"] = {"group_name": identities.placement_group_name}
    _launch_into_the_reservation(inputs, group, identities)
    return inputs


def _launch_into_the_reservation(inputs: LaunchTemplateInputs, group: NodeGroup, identities: Identities) -> None:
    """Name the reservation as the only place to launch into; EKS wants the type of a capacity block here, too."""
    block, on_demand = identities.capacity_block_id, identities.on_demand_reservation_id
    reservation = block if block is not None else on_demand
    if reservation is None:
        return
    inputs["capacity_reservation_specification"] = {
        "capacity_reservation_target": {"capacity_reservation_id": reservation}
    }
    if block is not None:
        inputs["instance_market_options"] = {"market_type": _CAPACITY_BLOCK}
        inputs["instance_type"] = group.instance_types[0]


def _network_interface(
    interface: NetworkInterface, security_group_ids: Sequence[pulumi.Input[str]]
) -> LaunchTemplateNetworkInterfaceArgsDict:
    """Return one interface; whether it gets a public address is left to the subnet, as EC2 wants it for several."""
    return {
        "network_card_index": interface.card,
        "device_index": interface.device,
        "interface_type": interface.kind,
        "security_groups": list(security_group_ids),
        "delete_on_termination": "true",
    }
