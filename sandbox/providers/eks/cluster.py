"""The component `eks:index:Cluster`, with the children, names and outputs of the real one.

Read from pulumi-eks nodejs/eks/cluster/cluster.ts (2026-08-12, after v4.3.0). It does not wait for the API server, does
not look for the `aws` program, and does not ask AWS for add-on versions or the issuer's certificate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.eks.access import access_entries, node_access
from sandbox.providers.eks.addons import make_addons
from sandbox.providers.eks.control_plane import auto_node_role, control_plane, network, service_role
from sandbox.providers.eks.instance_roles import InstanceRoles, instance_roles
from sandbox.providers.eks.kubeconfig import kubeconfig
from sandbox.providers.eks.options import has_default_nodes, is_auto, refuse
from sandbox.providers.eks.resources import Child, KubernetesProvider, output_of
from sandbox.providers.eks.security_groups import cluster_security_group, node_security_group
from sandbox.providers.eks.self_managed import Group, mistakes, node_group
from sandbox.providers.eks.storage_classes import storage_classes
from sandbox.providers.eks.surroundings import Surroundings

TOKEN: Final = "eks:index:Cluster"  # noqa: S105 - a type token
# The thumbprint is no longer checked by AWS for EKS issuers; the real component reads the issuer's certificate for it.
_THUMBPRINT: Final = "9e99a48a9960b14926bb7f3b02e22da2b0ab7280"
# What the options of a default node group are called on the cluster, where that is another name.
_OWN_NAMES: Final = {"amiId": "nodeAmiId"}
_NODE_OPTIONS: Final = (
    "amiId",
    "desiredCapacity",
    "gpu",
    "instanceProfileName",
    "instanceType",
    "maxSize",
    "minSize",
    "nodeAssociatePublicIpAddress",
    "nodePublicKey",
    "nodeRootVolumeEncrypted",
    "nodeRootVolumeSize",
    "nodeSubnetIds",
    "nodeUserData",
    "version",
)


class Cluster(pulumi.ComponentResource):
    """A control plane with its role, security groups, access, add-ons, Kubernetes provider and default nodes."""

    def __init__(self, name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the cluster `name` from options that `options.judge` has passed."""
        super().__init__(TOKEN, name, dict(options), opts)
        self._name = name
        self._child = pulumi.ResourceOptions(parent=self)
        vpc, self._subnets = network(options, self)
        self._options = options = {**options, "vpcId": vpc}
        if has_default_nodes(options):
            refuse(TOKEN, mistakes(_node_options(options)))
        self._group: pulumi.Input[Child] | None = options.get("clusterSecurityGroup")
        self._own_groups = not options.get("skipDefaultSecurityGroups", is_auto(options))
        if self._group is None and self._own_groups:
            self._group = cluster_security_group(name, options, self._child)
        role, auto_role = self._control_plane()
        roles = instance_roles(name, options, self._child)
        config = self._kubeconfig()
        provider = self._kubernetes(config)
        config_maps = node_access(name, options, roles.every, provider, self)
        authorised = [*access_entries(name, options, self._cluster, roles.default, self), *config_maps]
        class_opts = pulumi.ResourceOptions(parent=self, provider=provider, depends_on=authorised)
        classes = storage_classes(name, options.get("storageClasses"), class_opts)
        cni = make_addons(name, options, self._cluster, authorised, self)
        core = {
            "vpcId": vpc,
            "subnetIds": self._subnets,
            "publicSubnetIds": options.get("publicSubnetIds"),
            "privateSubnetIds": options.get("privateSubnetIds"),
            "clusterSecurityGroup": self._group,
            "cluster": self._cluster,
            "endpoint": self._cluster.output("endpoint"),
            "kubeconfig": config,
            "provider": provider,
            "vpcCni": cni,
            "instanceRoles": roles.every,
            "eksNodeAccess": config_maps[0] if config_maps else None,
            "tags": options.get("tags"),
            "nodeSecurityGroupTags": options.get("nodeSecurityGroupTags"),
            "storageClasses": classes,
            "clusterIamRole": role,
            "oidcProvider": self._oidc_provider(),
            "accessEntries": list((options.get("accessEntries") or {}).values()),
            "autoModeNodeRoleName": auto_role.output("name") if auto_role else "",
        }
        self.outputs = self._outputs(core, roles)
        self.register_outputs(self.outputs)

    def _control_plane(self) -> tuple[pulumi.Input[Child], Child | None]:
        """Make the `aws` cluster; return its role, and that of the nodes of EKS Auto Mode."""
        role, before = service_role(self._name, self._options, self._child)
        auto_role = auto_node_role(self._name, self._options, self._child)
        given = {
            "roleArn": output_of(role, "arn"),
            "subnetIds": self._subnets,
            "securityGroupIds": [output_of(self._group, "id")] if self._group is not None else None,
        }
        if auto_role is not None:
            before = [*before, auto_role.role, *auto_role.attachments]
        opts = pulumi.ResourceOptions(parent=self, depends_on=before)
        self._cluster = control_plane(self._name, self._options, given, auto_role, opts)
        return role, auto_role.role if auto_role else None

    def _kubernetes(self, config: pulumi.Output[dict[str, Any]]) -> KubernetesProvider:
        mutable = self._options.get("enableConfigMapMutable")
        settings = {"kubeconfig": config.apply(json.dumps), "enableConfigMapMutable": mutable}
        return KubernetesProvider(f"{self._name}-eks-k8s", settings, self._child)

    def _kubeconfig(self) -> pulumi.Output[dict[str, Any]]:
        fields = ("name", "arn", "endpoint", "certificateAuthority")
        known = pulumi.Output.all(
            credentials=self._options.get("providerCredentialOpts"),
            **{field: self._cluster.output(field) for field in fields},
        )
        return known.apply(lambda found: kubeconfig(found, found["credentials"]))

    def _oidc_provider(self) -> Child | None:
        if not self._options.get("createOidcProvider"):
            return None
        properties = {
            "clientIdLists": ["sts.amazonaws.com"],
            "url": self._issuer(),
            "thumbprintLists": [_THUMBPRINT],
        }
        token = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"  # noqa: S105 - a type token
        return Child(token, f"{self._name}-oidcProvider", properties, self._child)

    def _issuer(self) -> pulumi.Output[str]:
        return self._cluster.output("identities").apply(lambda found: found[0]["oidcs"][0]["issuer"])

    def _default_nodes(self, core: Mapping[str, Any]) -> Group | None:
        if not has_default_nodes(self._options):
            return None
        before = [each for each in (core["vpcCni"], core["eksNodeAccess"]) if each is not None]
        around = Surroundings(control_plane=self._cluster.output, core=core.get, before=before)
        return node_group(self._name, core["nodeGroupOptions"], around, self)

    def _outputs(self, core: dict[str, Any], roles: InstanceRoles) -> dict[str, Any]:
        aws_group = self._cluster.output("vpcConfig").apply(lambda found: found["clusterSecurityGroupId"])
        group: pulumi.Input[str] = output_of(self._group, "id") if self._group is not None else aws_group
        node_security, rule = None, None
        if self._own_groups:
            name = self._cluster.output("name")
            node_security, rule = node_security_group(self._name, self._options, name, group, self._child)
        made = {"instanceProfile": roles.profile, "nodeSecurityGroup": node_security, "clusterIngressRule": rule}
        core["nodeGroupOptions"] = _node_options(self._options) | _given(made)
        nodes = self._default_nodes(core)
        oidc = core["oidcProvider"]
        outputs = {
            "kubeconfig": core["kubeconfig"],
            "kubeconfigJson": core["kubeconfig"].apply(json.dumps),
            "clusterSecurityGroup": self._group,
            "clusterSecurityGroupId": group,
            "nodeSecurityGroup": node_security,
            "nodeSecurityGroupId": node_security.id if node_security else aws_group,
            "eksClusterIngressRule": rule,
            "clusterIngressRuleId": rule.output("securityGroupRuleId") if rule else "",
            "instanceRoles": core["instanceRoles"],
            "eksCluster": self._cluster,
            "core": _given(core),
            "defaultNodeGroup": nodes.outputs() if nodes else None,
            "defaultNodeGroupAsgName": nodes.scaling.output("name") if nodes else "",
            "fargateProfileId": "",
            "fargateProfileStatus": "",
            "oidcProviderArn": oidc.output("arn") if oidc else "",
            "oidcProviderUrl": self._issuer(),
            "oidcIssuer": self._issuer().apply(lambda url: url.removeprefix("https://")),
            "autoModeNodeRoleName": core["autoModeNodeRoleName"],
        }
        return _given(outputs)


def _node_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the default node group: those given together, else the cluster's own."""
    together = options.get("nodeGroupOptions")
    if together is not None:
        return dict(together)
    return _given({each: options.get(_OWN_NAMES.get(each, each)) for each in _NODE_OPTIONS})


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
