"""Placeholders that keep nodes of a pool ready: what they are, as plain data in Kubernetes' spelling.

Each asks for all GPUs of the pool's smallest node and has a node to itself. Any pod goes before it: the scheduler
evicts the placeholder, the pod starts on a node that has its image cache and GPU software, and Karpenter buys the next
node for the placeholder. Weight, limits and disruption of the pool stay what they are.

Karpenter's static pools (``replicas``) are not used for it: they are alpha, take no weight and no limit on GPUs, hold a
number of nodes and not a reserve, and cannot be switched on or off for a pool that exists (NodePool CRD, Karpenter
1.14.1, checked 2026-11-21). What must be there always is a managed node group.
"""

from __future__ import annotations

from typing import Any, Final

from eks_gpu.facts import images, labels, resources, taints
from eks_gpu.nodes import kubelet
from eks_gpu.planning.allocatable import allocatable
from eks_gpu.settings.node_pool import NodePool

PRIORITY: Final = -1000
"""Below every pod that says nothing of its priority, whose priority is 0."""

SHARE_PERCENT: Final = 60
"""Part of a node's CPU and memory that a placeholder asks for: more than the next smaller size has, and not so much
that there is no room for the node's own agents."""

SUFFIX: Final = "warm"
"""What the names of the placeholders and their priority end in, after the pool's."""

_WARM_CAPACITY: Final = "warm-capacity"
_USER: Final = 65_534
"""Nobody's."""


def priority_class(name: str) -> dict[str, Any]:
    """Return the fields of the PriorityClass called ``name``: first to go, and never the reason that another goes."""
    return {
        "metadata": {"name": name},
        "value": PRIORITY,
        "preemption_policy": "Never",
        "global_default": False,
        "description": "Placeholders that keep GPU nodes ready: any other pod takes their place.",
    }


def deployment_spec(pool: NodePool, *, node_pool: str, priority: str) -> dict[str, Any]:
    """Return the spec of the Deployment that keeps ``pool.warm_nodes`` nodes of the NodePool ``node_pool`` ready."""
    marks = {labels.APP_NAME: _WARM_CAPACITY, labels.APP_INSTANCE: node_pool}
    return {
        "replicas": pool.warm_nodes,
        "selector": {"matchLabels": marks},
        "strategy": {"type": "Recreate"},
        "template": {
            "metadata": {"labels": marks},
            "spec": {
                "priorityClassName": priority,
                "nodeSelector": {labels.KARPENTER_NODEPOOL: node_pool},
                "tolerations": _tolerations(pool),
                "affinity": _one_a_node(marks),
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": _USER,
                    "runAsGroup": _USER,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [_placeholder(pool)],
            },
        },
    }


def _tolerations(pool: NodePool) -> list[dict[str, str]]:
    own = (taints.dedicated(pool.gpu_name),) if pool.is_dedicated else ()
    return [taint.toleration() for taint in (taints.GPU, *own)]


def _one_a_node(marks: dict[str, str]) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": marks}, "topologyKey": labels.HOSTNAME}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _placeholder(pool: NodePool) -> dict[str, Any]:
    """Return the container: it does nothing, in the room of the first of the pool's smallest types."""
    node = min(pool.types, key=lambda kind: kind.gpu_count)
    room = allocatable(node, kubelet.reserved(pool))
    fixed = {
        resources.GPU: str(node.gpu_count),
        resources.MEMORY: f"{room.memory_mib * SHARE_PERCENT // 100}Mi",
    }
    cpu = f"{room.cpu_millicores * SHARE_PERCENT // 100}m"
    return {
        "name": "placeholder",
        "image": images.PAUSE.reference,
        "resources": {"requests": {resources.CPU: cpu, **fixed}, "limits": fixed},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
