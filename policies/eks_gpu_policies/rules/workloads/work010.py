"""WORK010: CPU and memory feed the GPU.

What starves a GPU is a limit, or a request that nothing is allowed beside. A pod that says nothing of CPU takes what
is free, and is not asked. Slices and shares of GPUs are nobody's whole GPU and are not asked either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.planning.feeding import INFERENCE, TRAINING, Portion, Range, floor, stranded, used
from eks_gpu.planning.placement import requests
from eks_gpu.planning.pod_template import Container, PodTemplate, WorkloadKind
from eks_gpu.planning.quantity import gib, quantity
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu.planning.trials import is_a_trial
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Level, Levels, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

_MILLICORES: Final = 1000
_RANGES: Final = {WorkloadKind.INFERENCE: INFERENCE, WorkloadKind.TRAINING: TRAINING}


def _has_whole_gpus(pod: PodTemplate, stack: Stack) -> bool:
    asked = {name for container in pod.all_containers for name in container.gpu_resources}
    if asked != {resources.GPU} or need(pod.kind) not in _RANGES or _does_nothing(pod):
        return False
    return all(pool.split is None or isinstance(pool.split, NotKnown) for pool in stack.landing(pod))


def _does_nothing(pod: PodTemplate) -> bool:
    """Return whether a pod only keeps a place or tries the GPUs."""
    return all(map(is_a_trial, pod.gpu_containers))


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    kinds = tuple({kind.name: kind for pool in stack.landing(pod) for kind in pool.gpu_types}.values())
    wanted = _RANGES[WorkloadKind(need(pod.kind))]
    yield from clauses(
        *(_starved(container, wanted, kinds) for container in pod.gpu_containers), _left_over(pod, kinds)
    )


def _gpus(container: Container) -> int:
    amount = quantity(_cap(container, resources.GPU) or "")
    return 0 if amount is None else int(amount)


def _cap(container: Container, name: str) -> str | None:
    """Return the most of a resource that a container surely has: its limit, else its request."""
    return need(container.limits).get(name) or need(container.requests).get(name)


def _starved(container: Container, wanted: Range, kinds: tuple[InstanceType, ...]) -> Iterator[Outcome]:
    gpus = _gpus(container)
    if gpus < 1:
        return
    holding = [kind for kind in kinds or CATALOGUE.values() if kind.gpu_count >= gpus]
    least = floor(wanted, holding)
    cpu, memory = (quantity(_cap(container, name) or "") for name in (resources.CPU, resources.MEMORY))
    if cpu is not None and cpu * _MILLICORES / gpus < least.cpu:
        lower, upper = wanted.cpu
        yield Problem(
            f"container {container.name} has {float(cpu / gpus):.3g} CPU for each GPU; {lower} to {upper} feed one"
        )
    if memory is not None and memory / gpus < least.memory:
        lower, upper = wanted.memory_gib
        yield Problem(
            f"container {container.name} has {gib(memory / gpus)} of memory for each GPU; "
            f"{lower} to {upper} GiB feed one"
        )


def _left_over(pod: PodTemplate, kinds: tuple[InstanceType, ...]) -> Iterator[Outcome]:
    asked = requests(pod)
    gpus = asked.get(resources.GPU, 0)
    portion = Portion(asked.get(resources.CPU, 0), asked.get(resources.MEMORY, 0))
    taking = [kind for kind in kinds if gpus >= 1 and used(kind, gpus, portion)]
    if not taking or not all(stranded(kind, gpus, portion) for kind in taking):
        return
    best = min(taking, key=lambda kind: stranded(kind, gpus, portion) / kind.gpu_count)
    yield Problem(
        f"asks {portion.cpu / _MILLICORES:.3g} CPU and {gib(portion.memory)} of memory for {gpus} "
        f"GPU{'s' if gpus > 1 else ''}: on a {best.name} only {used(best, gpus, portion)} of {best.gpu_count} GPUs can "
        "be used, and on no type all of them",
        fix="ask no more CPU and memory than the GPU's share of the node, or take a type with fewer GPUs",
    )


_ADVICE: Final = Level.ADVISORY
_HUNGRY: Final = examples.container(resources={"limits": {resources.GPU: "1", "cpu": "1", "memory": "24Gi"}})

RULE: Final = Rule(
    id="WORK010",
    title="CPU and memory feed the GPU",
    severity=Severity.LOW,
    why=(
        "A GPU computes as fast as CPUs hand it work: with one core beside it tokenizers and data loaders are what you "
        "wait for. With too many, the node's other GPUs have no CPU left and nobody can use them."
    ),
    fix=(
        "give each GPU 4 to 8 CPU and 8 to 16 GiB for inference, 8 to 16 CPU and 32 to 64 GiB for training, as far as "
        "the node has it, as TritonServer and VllmServer do"
    ),
    lessons=("W07",),
    levels=Levels(_ADVICE, _ADVICE, _ADVICE),
    looks_at=Subjects[PodTemplate](
        "pods that serve or train on whole GPUs", frozenset(), lambda stack: stack.pods, _has_whole_gpus
    ),
    check=_check,
    failing=Example((examples.deployment(_HUNGRY),)),
    passing=Example((examples.deployment(),)),
)
