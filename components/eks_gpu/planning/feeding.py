"""How much CPU and memory a GPU needs beside it, so that it is neither starved nor left over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts.instances import InstanceType

_MILLICORES: Final = 1000
_MIB: Final = 2**20
_GIB: Final = 2**30

_LEFT_FOR_PODS: Final = 0.75
"""The part of a node's share that is asked at most: DaemonSets and sidecars have the rest. Judgement: on a g5.xlarge,
3 of its 3.9 CPU."""


@dataclass(frozen=True, slots=True)
class Portion:
    """CPU in millicores and memory in bytes."""

    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Range:
    """What one GPU should have beside it, from and to: CPU in cores, memory in GiB."""

    cpu: tuple[int, int]
    memory_gib: tuple[int, int]

    @property
    def least(self) -> Portion:
        """The lower ends."""
        return Portion(self.cpu[0] * _MILLICORES, self.memory_gib[0] * _GIB)


INFERENCE: Final = Range((4, 8), (8, 16))
"""Of GPUs that serve. A model server tokenizes and schedules on CPUs, and reads weights through memory."""
TRAINING: Final = Range((8, 16), (32, 64))
"""Of GPUs that train: data loaders are on the CPUs. Both ranges are judgement, as the field gives it."""


def floor(wanted: Range, kinds: Iterable[InstanceType]) -> Portion:
    """Return the least that is asked for each GPU: what is wanted, lowered to what the smallest node has for each."""
    least = wanted.least
    shares = [share(kind) for kind in kinds if kind.gpu_count]
    if not shares:
        return least
    cpu, memory = min(each.cpu for each in shares), min(each.memory for each in shares)
    return Portion(min(least.cpu, int(cpu * _LEFT_FOR_PODS)), min(least.memory, int(memory * _LEFT_FOR_PODS)))


def share(kind: InstanceType) -> Portion:
    """Return what a node has for each of its GPUs."""
    return Portion(
        kind.allocatable_cpu_millicores // kind.gpu_count, kind.allocatable_memory_mib * _MIB // kind.gpu_count
    )


def used(kind: InstanceType, gpus: int, asked: Portion) -> int:
    """Return how many GPUs of a node pods can use that ask ``gpus`` each, and CPU and memory besides."""
    pods = kind.gpu_count // gpus
    if asked.cpu > 0:
        pods = min(pods, kind.allocatable_cpu_millicores // asked.cpu)
    if asked.memory > 0:
        pods = min(pods, kind.allocatable_memory_mib * _MIB // asked.memory)
    return pods * gpus


def stranded(kind: InstanceType, gpus: int, asked: Portion) -> int:
    """Return how many GPUs of a node are left over once such pods have taken all of its CPU or memory."""
    return kind.gpu_count // gpus * gpus - used(kind, gpus, asked)
