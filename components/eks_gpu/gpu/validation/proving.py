"""Proving the GPUs of a whole platform, as its settings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pulumi

from eks_gpu.facts import labels
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.validation.gpu_validation import (
    GpuValidation,
    GpuValidationArgs,
    PoolToProve,
    pools_to_prove,
)
from eks_gpu.gpu.validation.node_gate import NodeGate, NodeGateArgs
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup
from eks_gpu.nodes.gpu_node_pool import GpuNodePool
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.validation import Validation


@dataclass(frozen=True, kw_only=True)
class Proven:
    """GPU software whose GPUs are proven, as far as the settings ask for it."""

    software: GpuSoftware
    """What workloads depend on: the proof is part of it if it is a gate."""

    passed: Mapping[str, pulumi.Output[str]]
    """By pool, when its GPUs were proven; empty where nothing is."""


def prove_gpus(  # noqa: PLR0913 - what a proof needs, keyword-only
    name: str,
    chosen: settings.GpuSoftware,
    gpu_software: GpuSoftware,
    cluster: ClusterConnection,
    *,
    pools: Mapping[str, GpuPool],
    built: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions | None = None,
) -> Proven:
    """Prove the GPUs of ``pools``, under the logical name ``name``, if the settings of the GPU software say so.

    ``built`` are the components that were built of the pools, in their order.
    """
    if chosen.validation is None:
        return Proven(software=gpu_software, passed={})
    gate = _node_gate(f"{name}-new-nodes", chosen.validation, gpu_software, cluster, built, pools, opts)
    gpu_software = replace(gpu_software, ready=(*gpu_software.ready, *gate))
    known = {
        key: PoolToProve(settings=pool, selector=nodes_of(component), resource=component)
        for (key, pool), component in zip(pools.items(), built, strict=True)
    }
    if not pools_to_prove(known, chosen.validation):
        return Proven(software=gpu_software, passed={})
    args = GpuValidationArgs(settings=chosen, cluster=cluster, gpu_software=gpu_software, pools=known)
    validation = GpuValidation(name, args, opts)
    after = validation.ready if chosen.validation.gate else ()
    return Proven(software=replace(gpu_software, ready=(*gpu_software.ready, *after)), passed=validation.passed)


def _node_gate(  # noqa: PLR0913, PLR0917 - those of its one caller
    name: str,
    validation: Validation,
    gpu_software: GpuSoftware,
    cluster: ClusterConnection,
    built: Sequence[pulumi.Resource],
    pools: Mapping[str, GpuPool],
    opts: pulumi.ResourceOptions | None,
) -> tuple[pulumi.Resource, ...]:
    """Prove new nodes of the pools that ask for it, and return what comes before those that need such nodes."""
    closed = {
        component.node_pool_name: pool
        for pool, component in zip(pools.values(), built, strict=True)
        if isinstance(component, GpuNodePool) and isinstance(pool, NodePool) and pool.validate_new_nodes
    }
    if not closed:
        return ()
    args = NodeGateArgs(settings=validation, cluster=cluster, gpu_software=gpu_software, pools=closed)
    return NodeGate(name, args, opts).ready


def nodes_of(pool: pulumi.Resource) -> Mapping[str, pulumi.Input[str]]:
    """Return the label that the nodes of a group or pool have, and no others; nothing for any other resource."""
    match pool:
        case GpuNodeGroup():
            return {labels.EKS_NODE_GROUP: pool.node_group_name}
        case GpuNodePool():
            return {labels.KARPENTER_NODEPOOL: pool.node_pool_name}
        case _:
            return {}
