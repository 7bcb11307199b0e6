"""The component `eks:index:ManagedNodeGroup`, with the children and outputs of the real one.

Read from pulumi-eks nodejs/eks/nodes/nodegroup.ts (2026-08-12). What the real one does through look-ups in AWS (a
recommended AMI for custom user data, the interfaces and subnets for EFA) is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.eks.resources import Child, Met

TOKEN: Final = "eks:index:ManagedNodeGroup"  # noqa: S105 - a type token
_BEYOND: Final = (
    "bootstrapExtraArgs",
    "bottlerocketSettings",
    "enableEfaSupport",
    "kubeletExtraArgs",
    "nodeadmExtraOptions",
    "userData",
)
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
_SIZE: Final = {"desiredSize": 2, "minSize": 1, "maxSize": 2}


class ManagedNodeGroup(pulumi.ComponentResource):
    """An EKS managed node group, with a launch template if an option needs one."""

    def __init__(self, name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the node group `name`; raise `pulumi.InputPropertiesError` for options that cannot be built here."""
        super().__init__(TOKEN, name, dict(options), opts)
        _refuse(options)
        core, control_plane = _core(options["cluster"])
        child = pulumi.ResourceOptions(parent=self)
        template = _launch_template(name, options, child)
        role = options.get("nodeRole")
        properties = {key: options.get(key) for key in _OWN}
        properties |= {
            "clusterName": options.get("clusterName") or control_plane.apply(lambda found: found.output("name")),
            "nodeRoleArn": role.output("arn") if role is not None else options["nodeRoleArn"],
            "scalingConfig": pulumi.Output.from_input(options.get("scalingConfig") or {}).apply(
                lambda given: {**_SIZE, **given}
            ),
            "subnetIds": options.get("subnetIds") or core.apply(lambda found: found["subnetIds"]),
            "launchTemplate": template or options.get("launchTemplate"),
        }
        if template is None:
            properties["diskSize"] = options.get("diskSize")
        if options.get("version") is None and options.get("launchTemplate") is None:
            properties["version"] = control_plane.apply(lambda found: found.output("version"))
        ignored = ["scalingConfig.desiredSize"] if options.get("ignoreScalingChanges") else None
        group_opts = pulumi.ResourceOptions(parent=self, ignore_changes=ignored)
        group = Child("aws:eks/nodeGroup:NodeGroup", name, properties, group_opts)
        self.outputs = {"nodeGroup": group, "placementGroupName": ""}
        self.register_outputs(self.outputs)


def _core(cluster: Met | pulumi.Input[dict[str, Any]]) -> tuple[pulumi.Output[Any], pulumi.Output[Any]]:
    """Return the core data of a cluster, given as a component or as that data, and the control plane in it.

    The control plane comes from an output of its own where there is one: one unknown in the core data hides all of it.
    """
    if isinstance(cluster, Met):
        return cluster.output("core"), cluster.output("eksCluster")
    core = pulumi.Output.from_input(cluster)
    return core, core.apply(lambda found: found["cluster"])


def _refuse(options: Mapping[str, Any]) -> None:
    found = {
        name: f"the stand-in does not build {name}; leave it out, or use a launch template of your own"
        for name in _BEYOND
        if options.get(name)
    }
    if (options.get("nodeRole") is None) == (options.get("nodeRoleArn") is None):
        found["nodeRole"] = "exactly one of nodeRole and nodeRoleArn must be given"
    if options.get("amiId") and (options.get("amiType") or options.get("gpu")):
        found["amiId"] = "amiId cannot be given together with amiType or gpu"
    if options.get("launchTemplate") and _needs_template(options):
        found["launchTemplate"] = "put the disk size, the AMI and the metadata options into the launch template given"
    if found:
        details = [pulumi.InputPropertyErrorDetails(property_path=path, reason=text) for path, text in found.items()]
        raise pulumi.InputPropertiesError(f"the inputs of {TOKEN} are wrong", details)


def _needs_template(options: Mapping[str, Any]) -> bool:
    return any(options.get(name) is not None for name in ("amiId", "diskSize", "enableIMDSv2"))


def _launch_template(name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions) -> dict[str, Any] | None:
    """Make the launch template that the disk size, the AMI or the metadata options ask for."""
    if not _needs_template(options):
        return None
    bottlerocket = "BOTTLEROCKET" in str(options.get("amiType") or options.get("operatingSystem") or "").upper()
    device = "/dev/xvdb" if bottlerocket else "/dev/xvda"
    disk, tokens = options.get("diskSize"), options.get("enableIMDSv2")
    properties = {
        "imageId": options.get("amiId"),
        "blockDeviceMappings": None if disk is None else [{"deviceName": device, "ebs": {"volumeSize": disk}}],
        "metadataOptions": None
        if tokens is None
        else {
            "httpTokens": "required" if tokens else "optional",
            "httpPutResponseHopLimit": 2,
            "httpEndpoint": "enabled",
        },
    }
    template = Child("aws:ec2/launchTemplate:LaunchTemplate", f"{name}-launchTemplate", properties, opts)
    return {"id": template.id, "version": template.output("latestVersion").apply(str)}
