"""Who may use a cluster: access entries and the `aws-auth` ConfigMap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi
import yaml

from sandbox.providers.eks.options import uses_access_entries, uses_config_map
from sandbox.providers.eks.resources import Child, KubernetesProvider, output_of

_ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
_ASSOCIATION: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
_NODE_ROLE: Final = "defaultNodeGroupInstanceRole"


def access_entries(
    name: str,
    options: Mapping[str, Any],
    cluster: Child,
    node_role: pulumi.Input[Child] | None,
    parent: pulumi.Resource,
) -> list[pulumi.Resource]:
    """Make the entries that `options` list, and one for the instance role that the component made."""
    if not uses_access_entries(options.get("authenticationMode")):
        return []
    entries: dict[str, Any] = {}
    if node_role is not None:
        entries[_NODE_ROLE] = {"principalArn": output_of(node_role, "arn"), "type": "EC2_LINUX"}
    entries |= options.get("accessEntries") or {}
    return [_entry(f"{name}-{key}", entry, cluster, parent) for key, entry in entries.items()]


def _entry(name: str, entry: Mapping[str, Any], cluster: Child, parent: pulumi.Resource) -> Child:
    own = ("principalArn", "kubernetesGroups", "tags", "type")
    properties = {key: entry.get(key) for key in own} | {"clusterName": cluster.output("name")}
    properties["userName"] = entry.get("username")
    made = Child(_ENTRY, name, properties, pulumi.ResourceOptions(parent=parent, depends_on=[cluster]))
    for key, association in (entry.get("accessPolicies") or {}).items():
        policy = {
            "accessScope": association["accessScope"],
            "policyArn": association["policyArn"],
            "principalArn": entry["principalArn"],
            "clusterName": cluster.output("name"),
        }
        Child(_ASSOCIATION, f"{name}-{key}", policy, pulumi.ResourceOptions(parent=made, depends_on=[made]))
    return made


def node_access(
    name: str,
    options: Mapping[str, Any],
    roles: pulumi.Input[Sequence[pulumi.Input[Child]]],
    provider: KubernetesProvider,
    parent: pulumi.Resource,
) -> list[pulumi.Resource]:
    """Make the `aws-auth` ConfigMap if the cluster reads one."""
    if not uses_config_map(options.get("authenticationMode")):
        return []
    arns: pulumi.Output[list[str]] = pulumi.Output.from_input(roles).apply(
        lambda found: pulumi.Output.all(*(output_of(role, "arn") for role in found))
    )
    mappings = pulumi.Output.from_input(options.get("roleMappings"))
    users = pulumi.Output.from_input(options.get("userMappings"))
    metadata = {"name": "aws-auth", "namespace": "kube-system", "annotations": {"pulumi.com/patchForce": "true"}}
    properties = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "immutable": False,
        "metadata": metadata,
        "data": pulumi.Output.all(mappings, arns, users).apply(lambda found: _data(*found)),
    }
    opts = pulumi.ResourceOptions(parent=parent, provider=provider)
    return [Child("kubernetes:core/v1:ConfigMap", f"{name}-nodeAccess", properties, opts)]


def _data(
    mappings: Sequence[Mapping[str, Any]] | None, node_roles: Sequence[str], users: Sequence[Mapping[str, Any]] | None
) -> dict[str, str]:
    data = {"mapRoles": _map_roles(mappings or (), node_roles)}
    if users is None:
        return data
    mapped = [{"userarn": each["userArn"], "username": each["username"], "groups": each["groups"]} for each in users]
    return {**data, "mapUsers": yaml.safe_dump(mapped, sort_keys=False)}


def _map_roles(mappings: Sequence[Mapping[str, Any]], node_roles: Sequence[str]) -> str:
    given = [{"rolearn": each["roleArn"], "username": each["username"], "groups": each["groups"]} for each in mappings]
    groups = ["system:bootstrappers", "system:nodes"]
    nodes = [{"rolearn": arn, "username": "system:node:{{EC2PrivateDNSName}}", "groups": groups} for arn in node_roles]
    return yaml.safe_dump(given + nodes, sort_keys=False)
