"""The spec of an EC2NodeClass: image, disk, metadata and network of the nodes that Karpenter buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from eks_gpu.foundation import launch_template
from eks_gpu.nodes import kubelet, user_data
from eks_gpu.nodes.efa import efa_interfaces
from eks_gpu.nodes.volumes import NodeVolume, node_volumes
from eks_gpu.settings.node_pool import NodePool

API_VERSION: Final = "karpenter.k8s.aws/v1"
KIND: Final = "EC2NodeClass"


@dataclass(frozen=True, kw_only=True)
class Identities:
    """What a node class is bound to in the account."""

    node_role_name: pulumi.Input[str]
    instance_profile_name: pulumi.Input[str] | None = None
    """Used instead of the role, if it is there."""
    subnet_ids: Sequence[pulumi.Input[str]]
    security_group_ids: Sequence[pulumi.Input[str]]
    """The cluster's own, and that of the adapters where there are any."""
    placement_group_name: pulumi.Input[str] | None = None
    reservation_ids: Sequence[pulumi.Input[str]] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


def node_class_spec(pool: NodePool, identities: Identities) -> dict[str, Any]:
    """Return the spec of the EC2NodeClass of ``pool`` (karpenter.k8s.aws_ec2nodeclasses CRD of Karpenter 1.14.1)."""
    spec: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": pool.image.alias}],
        **_node_identity(identities),
        "subnetSelectorTerms": [{"id": subnet} for subnet in identities.subnet_ids],
        "securityGroupSelectorTerms": [{"id": group} for group in identities.security_group_ids],
        "blockDeviceMappings": [_block_device(volume) for volume in node_volumes(pool)],
        "metadataOptions": _metadata_options(),
        "kubelet": kubelet.node_class_settings(pool),
        "userData": user_data.render(pool),
    }
    if pool.has_local_nvme:
        spec["instanceStorePolicy"] = "RAID0"
    if pool.efa:
        spec["networkInterfaces"] = [interface.karpenter() for interface in efa_interfaces(pool.types[0])]
    if identities.placement_group_name is not None:
        spec["placementGroupSelector"] = {"name": identities.placement_group_name}
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


def _block_device(volume: NodeVolume) -> dict[str, Any]:
    return {
        "deviceName": volume.device,
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
