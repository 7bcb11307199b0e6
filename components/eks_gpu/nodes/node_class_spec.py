"""The spec of an EC2NodeClass: image, disk, metadata and network of the nodes that Karpenter buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from eks_gpu.facts import ami
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.foundation import launch_template
from eks_gpu.nodes import user_data
from eks_gpu.settings.node_pool import NodePool

API_VERSION: Final = "karpenter.k8s.aws/v1"
KIND: Final = "EC2NodeClass"

_FAMILY: Final = AmiFamily.AL2023


@dataclass(frozen=True, kw_only=True)
class Identities:
    """What a node class is bound to in the account."""

    node_role_name: pulumi.Input[str]
    instance_profile_name: pulumi.Input[str] | None = None
    """Used instead of the role, if it is there."""
    subnet_ids: Sequence[pulumi.Input[str]]
    security_group_id: pulumi.Input[str]
    reservation_ids: Sequence[pulumi.Input[str]] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


def node_class_spec(pool: NodePool, identities: Identities) -> dict[str, Any]:
    """Return the spec of the EC2NodeClass of ``pool`` (karpenter.k8s.aws_ec2nodeclasses CRD of Karpenter 1.14.1)."""
    spec: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": ami.alias(_FAMILY, ami.AL2023_RELEASE)}],
        **_node_identity(identities),
        "subnetSelectorTerms": [{"id": subnet} for subnet in identities.subnet_ids],
        "securityGroupSelectorTerms": [{"id": identities.security_group_id}],
        "blockDeviceMappings": [_image_volume(pool)],
        "metadataOptions": _metadata_options(),
        "kubelet": {
            "imageGCHighThresholdPercent": user_data.IMAGE_GC_HIGH_PERCENT,
            "imageGCLowThresholdPercent": user_data.IMAGE_GC_LOW_PERCENT,
        },
        "userData": user_data.render(pool),
    }
    if pool.has_local_nvme:
        spec["instanceStorePolicy"] = "RAID0"
    if pool.efa:
        spec["networkInterfaces"] = efa_interfaces(pool.types[0].efa_interfaces)
    if identities.reservation_ids:
        spec["capacityReservationSelectorTerms"] = [{"id": id_} for id_ in identities.reservation_ids]
    if identities.tags:
        spec["tags"] = dict(identities.tags)
    return spec


def _node_identity(identities: Identities) -> dict[str, Any]:
    """Return as what nodes run: exactly one of ``role`` and ``instanceProfile``, says the CRD."""
    if identities.instance_profile_name is None:
        return {"role": identities.node_role_name}
    return {"instanceProfile": identities.instance_profile_name}


def efa_interfaces(count: int) -> list[dict[str, Any]]:
    """Return one interface for IP traffic on the first card and one adapter on each of ``count`` cards.

    Secondary interfaces have device index 1 (EC2 user guide, "Maximize network bandwidth on accelerated instances";
    the same in Karpenter 1.14.1, pkg/providers/launchtemplate, checked 2026-11-21). ``efa-only`` takes no IP address.
    """
    first = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
    adapters = [{"networkCardIndex": card, "deviceIndex": 1, "interfaceType": "efa-only"} for card in range(count)]
    return [first, *adapters]


def _image_volume(pool: NodePool) -> dict[str, Any]:
    volume = pool.root_volume
    return {
        "deviceName": _FAMILY.image_device,
        "ebs": {
            "volumeType": "gp3",
            "volumeSize": f"{volume.size_gib}Gi",
            "iops": volume.iops,
            "throughput": volume.throughput_mibps,
            "encrypted": True,
            "deleteOnTermination": True,
        },
    }


def _metadata_options() -> dict[str, Any]:
    """Return the same metadata options as a launch template of ours has, in Karpenter's spelling."""
    options = launch_template.metadata_options()
    return {
        "httpEndpoint": options["http_endpoint"],
        "httpTokens": options["http_tokens"],
        "httpPutResponseHopLimit": options["http_put_response_hop_limit"],
    }
