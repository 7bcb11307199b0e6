"""GPU node pool: capacity with GPUs of one model that Karpenter buys when pods ask for it.

Builds
    EfaSecurityGroup           of Elastic Fabric Adapters, if asked for
    PlacementGroup             where all nodes are close together, if asked for
    EC2NodeClass               image, disk and network of the nodes
    NodePool                   which instances may be bought, and who may run on them
    PriorityClass, Deployment  placeholders that keep nodes ready, where the settings ask for ``warm_nodes``

Needs
    Karpenter running in the cluster, and an IAM role for its nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from eks_gpu.facts import labels, namespaces
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.nodes import node_class_spec, node_pool_spec, warm_capacity
from eks_gpu.nodes.disruption import disruption
from eks_gpu.nodes.efa import CLUSTER_STRATEGY, EfaSecurityGroup
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.nodes.pool_arguments import image_problems, pool_problems, zones_of
from eks_gpu.nodes.pool_weight import HIGHEST, LOWEST, pool_weight
from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_pool import NodePool


@dataclass(frozen=True, kw_only=True)
class GpuNodePoolArgs:
    """What a GPU node pool is built from."""

    settings: NodePool
    """Which GPUs, at most how many, paid for how, and for whom."""

    cluster: ClusterConnection
    """The cluster that the nodes join."""

    karpenter: KarpenterConnection
    """The Karpenter that buys them."""

    weight: int | None = None
    """Order among pools, 1 to 100, high first; from the prices of the instance types when left out."""

    reservation_ids: Sequence[pulumi.Input[str]] = ()
    """Reservations that the program makes itself, besides the one in the settings."""

    placement_group_name: pulumi.Input[str] | None = None
    """Cluster placement group that the program makes itself; the component then makes none."""

    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the instances, their volumes and network interfaces, which no provider's default tags reach."""


class GpuNodePool(Component):
    """Capacity with GPUs of one model that Karpenter buys when pods ask for it.

    The NodePool is found by its name, in selectors and by people: it is the component's name, or the oldest former
    one, so that a rename replaces nothing. Changing limit, weight or disruption changes the pool alone; changing
    anything of the nodes lets Karpenter replace them within the pool's disruption budgets.
    """

    node_pool: k8s.apiextensions.CustomResource
    """The NodePool: depend on it to come after the pool, and to go before it."""

    node_pool_name: str
    """Name of the NodePool in the cluster."""

    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the node class, then the pool that uses it."""
        refuse(_problems(name, args), component=name)
        super().__init__(name, opts, args.settings.previously)
        self.node_pool_name = self._first_name
        efa = EfaSecurityGroup(self.child_name("efa"), args.cluster, self.child_opts()) if args.settings.efa else None
        node_class = self._node_class(args, efa)
        self.node_pool = self._node_pool(args, node_class)
        if args.settings.warm_nodes:
            self._warm_capacity(args)
        self.register_outputs({"node_pool_name": self.node_pool_name})

    def _node_class(self, args: GpuNodePoolArgs, efa: EfaSecurityGroup | None) -> k8s.apiextensions.CustomResource:
        identities = node_class_spec.Identities(
            node_role_name=args.karpenter.node_role_name,
            instance_profile_name=args.karpenter.instance_profile_name,
            subnet_ids=[args.cluster.private_subnets[zone] for zone in zones_of(args.settings, args.cluster)],
            security_group_ids=[args.cluster.security_group_id, *([] if efa is None else [efa.security_group_id])],
            placement_group_name=self._placement_group(args),
            reservation_ids=_reservations(args),
            tags=args.tags,
        )
        return k8s.apiextensions.CustomResource(
            self.child_name("node-class"),
            api_version=node_class_spec.API_VERSION,
            kind=node_class_spec.KIND,
            metadata={"name": self.node_pool_name},
            spec=node_class_spec.node_class_spec(args.settings, identities),
            opts=self._pool_opts(args, (*args.karpenter.ready, *(() if efa is None else efa.ready))),
        )

    def _placement_group(self, args: GpuNodePoolArgs) -> pulumi.Input[str] | None:
        """Return the name of the group to launch into: the program's, the reservation's, or one that is made here."""
        reservation = args.settings.reservation
        given = args.placement_group_name or (reservation.placement_group if reservation is not None else None)
        if given is not None or not args.settings.makes_placement_group:
            return given
        made = aws.ec2.PlacementGroup(
            self.child_name("placement-group"), strategy=CLUSTER_STRATEGY, opts=self.child_opts()
        )
        return made.name

    def _node_pool(
        self, args: GpuNodePoolArgs, node_class: k8s.apiextensions.CustomResource
    ) -> k8s.apiextensions.CustomResource:
        return k8s.apiextensions.CustomResource(
            self.child_name("node-pool"),
            api_version=node_pool_spec.API_VERSION,
            kind=node_pool_spec.KIND,
            metadata={"name": self.node_pool_name},
            spec=node_pool_spec.node_pool_spec(
                args.settings,
                node_class=self.node_pool_name,
                zones=zones_of(args.settings, args.cluster),
                weight=args.weight or pool_weight(args.settings),
            ),
            opts=self._pool_opts(args, (*args.karpenter.ready, node_class)),
        )

    def _warm_capacity(self, args: GpuNodePoolArgs) -> k8s.apps.v1.Deployment:
        """Define the placeholders. Nobody waits for them: they run when the GPU software does, which comes later."""
        name = f"{self.node_pool_name}-{warm_capacity.SUFFIX}"
        priority = k8s.scheduling.v1.PriorityClass(
            self.child_name("warm-priority"),
            **warm_capacity.priority_class(name),
            opts=self.child_opts(depends_on=args.cluster.ready, provider=args.cluster.provider),
        )
        return k8s.apps.v1.Deployment(
            self.child_name(warm_capacity.SUFFIX),
            metadata={
                "name": name,
                "namespace": namespaces.KUBE_SYSTEM,
                "annotations": {labels.SKIP_AWAIT: "true"},
            },
            spec=warm_capacity.deployment_spec(args.settings, node_pool=self.node_pool_name, priority=name),
            opts=self.child_opts(depends_on=(priority, self.node_pool), provider=args.cluster.provider),
        )

    def _pool_opts(self, args: GpuNodePoolArgs, after: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        """Return options that let deletion wait for the nodes: Karpenter's finalizers hold both until they are gone."""
        patience = f"{disruption(args.settings).delete_timeout_minutes}m"
        return self.child_opts(
            depends_on=(*args.cluster.ready, *after),
            provider=args.cluster.provider,
            custom_timeouts=pulumi.CustomTimeouts(delete=patience),
        )


def _reservations(args: GpuNodePoolArgs) -> tuple[pulumi.Input[str], ...]:
    named = args.settings.reservation.id if args.settings.reservation is not None else None
    return (*args.reservation_ids, named) if named is not None else tuple(args.reservation_ids)


def _problems(name: str, args: GpuNodePoolArgs) -> list[Problem]:
    problems = [*pool_problems(name, args.settings, args.cluster), *image_problems(args.settings, args.cluster)]
    if args.weight is not None and not LOWEST <= args.weight <= HIGHEST:
        problems.append(Problem("weight", f"{args.weight} is no weight; give {LOWEST} to {HIGHEST}, or leave it out"))
    reservation = args.settings.reservation
    reserved = Capacity.RESERVED in args.settings.capacity
    if reserved and not _reservations(args):
        problems.append(
            Problem(
                "reservation_ids",
                "is empty, but capacity includes reserved and the settings name no reservation; give its id",
            )
        )
    if args.reservation_ids and not reserved:
        problems.append(
            Problem("reservation_ids", "are given, but settings.capacity does not include reserved; add it")
        )
    zones = zones_of(args.settings, args.cluster)
    zone = reservation.zone if reservation is not None else None
    if zone is not None and zone not in zones:
        problems.append(
            Problem(
                "settings.reservation.zone", f"is {zone}, where the pool buys nothing; its zones are {', '.join(zones)}"
            )
        )
    if args.placement_group_name is not None and reservation is not None and reservation.is_capacity_block:
        problems.append(
            Problem(
                "placement_group_name", "is given, but a capacity block belongs to no placement group; leave it out"
            )
        )
    problems += [
        Problem(f"tags.{tag}", "is Karpenter's own, which the API server refuses; use another key")
        for tag in args.tags
        if tag in labels.KARPENTER_OWN_TAGS or tag.startswith(labels.CLUSTER_TAG_PREFIX)
    ]
    return problems
