"""Nodes in an Auto Scaling group: the component `eks:index:NodeGroupV2`, and the default node group of a cluster.

Read from pulumi-eks nodejs/eks/nodes/nodegroup.ts (2026-08-12). The image is not looked up, and neither is which of the
cluster's subnets are private: nodes that are told no subnets get the private ones, else the public ones, else all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from sandbox.providers.eks.images import AL2, BOTTLEROCKET, operating_system, recommended
from sandbox.providers.eks.options import refuse
from sandbox.providers.eks.resources import Child, latest_version, output_of
from sandbox.providers.eks.security_groups import node_security_group
from sandbox.providers.eks.surroundings import Surroundings, surroundings
from sandbox.providers.eks.user_data import user_data

TOKEN: Final = "eks:index:NodeGroupV2"  # noqa: S105 - a type token
_INSTANCE_TYPE: Final = "t3.medium"
_EXCLUSIVE: Final = (
    ("amiId", "gpu"),
    ("clusterIngressRule", "clusterIngressRuleId"),
    ("instanceProfile", "instanceProfileName"),
    ("keyName", "nodePublicKey"),
    ("nodeSecurityGroup", "nodeSecurityGroupId"),
    *(
        ("nodeUserDataOverride", each)
        for each in ("bootstrapExtraArgs", "kubeletExtraArgs", "labels", "nodeUserData", "taints")
    ),
)
_VOLUME: Final[Mapping[str, str]] = {
    "encrypted": "nodeRootVolumeEncrypted",
    "volumeSize": "nodeRootVolumeSize",
    "volumeType": "nodeRootVolumeType",
    "iops": "nodeRootVolumeIops",
    "throughput": "nodeRootVolumeThroughput",
    "deleteOnTermination": "nodeRootVolumeDeleteOnTermination",
}
# Amazon Linux 2 gets these where nothing is given, and the others what their image has.
_AL2_VOLUME: Final = {"encrypted": False, "volumeSize": 20, "volumeType": "gp2", "deleteOnTermination": True}


@dataclass(frozen=True, slots=True)
class Group:
    """What a node group is made of, as far as the components give it out."""

    scaling: Child
    security_group: pulumi.Input[Child] | None
    security_group_id: pulumi.Input[str]
    extra_security_groups: pulumi.Input[list[Child]]

    def outputs(self) -> dict[str, Any]:
        """Return the properties of a component that holds the group."""
        found = {
            "autoScalingGroup": self.scaling,
            "extraNodeSecurityGroups": self.extra_security_groups,
            "nodeSecurityGroup": self.security_group,
            "nodeSecurityGroupId": self.security_group_id,
        }
        return {key: value for key, value in found.items() if value is not None}


class NodeGroupV2(pulumi.ComponentResource):
    """A self-managed node group."""

    def __init__(self, name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the node group `name`; raise `pulumi.InputPropertiesError` for options that contradict each other."""
        super().__init__(TOKEN, name, dict(options), opts)
        refuse(TOKEN, mistakes(options))
        group = node_group(name, options, surroundings(options["cluster"]), self)
        self.outputs = group.outputs()
        self.register_outputs(self.outputs)


def mistakes(options: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with the options of a node group, by property."""
    found = {
        first: f"{first} and {second} cannot both be given"
        for first, second in _EXCLUSIVE
        if options.get(first) and options.get(second)
    }
    given = options.get("nodeSecurityGroup") or options.get("nodeSecurityGroupId")
    if given and not (options.get("clusterIngressRule") or options.get("clusterIngressRuleId")):
        found["clusterIngressRule"] = "a node security group of your own needs clusterIngressRule or its id beside it"
    kind = options.get("nodeRootVolumeType")
    for name, needed in (("nodeRootVolumeIops", "io1"), ("nodeRootVolumeThroughput", "gp3")):
        if options.get(name) and kind != needed:
            found[name] = f'{name} needs nodeRootVolumeType to be "{needed}"'
    return found


def node_group(name: str, options: Mapping[str, Any], around: Surroundings, parent: pulumi.Resource) -> Group:
    """Make the node group `name` in its surroundings; `mistakes` has passed the options."""
    opts = pulumi.ResourceOptions(parent=parent)
    group, group_id, rule_id = _security_group(name, options, around, opts)
    extra = pulumi.Output.from_input(options.get("extraNodeSecurityGroups") or [])
    extra_ids: pulumi.Output[list[str]] = extra.apply(lambda found: pulumi.Output.all(*(each.id for each in found)))
    # The rule's id is not used: nodes wait for the rule that lets them reach the API server.
    groups = pulumi.Output.all(group_id, extra_ids, rule_id).apply(lambda found: [found[0], *found[1]])
    properties = _template(options, around) | {
        "keyName": _key_name(name, options, opts),
        "networkInterfaces": [
            {"associatePublicIpAddress": _public_address(options), "securityGroups": groups},
        ],
    }
    template = Child("aws:ec2/launchTemplate:LaunchTemplate", f"{name}-launchTemplate", properties, opts)
    ignored = ["desiredCapacity"] if options.get("ignoreScalingChanges") else None
    scaling_opts = pulumi.ResourceOptions(parent=parent, depends_on=list(around.before), ignore_changes=ignored)
    scaling = Child("aws:autoscaling/group:Group", name, _scaling(options, around, template), scaling_opts)
    return Group(scaling, group, group_id, extra)


def _security_group(
    name: str, options: Mapping[str, Any], around: Surroundings, opts: pulumi.ResourceOptions
) -> tuple[pulumi.Input[Child] | None, pulumi.Input[str], pulumi.Input[str]]:
    """Return the nodes' group, its id, and the id of the rule that lets them reach the API server."""
    given, id_ = options.get("nodeSecurityGroup"), options.get("nodeSecurityGroupId")
    if given is not None or id_ is not None:
        rule = options.get("clusterIngressRule")
        rule_id = output_of(rule, "id") if rule is not None else options["clusterIngressRuleId"]
        return given, output_of(given, "id") if given is not None else id_ or "", rule_id
    own: pulumi.Output[Child | None] = pulumi.Output.from_input(around.core("clusterSecurityGroup"))
    aws_group = around.control_plane("vpcConfig").apply(lambda found: found["clusterSecurityGroupId"])
    cluster_group: pulumi.Output[Any] = own.apply(lambda found: aws_group if found is None else found.id)
    network = {each: around.core(each) for each in ("vpcId", "nodeSecurityGroupTags", "tags")}
    group, made = node_security_group(name, network, around.cluster_name, cluster_group, opts)
    return group, group.id, made.id


def _template(options: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    price, monitored = options.get("spotPrice"), options.get("enableDetailedMonitoring")
    market = None if not price else {"marketType": "spot", "spotOptions": {"maxPrice": price}}
    volume = {key: options.get(option) for key, option in _VOLUME.items()}
    taints = pulumi.Output.from_input(options.get("taints") or {}).apply(
        lambda found: [f"{key}={taint['value']}:{taint['effect']}" for key, taint in found.items()]
    )
    return {
        "imageId": options.get("amiId") or recommended(options, around.control_plane("version")),
        "instanceType": options.get("instanceType") or _INSTANCE_TYPE,
        "iamInstanceProfile": {"name": _profile_name(options, around)},
        "instanceMarketOptions": market,
        "blockDeviceMappings": pulumi.Output.all(operating_system(options), volume).apply(
            lambda found: _block_devices(*found)
        ),
        "tagSpecifications": options.get("launchTemplateTagSpecifications"),
        "monitoring": None if monitored is None else {"enabled": monitored},
        "userData": user_data(options, taints, around),
    }


def _profile_name(options: Mapping[str, Any], around: Surroundings) -> pulumi.Input[str]:
    profile = options.get("instanceProfile")
    if profile is not None:
        return output_of(profile, "name")
    return options.get("instanceProfileName") or pulumi.Output.from_input(around.core("nodeGroupOptions")).apply(
        _clusters_profile
    )


def _clusters_profile(defaults: Mapping[str, Any] | None) -> pulumi.Input[str]:
    defaults = defaults or {}
    profile, name = defaults.get("instanceProfile"), defaults.get("instanceProfileName")
    if profile is not None:
        return output_of(profile, "name")
    if name is None:
        reason = "neither the node group nor its cluster has one; give instanceProfile or instanceProfileName"
        raise pulumi.InputPropertyError("instanceProfile", reason)
    return str(name)


def _key_name(name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.Input[str] | None:
    key = options.get("nodePublicKey")
    if key is None:
        return options.get("keyName")
    pair: pulumi.Output[str] = Child("aws:ec2/keyPair:KeyPair", f"{name}-keyPair", {"publicKey": key}, opts).output(
        "keyName"
    )
    return pair


def _public_address(options: Mapping[str, Any]) -> pulumi.Output[str]:
    given = pulumi.Output.from_input(options.get("nodeAssociatePublicIpAddress"))
    return given.apply(lambda found: "false" if found is False else "true")


def _block_devices(system: str, volume: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = {key: value for key, value in volume.items() if value is not None}
    ebs = {**_AL2_VOLUME, **given} if system == AL2 else given
    texts = {key: str(value).lower() if isinstance(value, bool) else value for key, value in ebs.items()}
    device = "/dev/xvdb" if system == BOTTLEROCKET else "/dev/xvda"
    return [{"deviceName": device, "ebs": texts}] if texts else []


def _scaling(options: Mapping[str, Any], around: Surroundings, template: Child) -> dict[str, Any]:
    tags = pulumi.Output.all(around.cluster_name, options.get("autoScalingGroupTags"))
    return {
        "minSize": _or(options.get("minSize"), 1),
        "maxSize": _or(options.get("maxSize"), 2),
        "desiredCapacity": _or(options.get("desiredCapacity"), 2),
        "launchTemplate": {"name": template.output("name"), "version": latest_version(template)},
        "vpcZoneIdentifiers": _subnets(options, around),
        "instanceRefresh": {
            "strategy": "Rolling",
            "preferences": {"minHealthyPercentage": _or(options.get("minRefreshPercentage"), 50)},
        },
        "tags": tags.apply(lambda found: _tags(*found)),
    }


def _or(value: object, default: int) -> object:
    return default if value is None else value


def _subnets(options: Mapping[str, Any], around: Surroundings) -> pulumi.Input[list[str]]:
    given: pulumi.Input[list[str]] | None = options.get("nodeSubnetIds")
    if given is not None:
        return given
    choices = pulumi.Output.all(*map(around.core, ("privateSubnetIds", "publicSubnetIds", "subnetIds")))
    return choices.apply(_first)


def _first(choices: list[list[str] | None]) -> list[str]:
    return next((found for found in choices if found is not None), [])


def _tags(cluster: str, given: Mapping[str, str] | None) -> list[dict[str, Any]]:
    own = {f"kubernetes.io/cluster/{cluster}": "owned", "Name": f"{cluster}-worker"}
    pairs = [*(given or {}).items(), *own.items()]
    return [{"key": key, "value": value, "propagateAtLaunch": True} for key, value in pairs]
