"""The component `eks:index:ManagedNodeGroup`, with the children and outputs of the real one.

Read from pulumi-eks nodejs/eks/nodes/nodegroup.ts (2026-08-12). EFA, whose interfaces and subnets the real one looks up
in AWS, is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.eks.images import BOTTLEROCKET, kind_of, operating_system, recommended
from sandbox.providers.eks.options import refuse
from sandbox.providers.eks.resources import Child, latest_version, output_of
from sandbox.providers.eks.surroundings import Surroundings, surroundings
from sandbox.providers.eks.user_data import CUSTOM, user_data

TOKEN: Final = "eks:index:ManagedNodeGroup"  # noqa: S105 - a type token
_OWN: Final = (
    "amiType",
    "capacityType",
    "forceUpdateVersion",
    "instanceTypes",
    "labels",
    "nodeGroupName",
    "nodeGroupNamePrefix",
    "releaseVersion",
    "remoteAccess",
    "tags",
    "taints",
    "version",
)
_OF_THE_IMAGE: Final = ("amiType", "releaseVersion", "version")
"""What EKS does not take beside a launch template that names an image."""
_SIZE: Final = {"desiredSize": 2, "minSize": 1, "maxSize": 2}


class ManagedNodeGroup(pulumi.ComponentResource):
    """An EKS managed node group, with a launch template if an option needs one."""

    def __init__(self, name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the node group `name`; raise `pulumi.InputPropertiesError` for options that cannot be built here."""
        super().__init__(TOKEN, name, dict(options), opts)
        _refuse(options)
        around = surroundings(options["cluster"])
        child = pulumi.ResourceOptions(parent=self)
        template = _launch_template(name, options, around, child)
        properties = _properties(options, around)
        if template is None:
            properties["diskSize"] = options.get("diskSize")
        else:
            properties["launchTemplate"] = template
        ignored = ["scalingConfig.desiredSize"] if options.get("ignoreScalingChanges") else None
        group_opts = pulumi.ResourceOptions(parent=self, ignore_changes=ignored)
        group = Child("aws:eks/nodeGroup:NodeGroup", name, properties, group_opts)
        self.outputs = {"nodeGroup": group, "placementGroupName": ""}
        self.register_outputs(self.outputs)


def _properties(options: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """Return the properties of the `aws` node group, but for a launch template made for it."""
    role = options.get("nodeRole")
    properties = {key: options.get(key) for key in _OWN}
    properties |= {
        "clusterName": options.get("clusterName") or around.cluster_name,
        "nodeRoleArn": output_of(role, "arn") if role is not None else options["nodeRoleArn"],
        "scalingConfig": pulumi.Output.from_input(options.get("scalingConfig") or {}).apply(
            lambda given: {**_SIZE, **given}
        ),
        "subnetIds": options.get("subnetIds") or around.core("subnetIds"),
        "launchTemplate": options.get("launchTemplate"),
    }
    if _names_image(options):
        return {key: value for key, value in properties.items() if key not in _OF_THE_IMAGE}
    if options.get("version") is None and options.get("launchTemplate") is None:
        properties["version"] = around.control_plane("version")
    if options.get("amiType") is None and options.get("operatingSystem") is not None:
        asked = pulumi.Output.all(operating_system(options), options.get("gpu"), options.get("instanceTypes"))
        properties["amiType"] = asked.apply(
            lambda found: kind_of(found[0], nvidia=bool(found[1]), types=found[2] or [], path="instanceTypes").ami_type
        )
    return properties


def _refuse(options: Mapping[str, Any]) -> None:
    found: dict[str, str] = {}
    if options.get("enableEfaSupport"):
        found["enableEfaSupport"] = (
            "the stand-in does not build EFA; leave it out, or use a launch template of your own"
        )
    if options.get("userData") and any(options.get(name) is not None for name in CUSTOM):
        found["userData"] = f"userData cannot be given together with {', '.join(CUSTOM)}"
    if (options.get("nodeRole") is None) == (options.get("nodeRoleArn") is None):
        found["nodeRole"] = "exactly one of nodeRole and nodeRoleArn must be given"
    if options.get("amiId") and (options.get("amiType") or options.get("gpu")):
        found["amiId"] = "amiId cannot be given together with amiType or gpu"
    if options.get("launchTemplate") and _needs_template(options):
        found["launchTemplate"] = "put the AMI, the user data and the metadata options into the launch template given"
    refuse(TOKEN, found)


def _names_image(options: Mapping[str, Any]) -> bool:
    """Tell whether the launch template names an image: EKS adds no user data of its own then, or wants none."""
    return bool(options.get("userData") or options.get("amiId")) or any(
        options.get(each) is not None for each in CUSTOM
    )


def _needs_template(options: Mapping[str, Any]) -> bool:
    return _names_image(options) or options.get("enableIMDSv2") is not None


def _launch_template(
    name: str, options: Mapping[str, Any], around: Surroundings, opts: pulumi.ResourceOptions
) -> dict[str, Any] | None:
    """Make the launch template that the AMI, the user data or the metadata options ask for."""
    if not _needs_template(options):
        return None
    disk, tokens, image = options.get("diskSize"), options.get("enableIMDSv2"), options.get("amiId")
    properties: dict[str, Any] = {
        "imageId": image,
        "blockDeviceMappings": None
        if disk is None
        else [{"deviceName": _device(options), "ebs": {"volumeSize": disk}}],
        "metadataOptions": None
        if tokens is None
        else {
            "httpTokens": "required" if tokens else "optional",
            "httpPutResponseHopLimit": 2,
            "httpEndpoint": "enabled",
        },
    }
    if _names_image(options):
        taints = pulumi.Output.from_input(options.get("taints") or []).apply(lambda found: [*map(_told, found)])
        properties["imageId"] = image or recommended(options, around.control_plane("version"))
        properties["userData"] = user_data(options, taints, around)
    template = Child("aws:ec2/launchTemplate:LaunchTemplate", f"{name}-launchTemplate", properties, opts)
    return {"id": template.id, "version": latest_version(template)}


def _device(options: Mapping[str, Any]) -> pulumi.Output[str]:
    return operating_system(options).apply(lambda found: "/dev/xvdb" if found == BOTTLEROCKET else "/dev/xvda")


def _told(taint: Mapping[str, str]) -> str:
    """Return a taint of the EKS API as the kubelet is told it."""
    effect = taint["effect"].title().replace("_", "")
    return f"{taint['key']}={taint.get('value') or ''}:{effect}"
