"""STOR005: a cache reads fast and stays hot.

What a bursting file system earns follows what it stores, so the time to read everything on it is the same for any
amount: 5.8 hours, once its credits are gone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import declarations, storage
from eks_gpu.facts.images import GB
from eks_gpu.planning.model_source import bytes_to_read
from eks_gpu.planning.pod_template import Container, PodTemplate, WorkloadKind, asks_gpu
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.start_up import SAFETY_FACTOR, SETTLE_SECONDS, start_up_budget
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.start_up import file_system_speed, startup_probe
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses
from eks_gpu_policies.stack import Stack

_HOUR: Final = 3600
_TIERS: Final = {"transitionToIa": "Infrequent Access", "transitionToArchive": "Archive"}


def _readers(file_system: Resource, stack: Stack) -> tuple[PodTemplate, ...]:
    """Return the GPU pods that mount a file system."""
    pods = stack.storage.pods_by_file_system.get(file_system.urn, ())
    return tuple(pod for pod in pods if asks_gpu(pod) is True)


def _is_read(file_system: Resource, stack: Stack) -> bool:
    if _readers(file_system, stack):
        return True
    mounting = stack.storage.pods_by_file_system.get(file_system.urn, ())
    unclear = (
        *(answer for pod in mounting if isinstance(answer := asks_gpu(pod), NotKnown)),
        *stack.storage.unclear_ways(file_system),
        *(what for pod, what in stack.storage.unclear if asks_gpu(pod) is not False),
    )
    if unclear:
        raise NotKnownError(unclear[0])
    return False


def _check(file_system: Resource, stack: Stack) -> Iterator[Outcome]:
    pods = _readers(file_system, stack)
    yield from clauses(_tiers(file_system), _throughput(file_system, pods))


def _throughput(file_system: Resource, pods: tuple[PodTemplate, ...]) -> Iterator[Outcome]:
    mode = file_system.view["throughputMode"].text()
    if mode in {None, storage.EFS_THROUGHPUT_BURSTING}:
        yield from _bursting(mode, pods)
    elif mode == storage.EFS_THROUGHPUT_PROVISIONED:
        yield from clauses(*(_provisioned(file_system, pod) for pod in pods))


def _bursting(mode: str | None, pods: tuple[PodTemplate, ...]) -> Iterator[Outcome]:
    said = "is bursting" if mode else "has no throughputMode, which means bursting"
    per_gib = storage.EFS_BURSTING_BYTES_PER_SECOND_PER_GIB
    hours = storage.GIB / per_gib / _HOUR
    largest = max((size for pod in pods for size in _sizes(pod)), default=None)
    speed = (
        f"{per_gib // 1024} KiB/s for each GiB that it stores"
        if largest is None
        else f"{largest / storage.GIB * per_gib / storage.MIB:.1f} MiB/s for the {largest / GB:.3g} GB of a model"
    )
    names = ", ".join(pod.name for pod in pods)
    yield Problem(f"{said}: {speed}, {hours:.1f} h to read it once the credits are gone; {names} reads from it")


def _sizes(pod: PodTemplate) -> Iterator[int]:
    for container in need(pod.containers):
        size = attempt(bytes_to_read, pod, container)
        if isinstance(size, int):
            yield size


def _tiers(file_system: Resource) -> Iterator[Outcome]:
    for policy in file_system.view["lifecyclePolicies"].items():
        for key, tier in _TIERS.items():
            after = policy[key]
            if after.exists:
                yield Problem(
                    f"moves files to {tier} {_spoken(after)}: a model that was not read for a while is slow, and "
                    "charged by the GB, on the day it is needed",
                    fix=f"remove {key} from lifecyclePolicies, as ModelCache does",
                )


def _spoken(after: View) -> str:
    return (after.text() or "").lower().replace("_", " ")


def _provisioned(file_system: Resource, pod: PodTemplate) -> Iterator[Outcome]:
    """Judge what is provisioned by the startup probes of those who wait for it."""
    if need(pod.kind) is not WorkloadKind.INFERENCE:
        return
    probed = (item for item in pod.gpu_containers if item.place["startupProbe"].exists)
    yield from clauses(*(_in_time(file_system, pod, container) for container in probed))


def _in_time(file_system: Resource, pod: PodTemplate, container: Container) -> Iterator[Outcome]:
    size = bytes_to_read(pod, container)
    if size is None:
        yield Undecided(declarations.MODEL_BYTES, f"how much {pod.name} reads")
        return
    speed = file_system_speed(file_system, size).bytes_per_second
    budget = start_up_budget(
        model_bytes=size, read_bytes_per_second=speed, image_bytes=0, volume_bytes_per_second=speed
    )
    allowed = startup_probe(container).allowed_seconds
    if budget.container_seconds > allowed:
        yield Problem(
            f"is provisioned with {speed / storage.MIB:.4g} MiB/s: the {size / GB:.3g} GB of {pod.name} take "
            f"{budget.read_seconds / _HOUR:.1f} h, and its startup probe waits {allowed} s",
            fix=f"set throughputMode {storage.EFS_THROUGHPUT_ELASTIC}, as ModelCache does{_enough(size, allowed)}",
        )


def _enough(size: int, allowed: int) -> str:
    """Return what would have to be provisioned to read in time; nothing where no single client can read so fast."""
    left = (allowed - SETTLE_SECONDS) / SAFETY_FACTOR
    if left <= 0 or size / left > storage.EFS_ELASTIC_CLIENT_BYTES_PER_SECOND:
        return ""
    return f", or provision {math.ceil(size / left / storage.MIB)} MiB/s at least"


RULE: Final = Rule(
    id="STOR005",
    title="A cache reads fast and stays hot",
    severity=Severity.HIGH,
    why=(
        "A bursting file system of 130 GiB gives 6 MiB/s when its credits are gone, which is the day on which several "
        "servers start at once: a model of 140 GB then takes 5.8 hours. Files in a colder class are slow at their "
        "first read, and every read of them is charged."
    ),
    fix="set throughputMode elastic and no transition to colder classes, as ModelCache does",
    lessons=("S03",),
    looks_at=Subjects[Resource](
        "EFS file systems that GPU pods mount",
        frozenset({tokens.FILE_SYSTEM}),
        lambda stack: stack.of_type(tokens.FILE_SYSTEM),
        _is_read,
    ),
    check=_check,
    failing=Example((*examples.model_cache(throughputMode=storage.EFS_THROUGHPUT_BURSTING), examples.on_cache())),
    passing=Example((*examples.model_cache(), examples.on_cache())),
)
