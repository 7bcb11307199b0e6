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
from sandbox.providers.eks.kubeconfig import kubeconfig
from sandbox.providers.eks.resources import Child, KubernetesProvider
from sandbox.providers.eks.security_groups import cluster_security_group, merged_tags, node_security_group
from sandbox.providers.eks.service_role import ServiceRole, trust_policy

TOKEN: Final = "eks:index:Cluster"  # noqa: S105 - a type token
_NODE_POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly")
# The thumbprint is no longer checked by AWS for EKS issuers; the real component reads the issuer's certificate for it.
_THUMBPRINT: Final = "9e99a48a9960b14926bb7f3b02e22da2b0ab7280"
_IGNORED: Final = ["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"]


class Cluster(pulumi.ComponentResource):
    """A control plane with its role, security groups, access, add-ons and Kubernetes provider."""

    def __init__(self, name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the cluster `name` from options that `options.judge` has passed."""
        super().__init__(TOKEN, name, dict(options), opts)
        self._name = name
        self._options = options
        self._child = pulumi.ResourceOptions(parent=self)
        service_role, before = self._service_role()
        self._group: Child | None = options.get("clusterSecurityGroup")
        self._own_groups = not options.get("skipDefaultSecurityGroups")
        if self._group is None and self._own_groups:
            self._group = cluster_security_group(name, options, self._child)
        self._cluster = self._control_plane(service_role, before)
        roles, node_role = self._instance_roles()
        config = self._kubeconfig()
        mutable = options.get("enableConfigMapMutable")
        settings = {"kubeconfig": config.apply(json.dumps), "enableConfigMapMutable": mutable}
        provider = KubernetesProvider(f"{name}-eks-k8s", settings, self._child)
        config_maps = node_access(name, options, roles, provider, self)
        entries = access_entries(name, options, self._cluster, node_role, self)
        cni = make_addons(name, options, self._cluster, [*entries, *config_maps], self)
        core = {
            "vpcId": options["vpcId"],
            "subnetIds": self._subnets(),
            "publicSubnetIds": options.get("publicSubnetIds"),
            "privateSubnetIds": options.get("privateSubnetIds"),
            "clusterSecurityGroup": self._group,
            "cluster": self._cluster,
            "endpoint": self._cluster.output("endpoint"),
            "nodeGroupOptions": {"version": options.get("version")},
            "kubeconfig": config,
            "provider": provider,
            "vpcCni": cni,
            "instanceRoles": roles,
            "eksNodeAccess": config_maps[0] if config_maps else None,
            "tags": options.get("tags"),
            "nodeSecurityGroupTags": options.get("nodeSecurityGroupTags"),
            "storageClasses": {},
            "clusterIamRole": service_role,
            "oidcProvider": self._oidc_provider(),
            "accessEntries": list((options.get("accessEntries") or {}).values()),
            "autoModeNodeRoleName": "",
        }
        self.outputs = self._outputs(core, config)
        self.register_outputs(self.outputs)

    def _service_role(self) -> tuple[Child, list[pulumi.Resource]]:
        """Return the cluster's role and what must exist before the cluster can use it."""
        given = self._options.get("serviceRole")
        if given is not None:
            return given, []
        service = "eks.amazonaws.com"
        properties = {
            "assumeRolePolicy": trust_policy(service, ("sts:AssumeRole", "sts:TagSession")),
            "description": "Allows EKS to manage clusters on your behalf.",
            "tags": self._options.get("tags"),
        }
        made = ServiceRole(f"{self._name}-eksRole", service, ["AmazonEKSClusterPolicy"], properties, self._child)
        return made.role, [made.role, *made.attachments]

    def _subnets(self) -> pulumi.Input[Any]:
        if self._options.get("subnetIds") is not None:
            return self._options["subnetIds"]
        halves = [self._options.get(f"{kind}SubnetIds") or [] for kind in ("public", "private")]
        return pulumi.Output.all(*halves).apply(lambda found: [*found[0], *found[1]])

    def _control_plane(self, role: Child, before: list[pulumi.Resource]) -> Child:
        options = self._options
        vpc_config = {
            "subnetIds": self._subnets(),
            "securityGroupIds": [self._group.id] if self._group else None,
            "endpointPrivateAccess": options.get("endpointPrivateAccess"),
            "endpointPublicAccess": options.get("endpointPublicAccess"),
            "publicAccessCidrs": options.get("publicAccessCidrs"),
        }
        properties = {
            "name": options.get("name"),
            "roleArn": role.output("arn"),
            "version": options.get("version"),
            "vpcConfig": {key: value for key, value in vpc_config.items() if value is not None},
            "kubernetesNetworkConfig": self._network_config(),
            "bootstrapSelfManagedAddons": options.get("bootstrapSelfManagedAddons", True),
            "enabledClusterLogTypes": options.get("enabledClusterLogTypes"),
            "tags": merged_tags({"Name": f"{self._name}-eksCluster"}, options, "clusterTags"),
            "encryptionConfig": self._encryption_config(),
            "accessConfig": self._access_config(),
            "upgradePolicy": options.get("upgradePolicy"),
            "deletionProtection": options.get("deletionProtection"),
        }
        opts = pulumi.ResourceOptions(parent=self, depends_on=before, ignore_changes=_IGNORED)
        return Child("aws:eks/cluster:Cluster", f"{self._name}-eksCluster", properties, opts)

    def _network_config(self) -> dict[str, Any] | None:
        range_, family = self._options.get("kubernetesServiceIpAddressRange"), self._options.get("ipFamily")
        if range_ is None and family is None:
            return None
        config = {"ipFamily": family or "ipv4", "serviceIpv4Cidr": None if family == "ipv6" else range_}
        return {key: value for key, value in config.items() if value is not None}

    def _encryption_config(self) -> dict[str, Any] | None:
        key = self._options.get("encryptionConfigKeyArn")
        return None if key is None else {"provider": {"keyArn": key}, "resources": ["secrets"]}

    def _access_config(self) -> dict[str, Any] | None:
        mode = self._options.get("authenticationMode")
        return None if mode is None else {"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True}

    def _instance_roles(self) -> tuple[list[Child], Child | None]:
        """Return the nodes' roles, and the one that gets an access entry: one given alone, or made here."""
        options = self._options
        if options.get("instanceRoles") is not None:
            return list(options["instanceRoles"]), None
        if options.get("instanceRole") is not None:
            return [options["instanceRole"]], options["instanceRole"]
        if not options.get("createInstanceRole"):
            return [], None
        name = f"{self._name}-instanceRole"
        made = ServiceRole(name, "ec2.amazonaws.com", _NODE_POLICIES, {"tags": options.get("tags")}, self._child)
        profile = {"role": made.role.output("name")}
        Child("aws:iam/instanceProfile:InstanceProfile", f"{self._name}-instanceProfile", profile, self._child)
        return [made.role], made.role

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

    def _outputs(self, core: dict[str, Any], config: pulumi.Output[dict[str, Any]]) -> dict[str, Any]:
        aws_group = self._cluster.output("vpcConfig").apply(lambda found: found["clusterSecurityGroupId"])
        group: pulumi.Input[str] = self._group.id if self._group else aws_group
        node_group, rule = None, None
        if self._own_groups:
            node_group, rule = node_security_group(self._name, self._options, self._cluster, group, self._child)
        oidc = core["oidcProvider"]
        outputs = {
            "kubeconfig": config,
            "kubeconfigJson": config.apply(json.dumps),
            "clusterSecurityGroup": self._group,
            "clusterSecurityGroupId": group,
            "nodeSecurityGroup": node_group,
            "nodeSecurityGroupId": node_group.id if node_group else aws_group,
            "eksClusterIngressRule": rule,
            "clusterIngressRuleId": rule.output("securityGroupRuleId") if rule else "",
            "instanceRoles": core["instanceRoles"],
            "eksCluster": self._cluster,
            "core": {key: value for key, value in core.items() if value is not None},
            "defaultNodeGroupAsgName": "",
            "fargateProfileId": "",
            "fargateProfileStatus": "",
            "oidcProviderArn": oidc.output("arn") if oidc else "",
            "oidcProviderUrl": self._issuer(),
            "oidcIssuer": self._issuer().apply(lambda url: url.removeprefix("https://")),
            "autoModeNodeRoleName": "",
        }
        return {key: value for key, value in outputs.items() if value is not None}
