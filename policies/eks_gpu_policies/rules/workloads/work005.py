"""WORK005: shared memory is there and fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.planning.pod_template import Container, PodTemplate, PodVolume, WorkloadKind
from eks_gpu.planning.quantity import GIB, gib
from eks_gpu.planning.reading import need
from eks_gpu.planning.trials import SAMPLE, is_a_trial
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_PODS

SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - the path inside a container that the rule is about
SMALLEST_GIB: Final = 1
_DEFAULT: Final = "64 MiB"
"""What containerd gives a container that mounts nothing there."""

_JOB: Final = "Job"
USES_SHARED_MEMORY: Final = re.compile(r"vllm|sglang|tensorrt[-_]?llm|trt[-_]?llm|trtllm|pytorch", re.IGNORECASE)


def _check(pod: PodTemplate, _stack: Stack) -> Iterator[Outcome]:
    yield from clauses(
        *(_mounted(pod, container) for container in pod.gpu_containers),
        *(_fits(pod, container) for container in need(pod.containers)),
    )


def _mounted(pod: PodTemplate, container: Container) -> Iterator[Outcome]:
    """Judge what is on /dev/shm of a container that is known to use it."""
    certain = _uses_shared_memory(pod, container)
    if pod.spec["hostIPC"].boolean() or certain is False:
        return
    volume = _shared_memory(pod, container)
    if volume is None:
        maybe = "" if certain else ", and it may be training"
        yield Problem(
            f"container {container.name} has the default {_DEFAULT} on {SHARED_MEMORY}{maybe}", advisory=not certain
        )
    elif volume.place["hostPath"].exists:
        return
    elif not volume.in_memory:
        yield Problem(f"container {container.name} mounts a volume on {SHARED_MEMORY} that is not in memory")
    elif volume.size_limit is not None and volume.size_limit < SMALLEST_GIB * GIB:
        yield Problem(f"container {container.name} has {gib(volume.size_limit)} on {SHARED_MEMORY}; it needs 1 GiB")


def _uses_shared_memory(pod: PodTemplate, container: Container) -> bool | None:
    """Return whether a container uses shared memory; None for one that may, as that of any Job may."""
    if USES_SHARED_MEMORY.search(need(container.image)) is not None:
        return True
    if need(pod.kind) is not WorkloadKind.TRAINING:
        return False
    if pod.owner_kind != _JOB or labels.WORKLOAD in need(pod.labels):
        return True
    return False if SAMPLE.search(need(container.image)) is not None or is_a_trial(container) else None


def _shared_memory(pod: PodTemplate, container: Container) -> PodVolume | None:
    for mount in need(container.mounts):
        if mount.path.rstrip("/") == SHARED_MEMORY:
            return pod.volume(mount.volume)
    return None


def _fits(pod: PodTemplate, container: Container) -> Iterator[Outcome]:
    """Judge every memory-backed volume of a container: what is written there counts against its memory limit."""
    for mount in need(container.mounts):
        volume = pod.volume(mount.volume)
        if volume is None or not volume.in_memory:
            continue
        size, limit = volume.size_limit, _memory_limit(pod, container)
        if size is None and limit is None:
            yield Problem(
                f"container {container.name} mounts {volume.name} from memory and neither has a limit: "
                "it can take the node's memory"
            )
        elif size is not None and limit is not None and size >= limit:
            yield Problem(
                f"container {container.name} may fill {volume.name} with {gib(size)} but has a memory limit of "
                f"{gib(limit)}, the volume included"
            )


def _memory_limit(pod: PodTemplate, container: Container) -> Fraction | None:
    """Return how many bytes a container may use: by its own limit, else by that of the pod as a whole."""
    own = container.memory_limit
    return pod.spec.at("resources", "limits", resources.MEMORY).quantity() if own is None else own


_BARE = examples.container(volumeMounts=None)
_SOUND = examples.container()

RULE: Final = Rule(
    id="WORK005",
    title="Shared memory is there and fits",
    severity=Severity.HIGH,
    why=(
        "A container gets 64 MiB of shared memory. PyTorch's data loaders and tensor-parallel servers pass their "
        "batches through it and die of a bus error, usually hours into a run. What is written there counts against "
        "the container's memory limit, so a volume as large as the limit ends in OOMKilled."
    ),
    fix=(
        f"mount an emptyDir of medium Memory with a sizeLimit of 8 to 16 GiB on {SHARED_MEMORY}, below the "
        "memory limit, as TritonServer and VllmServer do"
    ),
    lessons=("W03",),
    scope=Scope.RESOURCE,
    looks_at=GPU_PODS,
    check=_check,
    failing=Example((examples.deployment(_BARE),)),
    passing=Example((examples.deployment(_SOUND),)),
)
