"""The real Kubernetes behind the EKS clusters of the sandbox, if this run uses it: its address, and nodes that join.

There is one in a sandbox, so that all the clusters of a stack are the same one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from sandbox.kubernetes import VARIABLE
from sandbox.providers.aws.kept.lookup import found
from sandbox.providers.stand_in import StandInError
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane
    from sandbox.kubernetes.node_groups import NodeGroupShape
    from sandbox.providers.aws.api import Api

_DEFAULT_VOLUME_GIB: Final = 20
"""Disk of a node whose group says nothing (EKS API reference, CreateNodegroup, diskSize)."""

_DEFAULT_TYPE: Final = "t3.medium"
"""Type of a node whose group and launch template say nothing (same source)."""


def outputs() -> Properties:
    """Return address and certificate authority as outputs of a cluster; nothing if the run does without."""
    plane = _in_use()
    if plane is None:
        return {}
    return {"endpoint": plane.endpoint, "certificateAuthority": {"data": plane.certificate_authority}}


def nodes_join(api: Api, group: Properties) -> None:
    """Let the nodes of a group join or leave until there are as many as it wants, of the kind that it wants."""
    plane = _in_use()
    if plane is None:
        return
    from sandbox.kubernetes import nodes  # noqa: PLC0415 - only wanted here

    with _told():
        nodes.apply(plane, _shape(api, group))


def nodes_leave(cluster: str, group_name: str) -> None:
    """Let all nodes of a group leave."""
    plane = _in_use()
    if plane is None:
        return
    from sandbox.kubernetes import nodes  # noqa: PLC0415 - only wanted here

    with _told():
        nodes.leave(plane, cluster, group_name)


def _in_use() -> ControlPlane | None:
    if VARIABLE not in os.environ:
        return None
    from sandbox.kubernetes import control_plane  # noqa: PLC0415 - a run without Kubernetes does not pay for it

    with _told():
        plane = control_plane.in_use()
    if plane is None:
        # Without it, groups would come and go while their nodes stay as they are.
        raise StandInError("the sandbox's Kubernetes has ended, see its logs in the sandbox's log folder; run again")
    return plane


@contextmanager
def _told() -> Iterator[None]:
    """Tell what Kubernetes refuses as the provider tells everything."""
    from sandbox.errors import SandboxError  # noqa: PLC0415 - as above
    from sandbox.kubernetes.rest import ApiError  # noqa: PLC0415 - as above

    try:
        yield
    except (SandboxError, ApiError, OSError) as error:
        raise StandInError(f"the sandbox's Kubernetes: {error}") from None


def _shape(api: Api, group: Properties) -> NodeGroupShape:
    from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet  # noqa: PLC0415 - as above

    subnets = api.call("ec2", "describe_subnets", SubnetIds=group["subnetIds"])["Subnets"]
    template = group.get("launchTemplate") or {}
    launched = _template_data(api, template)
    version, release = group.get("version") or "", group.get("releaseVersion") or ""
    return NodeGroupShape(
        cluster=group["clusterName"],
        name=group["nodeGroupName"],
        region=api.region,
        subnets=tuple(Subnet(each["AvailabilityZone"], each["CidrBlock"]) for each in subnets),
        instance_types=_instance_types(group, launched),
        size=int(group["scalingConfig"]["desiredSize"]),
        ami_type=group["amiType"],
        capacity_type=group["capacityType"],
        labels=group.get("labels") or {},
        taints=tuple(group.get("taints") or ()),
        volume_gib=_volume_gib(group, launched),
        kubelet_version=_kubelet_version(group["amiType"], version, release),
        launched_from=f"{template.get('id') or template.get('name')} {template.get('version')} {version} {release}",
    )


def _template_data(api: Api, template: Properties) -> Properties:
    """Return what a group's launch template says; nothing without one."""
    if not template:
        return {}
    which = {"LaunchTemplateId": template.get("id"), "LaunchTemplateName": template.get("name")}
    described = found(
        api,
        "ec2",
        "describe_launch_template_versions",
        "LaunchTemplateVersions",
        Versions=[str(template.get("version") or "$Default")],
        **which,
    )
    data: Properties = (described or {}).get("LaunchTemplateData") or {}
    return data


def _instance_types(group: Properties, launched: Properties) -> tuple[str, ...]:
    """Return the group's types: its own, that of its launch template (as for capacity blocks), or EKS's default."""
    return tuple(group.get("instanceTypes") or (launched.get("InstanceType") or _DEFAULT_TYPE,))


def _kubelet_version(ami_type: str, version: str, release: str) -> str:
    """Return the kubelet's version: an AL2023 release begins with it, one of Bottlerocket with Bottlerocket's own."""
    return version if ami_type.startswith("BOTTLEROCKET_") else release.partition("-")[0] or version


def _volume_gib(group: Properties, launched: Properties) -> int:
    """Return the size of the largest volume that a node starts with: that is where images and ephemeral data lie."""
    devices: list[Any] = launched.get("BlockDeviceMappings") or []
    sizes = (int((device.get("Ebs") or {}).get("VolumeSize") or 0) for device in devices)
    return max(sizes, default=0) or int(group.get("diskSize") or _DEFAULT_VOLUME_GIB)
