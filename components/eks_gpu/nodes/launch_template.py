"""The launch template of a managed GPU node group, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from pulumi_aws.ec2 import (
    LaunchTemplateBlockDeviceMappingArgsDict,
    LaunchTemplateMetadataOptionsArgsDict,
    LaunchTemplateTagSpecificationArgsDict,
)

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.foundation import launch_template
from eks_gpu.nodes import user_data
from eks_gpu.settings.node_group import NodeGroup


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


def launch_template_inputs(group: NodeGroup, family: AmiFamily, tags: Mapping[str, str]) -> LaunchTemplateInputs:
    """Return the launch template of ``group`` on images of ``family``, with ``tags`` on all that an instance brings."""
    volume = group.root_volume
    return {
        "block_device_mappings": [
            launch_template.gp3_volume(
                family.image_device,
                volume.size_gib,
                iops=volume.iops,
                throughput_mib_per_second=volume.throughput_mibps,
            )
        ],
        "metadata_options": launch_template.metadata_options(),
        "tag_specifications": launch_template.tag_specifications(tags),
        "user_data": user_data.encoded(user_data.render(group)),
        "update_default_version": True,
    }
