"""The `aws` cluster inside the component: its role, its network, and what EKS Auto Mode adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.eks.options import is_auto
from sandbox.providers.eks.resources import Child, package_version
from sandbox.providers.eks.security_groups import merged_tags
from sandbox.providers.eks.service_role import ServiceRole, trust_policy

_IGNORED: Final = ["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"]
_POLICIES: Final = ("AmazonEKSClusterPolicy",)
_AUTO_POLICIES: Final = (
    "AmazonEKSComputePolicy",
    "AmazonEKSBlockStoragePolicy",
    "AmazonEKSLoadBalancingPolicy",
    "AmazonEKSNetworkingPolicy",
)
_AUTO_NODE_POLICIES: Final = ("AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")
_AUTO_POOLS: Final = ["general-purpose", "system"]


def service_role(
    name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions
) -> tuple[pulumi.Input[Child], list[pulumi.Resource]]:
    """Return the cluster's role and what must exist before the cluster can use it."""
    given = options.get("serviceRole")
    if given is not None:
        return given, []
    service = "eks.amazonaws.com"
    properties = {
        "assumeRolePolicy": trust_policy(service, ("sts:AssumeRole", "sts:TagSession")),
        "description": "Allows EKS to manage clusters on your behalf.",
        "tags": options.get("tags"),
    }
    policies = (*_POLICIES, *(_AUTO_POLICIES if is_auto(options) else ()))
    made = ServiceRole(f"{name}-eksRole", service, policies, properties, opts)
    return made.role, [made.role, *made.attachments]


def auto_node_role(name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions) -> ServiceRole | None:
    """Make the role of the nodes that EKS Auto Mode starts, unless the options leave it out."""
    if not is_auto(options) or options["autoMode"].get("createNodeRole") is False:
        return None
    tags = {"tags": options.get("tags")}
    return ServiceRole(f"{name}-nodeRole", "ec2.amazonaws.com", _AUTO_NODE_POLICIES, tags, opts)


def network(options: Mapping[str, Any], parent: pulumi.Resource) -> tuple[pulumi.Input[str], pulumi.Input[Any]]:
    """Return the VPC and the subnets of the cluster: those given, else the default VPC and all of its subnets."""
    vpc: pulumi.Input[str] | None = options.get("vpcId")
    subnets: pulumi.Input[Any] = []
    if vpc is None:
        vpc, subnets = _default_network(parent)
    if options.get("subnetIds") is not None:
        subnets = options["subnetIds"]
    elif any(options.get(f"{kind}SubnetIds") is not None for kind in ("public", "private")):
        halves = [options.get(f"{kind}SubnetIds") or [] for kind in ("public", "private")]
        subnets = pulumi.Output.all(*halves).apply(lambda found: [*found[0], *found[1]])
    return vpc, subnets


def _default_network(parent: pulumi.Resource) -> tuple[pulumi.Output[str], pulumi.Output[list[str]]]:
    opts = pulumi.InvokeOptions(parent=parent, version=package_version("aws") or "")
    vpc = pulumi.runtime.invoke_output("aws:ec2/getVpc:getVpc", {"default": True}, opts).apply(
        lambda found: found["id"]
    )
    filters = [{"name": "vpc-id", "values": [vpc]}]
    subnets = pulumi.runtime.invoke_output("aws:ec2/getSubnets:getSubnets", {"filters": filters}, opts)
    return vpc, subnets.apply(lambda found: found["ids"])


def control_plane(
    name: str,
    options: Mapping[str, Any],
    given: Mapping[str, Any],
    auto_role: ServiceRole | None,
    opts: pulumi.ResourceOptions,
) -> Child:
    """Make the `aws` cluster; `given` holds its role, subnets and security groups as properties of it."""
    own = ("name", "version", "enabledClusterLogTypes", "upgradePolicy", "deletionProtection")
    access = ("endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs")
    vpc_config = {"subnetIds": given["subnetIds"], "securityGroupIds": given.get("securityGroupIds")}
    vpc_config |= {key: options.get(key) for key in access}
    properties = {key: options.get(key) for key in own}
    properties |= {
        "roleArn": given["roleArn"],
        "vpcConfig": {key: value for key, value in vpc_config.items() if value is not None},
        "kubernetesNetworkConfig": _network_config(options),
        "bootstrapSelfManagedAddons": not is_auto(options) and options.get("bootstrapSelfManagedAddons", True),
        "tags": merged_tags({"Name": f"{name}-eksCluster"}, options, "clusterTags"),
        "encryptionConfig": _encryption_config(options),
        "accessConfig": _access_config(options),
        **_auto_mode(options, auto_role),
    }
    opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=_IGNORED))
    return Child("aws:eks/cluster:Cluster", f"{name}-eksCluster", properties, opts)


def _auto_mode(options: Mapping[str, Any], role: ServiceRole | None) -> dict[str, Any]:
    if not is_auto(options):
        return {}
    compute = {"enabled": True, "nodePools": _AUTO_POOLS, **(options["autoMode"].get("computeConfig") or {})}
    if role is not None:
        compute = {"nodeRoleArn": role.role.output("arn"), **compute}
    return {"computeConfig": compute, "storageConfig": {"blockStorage": {"enabled": True}}}


def _network_config(options: Mapping[str, Any]) -> dict[str, Any] | None:
    range_, family = options.get("kubernetesServiceIpAddressRange"), options.get("ipFamily")
    if range_ is None and family is None and not is_auto(options):
        return None
    config = {
        "ipFamily": family or "ipv4",
        "serviceIpv4Cidr": None if family == "ipv6" else range_,
        "elasticLoadBalancing": {"enabled": True} if is_auto(options) else None,
    }
    return {key: value for key, value in config.items() if value is not None}


def _encryption_config(options: Mapping[str, Any]) -> dict[str, Any] | None:
    key = options.get("encryptionConfigKeyArn")
    return None if key is None else {"provider": {"keyArn": key}, "resources": ["secrets"]}


def _access_config(options: Mapping[str, Any]) -> dict[str, Any] | None:
    mode = options.get("authenticationMode")
    return None if mode is None else {"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True}
