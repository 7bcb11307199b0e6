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
    version, release = group.get("version") or "", group.get("releaseVersion") or ""
    return NodeGroupShape(
        cluster=group["clusterName"],
        name=group["nodeGroupName"],
        region=api.region,
        subnets=tuple(Subnet(each["AvailabilityZone"], each["CidrBlock"]) for each in subnets),
        instance_types=tuple(group.get("instanceTypes") or ("t3.medium",)),
        size=int(group["scalingConfig"]["desiredSize"]),
        ami_type=group["amiType"],
        capacity_type=group["capacityType"],
        labels=group.get("labels") or {},
        taints=tuple(group.get("taints") or ()),
        volume_gib=_volume_gib(api, group, template),
        kubelet_version=release.partition("-")[0] or version,
        launched_from=f"{template.get('id') or template.get('name')} {template.get('version')} {version} {release}",
    )


def _volume_gib(api: Api, group: Properties, template: Properties) -> int:
    """Return the size of the largest volume that a node starts with: that is where images and ephemeral data lie."""
    if not template:
        return int(group.get("diskSize") or _DEFAULT_VOLUME_GIB)
    which = {"LaunchTemplateId": template.get("id"), "LaunchTemplateName": template.get("name")}
    described = found(
        api,
        "ec2",
        "describe_launch_template_versions",
        "LaunchTemplateVersions",
        Versions=[str(template.get("version") or "$Default")],
        **which,
    )
    devices: list[Any] = ((described or {}).get("LaunchTemplateData") or {}).get("BlockDeviceMappings") or []
    sizes = (int((device.get("Ebs") or {}).get("VolumeSize") or 0) for device in devices)
    return max(sizes, default=0) or _DEFAULT_VOLUME_GIB
