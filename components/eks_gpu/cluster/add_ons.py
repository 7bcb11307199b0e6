"""EKS add-ons, each at the exact version for the cluster's Kubernetes version.

Two components, because the nodes come between them:

``NodeAddOns``
    what a node needs to become ready and its pods to get an identity: VPC CNI, kube-proxy, Pod Identity agent. All are
    DaemonSets, so that EKS calls them active while there is no node yet.
``AddOns``
    what needs nodes to run on: CoreDNS, EBS and EFS CSI drivers, node monitoring agent. Made before there are nodes,
    they would keep the deployment waiting and fail it. With the EBS driver comes a StorageClass, because a claim that
    names none would otherwise stay unbound.

An add-on that calls AWS has a Pod Identity of its own; the role of the nodes can do none of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from eks_gpu.facts import iam, namespaces, network, storage, taints, versions
from eks_gpu.facts.chart_defaults.node_agents import DCGM_TOLERATIONS
from eks_gpu.facts.namespaces import ServiceAccount
from eks_gpu.facts.versions import AddOn
from eks_gpu.foundation.arguments import Problem, missing, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.pod_identity import PodIdentity, PodIdentityArgs


class AddOnInputs(TypedDict):
    """The inputs of ``aws.eks.Addon`` that are decided here."""

    addon_name: str
    addon_version: str
    resolve_conflicts_on_create: str
    resolve_conflicts_on_update: str
    configuration_values: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class AddOnsArgs:
    """What add-ons are installed into."""

    cluster: ClusterConnection
    """The cluster. Add-ons come after everything in its ``ready``."""

    controllers_on: Mapping[str, str] = field(default_factory=dict)
    """Labels of the nodes that controllers run on, such as those of the system nodes. Without any they run wherever no
    taint keeps them off, as EKS installs them. Of no meaning to ``NodeAddOns``, which run on every node."""


class _Installer(Component):
    """How either component installs an add-on."""

    ready: tuple[pulumi.Resource, ...]
    """The add-ons, and what comes with them: what needs them depends on these."""

    def _add_on(
        self,
        args: AddOnsArgs,
        builds: Mapping[str, AddOn],
        *,
        configuration: Mapping[str, object] | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
    ) -> aws.eks.Addon:
        inputs = add_on_inputs(builds[args.cluster.version], configuration)
        return aws.eks.Addon(
            self.child_name(inputs["addon_name"]),
            cluster_name=args.cluster.name,
            **inputs,
            opts=self.child_opts(depends_on=(*args.cluster.ready, *depends_on)),
        )

    def _identity(self, args: AddOnsArgs, suffix: str, account: ServiceAccount, policy: str) -> PodIdentity:
        """Define the AWS identity of an add-on's pods. It comes first: without it their first calls are refused."""
        partition = network.partition_of(network.region_of(args.cluster.zones[0]))
        return PodIdentity(
            self.child_name(suffix),
            PodIdentityArgs(
                cluster_name=args.cluster.name,
                namespace=account.namespace,
                service_account=account.name,
                managed_policies={"driver": iam.managed_policy_arn(policy, partition)},
            ),
            self.child_opts(),
        )


class NodeAddOns(_Installer):
    """What a node needs to become ready, and its pods to get an identity."""

    def __init__(self, name: str, args: AddOnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the identity agent, the CNI with its identity, then kube-proxy."""
        refuse(_problems(args, versions.POD_IDENTITY_AGENT, versions.VPC_CNI, versions.KUBE_PROXY), component=name)
        super().__init__(name, opts)
        agent = self._add_on(args, versions.POD_IDENTITY_AGENT)
        identity = self._identity(args, "vpc-cni-identity", namespaces.VPC_CNI_NODE, iam.VPC_CNI)
        cni = self._add_on(args, versions.VPC_CNI, depends_on=(agent, *identity.ready))
        proxy = self._add_on(args, versions.KUBE_PROXY)
        self.ready = (agent, cni, proxy)
        self.register_outputs({})


class AddOns(_Installer):
    """What runs on system nodes, and on every node by their doing: DNS, volumes, health."""

    def __init__(self, name: str, args: AddOnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define DNS, the volume drivers with their identities, then the watch over the nodes' health."""
        installed = (versions.COREDNS, versions.EBS_CSI, versions.EFS_CSI, versions.NODE_MONITORING_AGENT)
        refuse(_problems(args, *installed), component=name)
        super().__init__(name, opts)
        dns = self._add_on(args, versions.COREDNS, configuration=dns_configuration(args.controllers_on))
        ebs_identity = self._identity(args, "ebs-csi-identity", namespaces.EBS_CSI_CONTROLLER, iam.EBS_CSI)
        ebs = self._add_on(
            args,
            versions.EBS_CSI,
            configuration=ebs_configuration(args.controllers_on),
            depends_on=ebs_identity.ready,
        )
        block_storage = self._block_storage_class(args, ebs)
        efs_identity = self._identity(args, "efs-csi-identity", namespaces.EFS_CSI_CONTROLLER, iam.EFS_CSI)
        efs = self._add_on(
            args,
            versions.EFS_CSI,
            configuration=efs_configuration(args.controllers_on),
            depends_on=efs_identity.ready,
        )
        health = self._add_on(args, versions.NODE_MONITORING_AGENT, configuration=node_monitoring_agent_configuration())
        self.ready = (dns, ebs, block_storage, efs, health)
        self.register_outputs({})

    def _block_storage_class(self, args: AddOnsArgs, driver: aws.eks.Addon) -> k8s.storage.v1.StorageClass:
        """Define the class of volumes that claims get when they name none: encrypted, in the zone of their pod."""
        return k8s.storage.v1.StorageClass(
            self.child_name("gp3"),
            metadata={"name": storage.EBS_CLASS, "annotations": {storage.DEFAULT_CLASS_ANNOTATION: "true"}},
            provisioner=storage.EBS_DRIVER,
            parameters={"type": "gp3", "encrypted": "true"},
            reclaim_policy="Delete",
            volume_binding_mode="WaitForFirstConsumer",
            allow_volume_expansion=True,
            opts=self.child_opts(provider=args.cluster.provider, depends_on=(*args.cluster.ready, driver)),
        )


def add_on_inputs(add_on: AddOn, configuration: Mapping[str, object] | None = None) -> AddOnInputs:
    """Return the inputs that install exactly ``add_on``, with ``configuration`` over its defaults.

    Conflicts are overwritten: what the code says holds, and a change by hand inside the cluster does not.
    """
    inputs: AddOnInputs = {
        "addon_name": add_on.name,
        "addon_version": add_on.version,
        "resolve_conflicts_on_create": "OVERWRITE",
        "resolve_conflicts_on_update": "OVERWRITE",
    }
    if configuration is not None:
        inputs["configuration_values"] = json.dumps(configuration, sort_keys=True)
    return inputs


def dns_configuration(nodes: Mapping[str, str]) -> dict[str, object] | None:
    """Return the configuration by which CoreDNS runs on nodes with those labels, None if on any."""
    return {"nodeSelector": dict(nodes)} if nodes else None


def ebs_configuration(nodes: Mapping[str, str]) -> dict[str, object]:
    """Return the configuration by which the EBS driver's controller runs on nodes with those labels.

    Its part on each node mounts the volumes there, so it tolerates every taint: on a GPU node that it does not reach no
    pod with a claim would ever start. That is the add-on's default, said here because everything rests on it.
    """
    return {**_controller_on(nodes), "node": {"tolerateAllTaints": True}}


def efs_configuration(nodes: Mapping[str, str]) -> dict[str, object]:
    """Return the same for the EFS driver, which spells its tolerations out."""
    return {**_controller_on(nodes), "node": {"tolerations": [taints.TOLERATE_EVERYTHING]}}


def _controller_on(nodes: Mapping[str, str]) -> dict[str, object]:
    return {"controller": {"nodeSelector": dict(nodes)}} if nodes else {}


def node_monitoring_agent_configuration() -> dict[str, object]:
    """Return the configuration by which the agent sees the GPUs of tainted nodes.

    By default its DCGM server tolerates no taint, so on every GPU node of ours it would not run: no XID would be seen,
    and node repair would take the missing server for broken hardware and replace the node again and again
    (eks-node-monitoring-agent v1.7.0 chart values and monitors/nvidia/dcgm, checked 2026-11-21).
    """
    part, tolerations = DCGM_TOLERATIONS
    return {part: {tolerations: [taints.TOLERATE_EVERYTHING]}}


def _problems(args: AddOnsArgs, *add_ons: Mapping[str, AddOn]) -> list[Problem]:
    problems = missing(args.cluster, "name", "private_subnets", under="cluster")
    version = args.cluster.version
    if any(version not in builds for builds in add_ons):
        known = ", ".join(versions.KUBERNETES_VERSIONS)
        problems.append(
            Problem("cluster", f"runs Kubernetes {version}, which no add-on versions are known for; use {known}")
        )
    return problems
