"""NODE009: a pool has one GPU model, or the pods say which they want.

A pod says which by any label that tells models apart (name, memory, type, family, product), whatever the operator, or
by declaring how much memory of a GPU it needs, where the smallest model has it. What it asks for otherwise may leave
one model only, too. Two GPUs of one name and different memory are two models; models with as much memory as each other
(A10G and L4) count as one here, because whom one of them serves the other serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eks_gpu.facts import declarations, labels
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement.wishes import Selection
from eks_gpu.planning.pod_template import PodTemplate, asks_gpu
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Undecided, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

_MIB_PER_GIB: Final = 1024
_WIDE: Final = 2
"""With so many times the memory of the smallest, few pods fit both."""
_MOST_NAMES: Final = 3

_SAYS_WHICH: Final = frozenset(
    {
        labels.INSTANCE_GPU_NAME,
        labels.INSTANCE_GPU_MEMORY,
        labels.INSTANCE_TYPE,
        labels.INSTANCE_FAMILY,
        labels.GPU_TYPE,
        labels.GFD_PRODUCT,
        labels.GFD_MEMORY,
    }
)
"""Labels by which a pod chooses a GPU model."""


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if not _differ(pool.gpu_types):
        return
    pods = stack.gpu_lodgers(pool)
    if not pods:
        yield from _spread(pool, stack)
        return
    answers = [attempt(_leaves_it_to_chance, pod, pool, stack) for pod in pods]
    yield from (undecided(answer) for answer in answers if isinstance(answer, NotKnown))
    silent = dict.fromkeys(pod.name for pod, answer in zip(pods, answers, strict=True) if answer is True)
    if silent:
        names = list(silent)
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        yield Problem(
            f"has GPUs of different kinds ({_listed(pool.gpu_types)}), and nothing in {', '.join(names[:_MOST_NAMES])}"
            f"{more} says which of them, or how much of a GPU's memory is needed"
        )


def _leaves_it_to_chance(pod: PodTemplate, pool: Pool, stack: Stack) -> bool:
    placement = stack.placed(pod, pool)
    types = pool.gpu_types if placement.unclear is not None else placement.types
    return _differ(types) and not _says_which(pod, pool, stack)


def _says_which(pod: PodTemplate, pool: Pool, stack: Stack) -> bool:
    selection = need(stack.places.demand(pod).selection)
    return _chooses(selection) or _needs_no_more_than_all_have(pod, pool)


def _chooses(selection: Selection) -> bool:
    """Return whether every alternative of a selection chooses a model."""
    return all(any(wish.key in _SAYS_WHICH for wish in wishes) for wishes in selection.alternatives)


def _needs_no_more_than_all_have(pod: PodTemplate, pool: Pool) -> bool:
    needed = quantity(need(pod.annotations).get(declarations.GPU_MEMORY_GIB, ""))
    smallest = min(memory for _, memory in _models(pool.gpu_types))
    return needed is not None and needed * _MIB_PER_GIB <= smallest


def _spread(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    memories = sorted(memory for _, memory in _models(pool.gpu_types))
    if memories[-1] < _WIDE * memories[0]:
        return
    unclear = _may_lodge(pool, stack)
    if stack.options.manifests_only:
        yield Undecided("GPU pods", "which pods land on the pool is not among these manifests")
    elif unclear is not None:
        yield undecided(unclear)
    else:
        yield Problem(
            f"has GPUs of very different memory ({_listed(pool.gpu_types)}): what fits the largest fails on the "
            "smallest, and which one comes is chance"
        )


def _may_lodge(pool: Pool, stack: Stack) -> NotKnown | None:
    """Return what would have to be known to tell that no GPU pod is let onto a pool."""
    pods = (pod for pod in stack.pods if asks_gpu(pod) is not False)
    answers = (attempt(stack.places.lets_in, pod, pool) for pod in pods)
    return next((answer for answer in answers if isinstance(answer, NotKnown)), None)


def _models(types: Iterable[InstanceType]) -> frozenset[tuple[str, int]]:
    """Return the GPU models of some types; a type that has part of a GPU advertises none, and serves nobody."""
    return frozenset(kind.gpu_model for kind in types if kind.gpu_count)


def _differ(types: Iterable[InstanceType]) -> bool:
    """Return whether some GPU has less memory than another, so that not all serve whom one serves."""
    return len({memory for _, memory in _models(types)}) > 1


def _listed(types: Iterable[InstanceType]) -> str:
    """Return the models with their memory, small to large: ``t4 of 16 GiB, a10g of 22.4 GiB``; some of many."""
    by_size = sorted(_models(types), key=lambda model: (model[1], model[0]))
    told = [f"{name} of {memory / _MIB_PER_GIB:.3g} GiB" for name, memory in by_size]
    return ", ".join(told) if len(told) <= _MOST_NAMES + 1 else f"{', '.join(told[:2])} ... {told[-1]}"


_SOUND = examples.node_pool()
_MIXED = examples.node_pool(types=("g5.2xlarge", "g6e.2xlarge"))

RULE: Final = Rule(
    id="NODE009",
    title="One GPU model a pool, or the pods say which",
    severity=Severity.MEDIUM,
    why=(
        "Karpenter buys the cheapest type that fits, and spot markets change what that is. A model that needs the "
        "45 GiB of an L40S starts well on one day and dies of out-of-memory on the next, on another node of the same "
        "pool; nothing in Kubernetes knows how much memory a GPU has."
    ),
    fix=(
        f"make a pool for each model and order them by weight, as GpuNodePool does; or let pods require "
        f"{labels.INSTANCE_GPU_NAME}, or declare {declarations.GPU_MEMORY_GIB}"
    ),
    lessons=("N08", "W02"),
    looks_at=GPU_POOLS,
    check=_check,
    failing=Example((examples.node_class(), _MIXED, examples.deployment())),
    passing=Example((examples.node_class(), _SOUND, examples.deployment())),
)
