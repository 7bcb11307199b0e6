"""The security groups of a cluster and its nodes, and the rules between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.eks.resources import Child

_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
_RULE: Final = "aws:ec2/securityGroupRule:SecurityGroupRule"
_EVERYTHING: Final = {"protocol": "-1", "fromPort": 0, "toPort": 0}
_HTTPS: Final = {"protocol": "tcp", "fromPort": 443, "toPort": 443}
_KUBELETS: Final = {"protocol": "tcp", "fromPort": 1025, "toPort": 65535}
_ANYWHERE: Final = {"cidrBlocks": ["0.0.0.0/0"]}


def cluster_security_group(name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions) -> Child:
    """Make the control plane's own group, which may reach everything."""
    tags = merged_tags({"Name": f"{name}-eksClusterSecurityGroup"}, options, "clusterSecurityGroupTags")
    properties = {"vpcId": options["vpcId"], "revokeRulesOnDelete": True, "tags": tags}
    group = Child(_GROUP, f"{name}-eksClusterSecurityGroup", properties, opts)
    rule = {"type": "egress", "description": "Allow internet access.", "securityGroupId": group.id}
    Child(_RULE, f"{name}-eksClusterInternetEgressRule", {**rule, **_EVERYTHING, **_ANYWHERE}, opts)
    return group


def node_security_group(
    name: str,
    options: Mapping[str, Any],
    cluster_name: pulumi.Output[str],
    cluster_group: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> tuple[Child, Child]:
    """Make the nodes' group and its rules; return it with the rule that lets nodes reach the API server."""
    owned = cluster_name.apply(lambda found: {f"kubernetes.io/cluster/{found}": "owned"})
    tags = pulumi.Output.all(
        owned, merged_tags({"Name": f"{name}-nodeSecurityGroup"}, options, "nodeSecurityGroupTags")
    )
    properties = {
        "vpcId": options["vpcId"],
        "revokeRulesOnDelete": True,
        "tags": tags.apply(lambda both: {**both[0], **both[1]}),
    }
    group = Child(_GROUP, f"{name}-nodeSecurityGroup", properties, opts)
    rules: dict[str, dict[str, Any]] = {
        "eksNodeIngressRule": {"type": "ingress", **_EVERYTHING, "self": True, "securityGroupId": group.id},
        "eksNodeClusterIngressRule": {"type": "ingress", **_KUBELETS, **_between(group.id, cluster_group)},
        "eksExtApiServerClusterIngressRule": {"type": "ingress", **_HTTPS, **_between(group.id, cluster_group)},
        "eksNodeInternetEgressRule": {"type": "egress", **_EVERYTHING, **_ANYWHERE, "securityGroupId": group.id},
        "eksClusterIngressRule": {"type": "ingress", **_HTTPS, **_between(cluster_group, group.id)},
    }
    made = {suffix: Child(_RULE, f"{name}-{suffix}", rule, opts) for suffix, rule in rules.items()}
    return group, made["eksClusterIngressRule"]


def merged_tags(own: Mapping[str, str], options: Mapping[str, Any], extra: str) -> pulumi.Output[dict[str, str]]:
    """Return the component's tags over those of the option `extra` over `own`."""
    given = pulumi.Output.all(options.get(extra), options.get("tags"))
    return given.apply(lambda tags: {**own, **(tags[0] or {}), **(tags[1] or {})})


def _between(group: pulumi.Input[str], source: pulumi.Input[str]) -> dict[str, pulumi.Input[str]]:
    return {"securityGroupId": group, "sourceSecurityGroupId": source}
