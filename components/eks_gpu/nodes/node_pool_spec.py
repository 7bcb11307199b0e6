"""The spec of a NodePool: which instances Karpenter may buy, and who may run on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from eks_gpu.facts import labels, resources, taints
from eks_gpu.nodes import node_class_spec
from eks_gpu.nodes.disruption import disruption
from eks_gpu.settings.node_pool import NodePool

API_VERSION: Final = "karpenter.sh/v1"
KIND: Final = "NodePool"

_LINUX: Final = "linux"


def node_pool_spec(pool: NodePool, *, node_class: str, zones: Sequence[str], weight: int) -> dict[str, Any]:
    """Return the spec of the NodePool of ``pool`` (karpenter.sh_nodepools CRD of Karpenter 1.14.1).

    ``node_class`` names the EC2NodeClass, ``zones`` are those it has subnets in, ``weight`` is between 1 and 100.
    """
    contract = disruption(pool)
    return {
        "template": {
            "metadata": {"labels": pool.node_labels},
            "spec": {
                "nodeClassRef": {
                    "group": node_class_spec.API_VERSION.partition("/")[0],
                    "kind": node_class_spec.KIND,
                    "name": node_class,
                },
                "requirements": [
                    _one_of(labels.INSTANCE_TYPE, pool.instance_types),
                    _one_of(labels.CAPACITY_TYPE, [capacity.value for capacity in pool.capacity]),
                    _one_of(labels.ZONE, zones),
                    _one_of(labels.ARCH, [pool.arch]),
                    _one_of(labels.OS, [_LINUX]),
                ],
                "taints": [taint.kubernetes() for taint in pool_taints(pool)],
                **_startup_taints(pool),
                **contract.template(),
            },
        },
        "limits": {resources.GPU: str(pool.max_gpus)},
        "disruption": contract.spec(),
        "weight": weight,
    }


def pool_taints(pool: NodePool) -> tuple[taints.Taint, ...]:
    """Return the taints of the pool's nodes: against pods without GPUs, and, if dedicated, against all but its own."""
    return (taints.GPU, taints.dedicated(pool.gpu_name)) if pool.is_dedicated else (taints.GPU,)


def _startup_taints(pool: NodePool) -> dict[str, Any]:
    """Return the taints that somebody takes off again.

    Karpenter must be told of them, or it would buy node after node for a pod that does not tolerate them. With that,
    the pods that wait need no toleration.
    """
    return {"startupTaints": [taints.NOT_VALIDATED.kubernetes()]} if pool.validate_new_nodes else {}


def _one_of(key: str, values: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}
