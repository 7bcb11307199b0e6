"""What rules look at: each rule names one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from eks_gpu.planning.pod_template import PodTemplate, WorkloadKind
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu_policies import tokens
from eks_gpu_policies.options import Options
from eks_gpu_policies.questions.training import training_of
from eks_gpu_policies.readers.karpenter import is_auto_mode
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Subjects
from eks_gpu_policies.stack import Stack, Whole

POOL_TYPES: Final = frozenset(
    {tokens.NODE_GROUP, tokens.MANAGED_NODE_GROUP, tokens.AUTO_SCALING_GROUP, tokens.NODE_POOL}
)
"""What makes nodes."""
_WITH_TEMPLATES: Final = POOL_TYPES | {tokens.LAUNCH_TEMPLATE, tokens.NODE_CLASS}


def _is_gpu_pool(pool: Pool, stack: Stack) -> bool:
    return stack.is_gpu_pool(pool)


def _makes_gpu_nodes(pool: Pool, stack: Stack) -> bool:
    return stack.is_gpu_pool(pool) and not is_auto_mode(stack.by_urn[pool.urn].view)


def _asks_gpu(pod: PodTemplate, _stack: Stack) -> bool:
    return pod.asks_gpu


def _is_gpu_inference(pod: PodTemplate, _stack: Stack) -> bool:
    return pod.asks_gpu and need(pod.kind) is WorkloadKind.INFERENCE


GPU_POOLS: Final = Subjects[Pool]("GPU pools", _WITH_TEMPLATES, lambda stack: stack.pools, _is_gpu_pool)
GPU_NODE_MAKERS: Final = Subjects[Pool](
    "GPU pools but those of EKS Auto Mode", _WITH_TEMPLATES, lambda stack: stack.pools, _makes_gpu_nodes
)
"""Pools whose image, disks, network and boot somebody chooses; Auto Mode chooses them itself."""
GPU_NODE_POOLS: Final = Subjects[Pool](
    "Karpenter's GPU node pools", frozenset({tokens.NODE_POOL}), lambda stack: stack.node_pools(), _is_gpu_pool
)
GPU_PODS: Final = Subjects[PodTemplate]("GPU pods", frozenset(), lambda stack: stack.pods, _asks_gpu)
INFERENCE_PODS: Final = Subjects[PodTemplate](
    "GPU pods that serve", frozenset(), lambda stack: stack.pods, _is_gpu_inference
)
TRAINING_PODS: Final = Subjects[PodTemplate](
    "GPU pods that train", frozenset(), lambda stack: stack.pods, lambda pod, stack: training_of(pod, stack) is not None
)


def stack_with_gpu_pools(told: Callable[[Options], object], types: frozenset[str] = POOL_TYPES) -> Subjects[Whole]:
    """Return the stack as a subject where it has GPU pools; on plain manifests only where ``told`` finds something."""

    def concerned(_whole: Whole, stack: Stack) -> bool:
        if stack.options.manifests_only and told(stack.options) is None:
            return False
        return bool(stack.gpu_pools or stack.unclear_pools)

    return Subjects[Whole]("the stack, when it has GPU pools", types, lambda stack: (stack.whole,), concerned)


def resources(what: str, types: Iterable[str]) -> Subjects[Resource]:
    """Return the resources of ``types`` as subjects."""
    named = frozenset(types)
    ordered = tuple(sorted(named))
    return Subjects(what, named, lambda stack: stack.of_type(*ordered))
