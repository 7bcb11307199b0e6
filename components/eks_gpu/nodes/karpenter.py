"""Karpenter: buys GPU nodes when pods ask for them and gives them back.

Builds
    NodeRole, AccessEntry   as what its nodes run, and that they may join
    InstanceProfile         how the role gets to an instance; Karpenter itself may make none
    InterruptionQueue       how it hears that an instance will go
    PodIdentity             what its controller may do in AWS
    HelmChart (twice)       its CRDs, then the controller

Needs
    At least two system nodes that Karpenter does not own, and the Pod Identity agent on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from eks_gpu.facts import interruptions, namespaces, network, versions
from eks_gpu.facts.node_repair import KARPENTER_GATE
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs
from eks_gpu.foundation.node_role import NodeRole
from eks_gpu.foundation.pod_identity import PodIdentity, PodIdentityArgs
from eks_gpu.nodes import karpenter_iam
from eks_gpu.nodes.interruption_queue import InterruptionQueue
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.nodes.pool_arguments import cluster_problems
from eks_gpu.settings.karpenter import KarpenterController

_SUFFIX_LENGTH: Final = 8
"""Characters that Pulumi adds to a name that it makes: a hyphen and seven random ones."""

REPLICAS: Final = 2
"""One leads, one waits. The chart keeps them on different nodes."""

_INTERRUPTIONS: Final = "interruptions"

LONGEST_NAME: Final = (
    interruptions.LONGEST_RULE_NAME - _SUFFIX_LENGTH - len(f"-{_INTERRUPTIONS}-") - max(map(len, interruptions.EVENTS))
)
"""Characters that the name of the component may have: the names of EventBridge's rules begin with it."""

_RESOURCES: Final = {"cpu": "1", "memory": "1Gi"}
"""Requests and limits of the controller (Karpenter 1.14 getting started, checked 2026-11-21)."""


@dataclass(frozen=True, kw_only=True)
class KarpenterArgs:
    """What Karpenter is installed with."""

    cluster: ClusterConnection
    """The cluster that it serves. Its authentication mode must include the API, for the access entry of the nodes."""

    settings: KarpenterController = field(default_factory=KarpenterController)
    """What it does beside buying nodes and giving them back."""

    chart_source: str | None = None
    """Mirror that holds both charts: an ``oci://`` prefix. Their public registry when left out."""


class Karpenter(Component):
    """Karpenter, ready for node pools.

    Its controller has no right to write to IAM: node classes name the instance profile that is made here. A node class
    of your own does the same (``instanceProfile``, not ``role``).
    """

    connection: KarpenterConnection
    """What node pools take."""

    def __init__(self, name: str, args: KarpenterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define as what nodes run, how interruptions arrive, what the controller may do, then the controller."""
        refuse(_problems(name, args), component=name)
        super().__init__(name, opts)
        nodes = self._node_role(args)
        joins = self._access_entry(args, nodes)
        profile = self._instance_profile(nodes)
        queue = InterruptionQueue(self.child_name(_INTERRUPTIONS), self.child_opts())
        identity = self._identity(args, nodes, queue)
        definitions = self._definitions(args)
        before = (*nodes.ready, joins, profile, *queue.ready, *identity.ready, definitions)
        controller = self._controller(args, queue, before)
        self.connection = KarpenterConnection(
            node_role_name=nodes.role_name, instance_profile_name=profile.name, ready=(definitions, controller)
        )
        self.register_outputs({"node_role_name": nodes.role_name})

    def _node_role(self, args: KarpenterArgs) -> NodeRole:
        return NodeRole(self.child_name("node"), args.cluster, self.child_opts())

    def _access_entry(self, args: KarpenterArgs, nodes: NodeRole) -> aws.eks.AccessEntry:
        return aws.eks.AccessEntry(
            self.child_name("node-access"),
            cluster_name=args.cluster.name,
            principal_arn=nodes.role_arn,
            type="EC2_LINUX",
            opts=self.child_opts(),
        )

    def _instance_profile(self, nodes: NodeRole) -> aws.iam.InstanceProfile:
        """Define the profile once for all pools.

        Karpenter would make one for each, for which it needs a way to IAM, and rights by which it could hand out the
        role; and what it made would stay behind if it were gone before its node classes.
        """
        return aws.iam.InstanceProfile(
            self.child_name("node-profile"), role=nodes.role_name, opts=self.child_opts(depends_on=nodes.ready)
        )

    def _identity(self, args: KarpenterArgs, nodes: NodeRole, queue: InterruptionQueue) -> PodIdentity:
        scope = pulumi.Output.all(
            cluster_name=args.cluster.name,
            cluster_arn=args.cluster.arn,
            node_role_arn=nodes.role_arn,
            queue_arn=queue.queue_arn,
        ).apply(lambda known: karpenter_iam.Scope(**known))
        account = namespaces.KARPENTER_CONTROLLER
        return PodIdentity(
            self.child_name("controller"),
            PodIdentityArgs(
                cluster_name=args.cluster.name,
                namespace=account.namespace,
                service_account=account.name,
                policies={key: scope.apply(policy) for key, policy in karpenter_iam.POLICIES.items()},
            ),
            self.child_opts(),
        )

    def _definitions(self, args: KarpenterArgs) -> HelmChart:
        return HelmChart(
            self.child_name("crds"),
            HelmChartArgs(
                chart=versions.KARPENTER_CRD,
                namespace=namespaces.KARPENTER,
                release_name=versions.KARPENTER_CRD.name,
                values={},
                chart_source=args.chart_source,
            ),
            self.child_opts(depends_on=args.cluster.ready, provider=args.cluster.provider),
        )

    def _controller(
        self, args: KarpenterArgs, queue: InterruptionQueue, after: tuple[pulumi.Resource, ...]
    ) -> HelmChart:
        return HelmChart(
            self.child_name("chart"),
            HelmChartArgs(
                chart=versions.KARPENTER,
                namespace=namespaces.KARPENTER,
                release_name=versions.KARPENTER.name,
                values=chart_values(
                    cluster_name=args.cluster.name,
                    queue_name=queue.queue_name,
                    region=network.region_of(args.cluster.zones[0]),
                    isolated=args.cluster.isolated,
                    node_repair=args.settings.node_repair,
                ),
                chart_source=args.chart_source,
                skip_crds=True,
            ),
            self.child_opts(depends_on=(*args.cluster.ready, *after), provider=args.cluster.provider),
        )


def chart_values(
    *,
    cluster_name: pulumi.Input[str],
    queue_name: pulumi.Input[str],
    region: str,
    isolated: bool = False,
    node_repair: bool = False,
) -> dict[str, Any]:
    """Return the values of Karpenter's chart.

    What is not here is the chart's default, which is right for us: pods on different nodes and zones, never on a node
    that Karpenter bought (it would remove the ground under itself), tolerating ``CriticalAddonsOnly`` but no GPU
    taint. The region is given because the nodes' metadata, where it would ask, is out of reach of pods. Where the
    network is ``isolated``, IAM and the price list are out of reach too, and Karpenter goes by the prices it was built
    with.
    """
    settings: dict[str, Any] = {"clusterName": cluster_name, "interruptionQueue": queue_name, "eksControlPlane": True}
    if isolated:
        settings["isolatedVPC"] = True
    if node_repair:
        settings["featureGates"] = {KARPENTER_GATE: True}
    return {
        "replicas": REPLICAS,
        "serviceAccount": {"name": namespaces.KARPENTER_CONTROLLER.name},
        "settings": settings,
        "controller": {
            "resources": {"requests": dict(_RESOURCES), "limits": dict(_RESOURCES)},
            "env": [{"name": "AWS_REGION", "value": region}],
        },
    }


def _problems(name: str, args: KarpenterArgs) -> list[Problem]:
    problems = list(cluster_problems(args.cluster))
    if len(name) > LONGEST_NAME:
        problems.append(
            Problem("name", f"{name!r} is too long for the names made of it; use up to {LONGEST_NAME} characters")
        )
    return problems
