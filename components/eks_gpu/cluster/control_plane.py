"""Cluster: an EKS control plane with nothing in it that floats.

Builds
    Key            encrypts Kubernetes Secrets; rotated every year
    LogGroup       keeps the control plane's logs for a stated time; EKS on its own keeps them for ever
    eks.Cluster    the control plane: private endpoint, access by access entries, all logs
    Provider       the Kubernetes provider of everything that is put in
    AccessEntry    one for each administrator besides the creator, with the policy that makes it one

Needs
    A network, and the ``aws`` command where Pulumi runs: tokens for the API server come from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

from eks_gpu.cluster.network_connection import NetworkConnection
from eks_gpu.facts import iam
from eks_gpu.facts import network as facts
from eks_gpu.foundation.arguments import Problem, missing_entries, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.settings.cluster import EndpointAccess, ExistingCluster, NewCluster

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""Every kind of control-plane log (EKS API, ``LogSetup.types``, checked 2026-11-21)."""

_KEY_DELETION_DAYS: Final = 30
"""The longest delay: with the key every Secret of the cluster is gone."""

_CLUSTER_NAME: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")


class EndpointArgs(TypedDict):
    """Arguments of ``eks.Cluster`` that decide from where the API server may be reached."""

    endpoint_private_access: bool
    endpoint_public_access: bool
    public_access_cidrs: NotRequired[list[str]]


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """What a cluster is built from."""

    settings: NewCluster
    """Version and access."""

    network: NetworkConnection
    """The network it is put into."""

    administrators: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """ARNs of roles and users that the program makes itself and that may do everything in the cluster, by a plain key,
    besides those in the settings. Never whoever creates the cluster."""

    cluster_name: str | None = None
    """Name by which ``aws eks update-kubeconfig``, log groups and tags know it; the project's and the stack's name by
    default. Fixed, because EKS writes logs to a group of that name."""

    protected: bool = False
    """Refuse to delete the cluster, at AWS and in Pulumi. For production."""


class Cluster(Component):
    """An EKS control plane."""

    connection: ClusterConnection
    """What others need to know of it."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the key and the log group, then the control plane that uses them."""
        cluster_name = args.cluster_name or f"{pulumi.get_project()}-{pulumi.get_stack()}"
        refuse(_problems(args, cluster_name), component=name)
        super().__init__(name, opts)
        key = self._secrets_key(args)
        logs = self._log_group(args, cluster_name)
        control_plane = self._control_plane(args, cluster_name, key, logs)
        connection = ClusterConnection.from_eks(
            self.child_name("kubernetes"),
            control_plane,
            version=args.settings.version,
            vpc_id=args.network.vpc_id,
            private_subnets=args.network.private_subnets,
            opts=self.child_opts(),
        )
        self._administrators(args, connection)
        self.connection = connection.within(isolated=args.network.isolated).after(*args.network.ready)
        self.register_outputs({"name": self.connection.name})

    def _secrets_key(self, args: ClusterArgs) -> aws.kms.Key:
        return aws.kms.Key(
            self.child_name("secrets-key"),
            description="Encrypts the Secrets of a Kubernetes cluster",
            enable_key_rotation=True,
            deletion_window_in_days=_KEY_DELETION_DAYS,
            opts=self.child_opts(protect=args.protected or None),
        )

    def _log_group(self, args: ClusterArgs, cluster_name: str) -> aws.cloudwatch.LogGroup:
        return aws.cloudwatch.LogGroup(
            self.child_name("logs"),
            name=log_group_name(cluster_name),
            retention_in_days=args.settings.log_retention_days,
            opts=self.child_opts(),
        )

    def _control_plane(
        self, args: ClusterArgs, cluster_name: str, key: aws.kms.Key, logs: aws.cloudwatch.LogGroup
    ) -> eks.Cluster:
        """Define the control plane with every default that floats switched off.

        Left on, the component would add node groups and security groups of its own and install the newest version of
        each add-on at every ``up``. The OIDC provider stays off: Pod Identity needs none.
        """
        return eks.Cluster(
            self.child_name("control-plane"),
            name=cluster_name,
            version=args.settings.version,
            vpc_id=args.network.vpc_id,
            private_subnet_ids=control_plane_subnets(args.network.private_subnets),
            authentication_mode=eks.AuthenticationMode.API,
            encryption_config_key_arn=key.arn,
            enabled_cluster_log_types=list(LOG_TYPES),
            deletion_protection=args.protected,
            # The alternative upgrades the cluster by itself when support ends, under nodes whose images are pinned.
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type="EXTENDED"),
            bootstrap_self_managed_addons=False,
            use_default_vpc_cni=True,
            kube_proxy_addon_options=eks.KubeProxyAddonOptionsArgs(enabled=False),
            coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=False),
            skip_default_node_group=True,
            skip_default_security_groups=True,
            create_instance_role=False,
            create_oidc_provider=False,
            **endpoint(args.settings.endpoint_access),
            opts=self.child_opts(depends_on=[logs], protect=args.protected or None),
        )

    def _administrators(self, args: ClusterArgs, cluster: ClusterConnection) -> None:
        """Let further principals in. Without any, only the deployer does, and with its role the cluster is lost."""
        partition = facts.partition_of(facts.region_of(cluster.zones[0]))
        for key, arn in {**args.settings.administrators, **args.administrators}.items():
            entry = aws.eks.AccessEntry(
                self.child_name(f"administrator-{key}"),
                cluster_name=cluster.name,
                principal_arn=arn,
                opts=self.child_opts(),
            )
            aws.eks.AccessPolicyAssociation(
                self.child_name(f"administrator-{key}-policy"),
                cluster_name=cluster.name,
                principal_arn=entry.principal_arn,
                policy_arn=iam.access_policy_arn(iam.CLUSTER_ADMIN, partition),
                access_scope={"type": "cluster"},
                opts=self.child_opts(),
            )


def connect(
    name: str,
    settings: NewCluster | ExistingCluster,
    network: NetworkConnection,
    *,
    protected: bool = False,
    opts: pulumi.ResourceOptions | None = None,
) -> ClusterConnection:
    """Return the cluster that the ``cluster`` block asks for: a new one called ``name``, or the one that exists."""
    if isinstance(settings, NewCluster):
        return Cluster(name, ClusterArgs(settings=settings, network=network, protected=protected), opts).connection
    found = ClusterConnection.lookup(
        f"{name}-kubernetes",
        settings.existing.name,
        version=settings.existing.version,
        private_subnets=network.private_subnets,
        opts=opts,
    )
    if settings.existing.cni_uses_node_role:
        found = found.with_cni_on_node_role()
    return found.within(isolated=network.isolated).after(*network.ready)


def control_plane_subnets(private: Mapping[str, pulumi.Input[str]]) -> list[pulumi.Input[str]]:
    """Return the subnets that the control plane has interfaces in: those of the first zones, in the order given.

    Two and not all, because EKS refuses a further zone for a control plane that exists; so a zone that is added for
    nodes leaves it alone. Nodes of any zone of the VPC reach it.
    """
    return list(private.values())[: facts.CONTROL_PLANE_ZONES]


def endpoint(access: EndpointAccess) -> EndpointArgs:
    """Return the arguments that decide from where the API server may be reached: from the VPC always."""
    if not access.public_cidrs:
        return {"endpoint_private_access": True, "endpoint_public_access": False}
    return {
        "endpoint_private_access": True,
        "endpoint_public_access": True,
        "public_access_cidrs": list(access.public_cidrs),
    }


def log_group_name(cluster_name: str) -> str:
    """Return the name of the log group that EKS writes a cluster's control-plane logs to."""
    return f"/aws/eks/{cluster_name}/cluster"


def _problems(args: ClusterArgs, cluster_name: str) -> list[Problem]:
    problems = missing_entries(args.network, "private_subnets", under="network")
    problems += missing_entries(args, "administrators") if args.administrators else []
    problems += [
        Problem(f"administrators.{key}", "is also in the settings; name one of the two differently")
        for key in args.administrators
        if key in args.settings.administrators
    ]
    if not _CLUSTER_NAME.fullmatch(cluster_name):
        problems.append(
            Problem(
                "cluster_name",
                f"{cluster_name!r} is no cluster name; give up to 100 letters, digits, hyphens and underscores that "
                "start with a letter or digit",
            )
        )
    return problems
