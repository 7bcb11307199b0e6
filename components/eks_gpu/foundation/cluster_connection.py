"""What a component needs to know of a cluster, whoever built it.

Components take a :class:`ClusterConnection` and nothing else of the cluster, so that they work the same on a cluster
of ours, on one made with ``pulumi_eks`` or ``pulumi_aws``, and on one that existed before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s

_EXEC_API = "client.authentication.k8s.io/v1beta1"
"""The credential plugin API that ``aws eks get-token`` speaks (AWS CLI 2, checked 2026-11-21)."""


@dataclass(frozen=True, kw_only=True)
class ClusterConnection:
    """An EKS cluster that things can be put into."""

    version: str
    """Kubernetes minor version, such as ``"1.35"``. Plain, because it decides versions of add-ons and images."""

    private_subnets: Mapping[str, pulumi.Input[str]]
    """Private subnet ids by availability zone name; nodes, mount targets and endpoints go there."""

    name: pulumi.Input[str]
    """Name of the cluster."""

    arn: pulumi.Input[str]
    """ARN of the cluster; it holds partition, region and account."""

    endpoint: pulumi.Input[str]
    """URL of the API server."""

    certificate_authority: pulumi.Input[str]
    """Certificate authority of the API server: base64 of the PEM text, as EKS returns it."""

    security_group_id: pulumi.Input[str]
    """The cluster security group that EKS made: control plane and managed nodes are in it and may talk freely."""

    vpc_id: pulumi.Input[str]
    """The VPC that the cluster lives in."""

    provider: k8s.Provider
    """Kubernetes provider of this cluster."""

    oidc_provider_arn: pulumi.Input[str] | None = None
    """ARN of the IAM OIDC provider of the cluster; ``None`` where there is none, because ours use Pod Identity."""

    cni_uses_node_role: bool = False
    """Whether the VPC CNI has no identity of its own and works with the rights of the node it is on, as it does in many
    clusters that exist. Nodes then get its policy; without one or the other none of them ever becomes ready."""

    isolated: bool = False
    """Whether nodes have no way to the internet: then services of AWS without an endpoint, IAM and pricing among them,
    are out of their reach. Plain, because it decides how controllers are told to work."""

    ready: tuple[pulumi.Resource, ...] = ()
    """What must exist before something is put in: access for the deployer, add-ons, system nodes."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Availability zones that the cluster has a private subnet in, in the order given."""
        return tuple(self.private_subnets)

    def within(self, *, isolated: bool) -> Self:
        """Return the same connection, said to be in a network with or without a way to the internet."""
        return replace(self, isolated=isolated)

    def with_cni_on_node_role(self) -> Self:
        """Return the same connection, said to have a VPC CNI without an identity of its own."""
        return replace(self, cni_uses_node_role=True)

    def after(self, *resources: pulumi.Resource) -> Self:
        """Return the same connection, ready only when ``resources`` exist as well."""
        return replace(self, ready=(*self.ready, *resources))

    @classmethod
    def from_eks(  # noqa: PLR0913 - what a cluster does not tell about itself, keyword-only
        cls,
        name: str,
        cluster: eks.Cluster,
        *,
        version: str,
        vpc_id: pulumi.Input[str],
        private_subnets: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> Self:
        """Return the connection to a cluster made with ``pulumi_eks``.

        ``name`` is the logical name of the Kubernetes provider, ``opts`` its options (parent, aliases).
        The component's own provider is not used: it is replaced, and with it everything in the cluster,
        whenever the text of its kubeconfig changes.
        """
        control_plane = cluster.eks_cluster
        return cls._connect(
            name,
            control_plane,
            version=version,
            vpc_id=vpc_id,
            private_subnets=private_subnets,
            certificate_authority=control_plane.certificate_authority.data,
            ready=(cluster,),
            opts=opts,
        )

    @classmethod
    def from_aws(  # noqa: PLR0913 - what a cluster does not tell about itself, keyword-only
        cls,
        name: str,
        cluster: aws.eks.Cluster,
        *,
        version: str,
        vpc_id: pulumi.Input[str],
        private_subnets: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> Self:
        """Return the connection to a cluster made with ``pulumi_aws``; parameters as for :meth:`from_eks`."""
        return cls._connect(
            name,
            pulumi.Output.from_input(cluster),
            version=version,
            vpc_id=vpc_id,
            private_subnets=private_subnets,
            certificate_authority=cluster.certificate_authority.data,
            ready=(cluster,),
            opts=opts,
        )

    @classmethod
    def lookup(
        cls,
        name: str,
        cluster_name: pulumi.Input[str],
        *,
        version: str,
        private_subnets: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> Self:
        """Return the connection to a cluster that exists already, by its name in the account and region in use.

        ``opts`` are the options of the Kubernetes provider; an AWS provider among them is the one that is asked.
        Fails, when the cluster is read, if it runs another Kubernetes version than ``version``: versions of add-ons
        are chosen by it before the cluster is asked.
        """
        cluster = aws.eks.get_cluster_output(name=cluster_name, opts=_invoke_options(opts))
        # Beside the values and not on the way to them: each value that hangs on a failed check would report it again.
        pulumi.Output.all(cluster_name, cluster.version).apply(lambda found: _check_version(*found, stated=version))
        return cls._connect(
            name,
            cluster,
            version=version,
            vpc_id=cluster.vpc_config.vpc_id,
            private_subnets=private_subnets,
            certificate_authority=cluster.certificate_authorities[0].data,
            ready=(),
            opts=opts,
        )

    @classmethod
    def _connect(  # noqa: PLR0913 - the three constructors meet here
        cls,
        name: str,
        cluster: pulumi.Output[Any],
        *,
        version: str,
        vpc_id: pulumi.Input[str],
        private_subnets: Mapping[str, pulumi.Input[str]],
        certificate_authority: pulumi.Input[str],
        ready: tuple[pulumi.Resource, ...],
        opts: pulumi.ResourceOptions | None,
    ) -> Self:
        text = pulumi.Output.all(
            name=cluster.name, arn=cluster.arn, endpoint=cluster.endpoint, certificate_authority=certificate_authority
        ).apply(lambda known: json.dumps(kubeconfig(**known)))
        provider = k8s.Provider(
            name,
            kubeconfig=text,
            cluster_identifier=cluster.arn,
            enable_server_side_apply=True,
            opts=_without_providers(opts),
        )
        return cls(
            version=version,
            private_subnets=dict(private_subnets),
            name=cluster.name,
            arn=cluster.arn,
            endpoint=cluster.endpoint,
            certificate_authority=certificate_authority,
            security_group_id=cluster.vpc_config.cluster_security_group_id,
            vpc_id=vpc_id,
            provider=provider,
            ready=ready,
        )


def kubeconfig(name: str, arn: str, endpoint: str, certificate_authority: str) -> dict[str, object]:
    """Return a kubeconfig that asks the ``aws`` command for a token each time, so that it holds no secret."""
    region = arn.split(":")[3]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": endpoint, "certificate-authority-data": certificate_authority}}
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
        "users": [
            {
                "name": name,
                "user": {
                    "exec": {
                        "apiVersion": _EXEC_API,
                        "command": "aws",
                        "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
                        "interactiveMode": "Never",
                    }
                },
            }
        ],
    }


def _invoke_options(opts: pulumi.ResourceOptions | None) -> pulumi.InvokeOutputOptions:
    """Return the options by which the same parent and AWS provider answer a look-up as would make a resource."""
    if opts is None:
        return pulumi.InvokeOutputOptions()
    return pulumi.InvokeOutputOptions(parent=opts.parent, provider=_aws_provider(opts))


def _aws_provider(opts: pulumi.ResourceOptions) -> pulumi.ProviderResource | None:
    given = opts.providers or ()
    candidates = [opts.provider, *(given.values() if isinstance(given, Mapping) else given)]
    return next((provider for provider in candidates if isinstance(provider, aws.Provider)), None)


def _without_providers(opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """Return ``opts`` for a provider, which cannot be made by another provider."""
    own = copy(opts) if opts is not None else pulumi.ResourceOptions()
    own.provider = None
    own.providers = None
    return own


def _check_version(name: str, running: str | None, *, stated: str) -> None:
    """Fail the program unless a cluster runs the stated version. ``None``: nobody was there to ask (a recording)."""
    if running is not None and running != stated:
        raise pulumi.RunError(
            f"cluster {name} runs Kubernetes {running}, but version {stated} is stated; state the version that the "
            "cluster runs, because add-ons and images are chosen by it"
        )
