"""A cluster from its settings, with all that must be there before anything is put in."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from eks_gpu.cluster import control_plane
from eks_gpu.cluster.add_ons import AddOns, AddOnsArgs, NodeAddOns
from eks_gpu.cluster.network_connection import NetworkConnection
from eks_gpu.cluster.system_nodes import SystemNodes, SystemNodesArgs
from eks_gpu.facts import labels
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.settings.cluster import ExistingCluster, NewCluster
from eks_gpu.settings.system_nodes import SystemNodes as SystemNodesSettings


def connect(  # noqa: PLR0913 - the blocks of the stack file that make a cluster, keyword-only
    settings: NewCluster | ExistingCluster,
    network: NetworkConnection,
    *,
    system_nodes: SystemNodesSettings | None,
    protected: bool = False,
    tags: Mapping[str, str] | None = None,
    opts: pulumi.ResourceOptions | None = None,
) -> ClusterConnection:
    """Return the connection to the cluster of a stack, ready to be put into.

    A new cluster gets add-ons and system nodes, in the order in which they need each other. An existing one keeps its
    owner's add-ons; ``system_nodes`` adds a group of ours to it if the block is there. ``protected`` refuses to delete
    a new cluster; ``tags`` reach the instances, which the provider's default tags do not.
    """
    if isinstance(settings, NewCluster) and system_nodes is None:
        refuse([Problem("system_nodes", "is missing; a new cluster needs nodes for Karpenter and CoreDNS to run on")])
    cluster = control_plane.connect("cluster", settings, network, protected=protected, opts=opts)
    if isinstance(settings, NewCluster):
        cluster = cluster.after(*NodeAddOns("node-add-ons", AddOnsArgs(cluster=cluster), opts).ready)
    if system_nodes is not None:
        args = SystemNodesArgs(settings=system_nodes, cluster=cluster, tags=tags or {})
        cluster = cluster.after(SystemNodes("system-nodes", args, opts).node_group)
    if isinstance(settings, NewCluster):
        add_ons = AddOnsArgs(cluster=cluster, controllers_on={labels.WORKLOAD: labels.WORKLOAD_SYSTEM})
        cluster = cluster.after(*AddOns("add-ons", add_ons, opts).ready)
    return cluster
