"""The parts of an EC2 launch template that every node of ours has in common, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pulumi
from pulumi_aws.ec2 import (
    LaunchTemplateBlockDeviceMappingArgsDict,
    LaunchTemplateBlockDeviceMappingEbsArgsDict,
    LaunchTemplateMetadataOptionsArgsDict,
    LaunchTemplateTagSpecificationArgsDict,
)

_TAGGED: Final = ("instance", "volume", "network-interface")
"""What an instance brings into being, by the names of ``ec2.RunInstances`` tag specifications. EKS and default tags
of a provider stop at the launch template itself, so cost reports would miss these."""


def gp3_volume(
    device: str,
    size_gib: int,
    *,
    iops: int,
    throughput_mib_per_second: int,
    kms_key_id: pulumi.Input[str] | None = None,
) -> LaunchTemplateBlockDeviceMappingArgsDict:
    """Return the mapping of one encrypted gp3 volume.

    ``device`` must be the name that the AMI family really uses (``facts.ami``): with another name the volume is
    attached beside the real one, which stays small. ``kms_key_id`` is a customer key; the account's EBS default key
    is used without it.
    """
    volume: LaunchTemplateBlockDeviceMappingEbsArgsDict = {
        "volume_type": "gp3",
        "volume_size": size_gib,
        "iops": iops,
        "throughput": throughput_mib_per_second,
        "encrypted": "true",
        "delete_on_termination": "true",
    }
    if kms_key_id is not None:
        volume["kms_key_id"] = kms_key_id
    return {"device_name": device, "ebs": volume}


def metadata_options(hop_limit: int = 1) -> LaunchTemplateMetadataOptionsArgsDict:
    """Return the metadata options of a node: IMDSv2 only, out of reach of pods.

    With one hop a pod of its own network namespace does not reach the instance's role; 2 only where a named add-on
    needs it.
    """
    return {
        "http_endpoint": "enabled",
        "http_tokens": "required",
        "http_put_response_hop_limit": hop_limit,
        "instance_metadata_tags": "disabled",
    }


def tag_specifications(tags: Mapping[str, pulumi.Input[str]]) -> list[LaunchTemplateTagSpecificationArgsDict]:
    """Return the specifications that put ``tags`` on the instance, its volumes and its network interfaces."""
    return [{"resource_type": kind, "tags": dict(tags)} for kind in _TAGGED]
