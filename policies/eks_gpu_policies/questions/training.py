"""Training workloads: the pods that train together, how long they run, and where they may run.

Not everything that Kubernetes calls a job trains. Tests of GPUs and of the network between them, tutorials, and jobs of
an hour at most lose nothing that is worth a rule; they are left out. A Job that does not say what it does may train.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from weakref import WeakKeyDictionary

from eks_gpu.facts import declarations
from eks_gpu.facts import labels as keys
from eks_gpu.planning.checkpoints import Saving, saving
from eks_gpu.planning.disruption import HOUR, LONGEST_JOB
from eks_gpu.planning.pod_template import Container, PodTemplate, WorkloadKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.told import heard
from eks_gpu.planning.trials import TESTS, is_a_trial
from eks_gpu_policies.readers.replicas import on_the_way
from eks_gpu_policies.stack import Stack

_TOGETHER: Final = frozenset({"PyTorchJob", "MPIJob", "TFJob", "JAXJob", "TrainJob", "JobSet", "RayJob", "RayCluster"})
"""Kinds whose pod templates work on one thing: what one of them mounts or is told serves all."""

_PLAIN: Final = frozenset({"Job", "CronJob"})
"""Kinds that may do anything."""

_TUTORIALS: Final = re.compile(r"mnist|cifar-?10|tf_cnn_benchmarks|synthetic[-_]?(?:data|benchmark)", re.IGNORECASE)
"""What is learnt in minutes, from data that everybody has."""

_TRAINS: Final = re.compile(
    r"(?<![a-z])(?:pre)?train(?:ing|er)?(?![a-z])|fine[-_]?tun|torchrun|torch\.distributed|deepspeed"
    r"|accelerate\s+launch|horovod|megatron|(?<![a-z])(?:sft|dpo|grpo|fsdp)(?![a-z])",
    re.IGNORECASE,
)
"""Words of those who train."""

_SHORT: Final = HOUR


@dataclass(frozen=True, eq=False)
class Training:
    """A workload that trains, or may."""

    pod: PodTemplate
    """The template by which it is called: the first that asks for GPUs."""
    pods: tuple[PodTemplate, ...]
    """All templates that work on the same thing."""
    owner: View
    certain: bool
    """Whether it is known to train. A Job that does not say so may as well do something else."""

    @property
    def name(self) -> str:
        """What people call it."""
        return self.pod.name

    @cached_property
    def declared(self) -> Mapping[str, str]:
        """Its annotations: its pods' over its owner's."""
        found = self.owner.at("metadata", "annotations").text_map()
        for pod in self.pods:
            found |= need(pod.annotations)
        return found

    @cached_property
    def runs(self) -> float:
        """Seconds that the longest job takes: as declared, else its deadline, else three days."""
        said = self.declared.get(declarations.LONGEST_JOB_HOURS)
        declared = None if said is None else quantity(said)
        if declared is not None:
            return float(declared) * HOUR
        deadline = _deadline(self.owner, self.pod)
        return LONGEST_JOB if deadline is None else deadline

    @cached_property
    def saving(self) -> Saving:
        """How it saves its work."""
        return saving(self.pods, self.declared)

    @cached_property
    def count(self) -> int:
        """How many of its pods ask for GPUs."""
        return sum(_pods_of(self.owner, pod) for pod in self.pods if pod.asks_gpu)

    @property
    def gang(self) -> bool:
        """Whether several pods train together. Those of a Job that takes them one after the other do not."""
        if self.count == 1:
            return False
        job = self.owner["spec"] if self.pod.owner_kind == "Job" else self.owner.at("spec", "jobTemplate", "spec")
        completions = attempt(job["completions"].integer)
        return not isinstance(completions, int) or completions <= self.count


def saves(training: Training) -> bool | NotKnown:
    """Return whether a workload saves often, durably, and resumes (WORK009), as far as anybody can tell."""
    outcome = attempt(lambda: training.saving)
    return outcome if isinstance(outcome, NotKnown) else outcome.verdict


_CACHE: Final[WeakKeyDictionary[Stack, Mapping[tuple[str, str], Training]]] = WeakKeyDictionary()


def trainings(stack: Stack) -> tuple[Training, ...]:
    """Return the workloads of a stack that are known to train, or known to be jobs that may."""
    return tuple(_index(stack).values())


def training_of(pod: PodTemplate, stack: Stack) -> Training | None:
    """Return the workload that a pod trains in, if it is the one by which the workload is called.

    Raises ``NotKnownError`` where it is not known what the pod is for.
    """
    return _index(stack).get((pod.urn, pod.path)) if _trains(pod) else None


def _index(stack: Stack) -> Mapping[tuple[str, str], Training]:
    """Return the workloads by owner and path of the pod by which they are called. They are read once."""
    if stack not in _CACHE:
        found = (_training(pods, stack) for pods in _by_owner(stack))
        _CACHE[stack] = {(item.pod.urn, item.pod.path): item for item in found if item is not None}
    return _CACHE[stack]


def _by_owner(stack: Stack) -> list[tuple[PodTemplate, ...]]:
    """Return the pods that belong together."""
    found: dict[tuple[str, str], list[PodTemplate]] = {}
    for pod in stack.pods:
        alone = "" if pod.owner_kind in _TOGETHER else pod.path
        found.setdefault((pod.urn, alone), []).append(pod)
    return [tuple(pods) for pods in found.values()]


def _training(pods: tuple[PodTemplate, ...], stack: Stack) -> Training | None:
    """Return what the pods of an owner train in; None where they are not known to."""
    lead = next((pod for pod in pods if attempt(_trains, pod) is True), None)
    if lead is None:
        return None
    owner = stack.by_urn[lead.urn].view
    certain = attempt(_is_certain, pods, owner)
    if certain is None:
        return None
    training = Training(lead, pods, owner, certain is True)
    return None if _is_short(training) else training


def _trains(pod: PodTemplate) -> bool:
    return need(pod.kind) is WorkloadKind.TRAINING and pod.asks_gpu


def _is_short(training: Training) -> bool:
    runs = attempt(lambda: training.runs)
    return not isinstance(runs, NotKnown) and runs <= _SHORT


def _is_certain(pods: tuple[PodTemplate, ...], owner: View) -> bool | None:
    """Return whether pods of a training kind are known to train; None for those that are known to test."""
    gpu = [container for pod in pods for container in need(pod.containers) if container.asks_gpu]
    said = [_words(container) for pod in pods for container in need(pod.containers)]
    names = (pods[0].name, attempt(owner.at("metadata", "name").text))
    words = " ".join(text for text in (*said, *names) if isinstance(text, str))
    if _TUTORIALS.search(words) is not None:
        return None
    if _TRAINS.search(words) is not None:
        return True
    if TESTS.search(words) is not None or all(map(is_a_trial, gpu)):
        return None
    if pods[0].owner_kind not in _PLAIN:
        return True
    labelled = any(keys.WORKLOAD in need(pod.labels) for pod in pods)
    return labelled or owner.at("metadata", "labels", keys.WORKLOAD).exists


def _words(container: Container) -> str:
    """Return what an image is called and told, as far as it is known."""
    words, _ = heard(container.place)
    return " ".join(words if isinstance(container.image, NotKnown) else (container.image, *words))


# --- along the way from an object to its pods ------------------------------------------------------------------------

_COUNTS: Final = ("replicas", "parallelism", "numNodes", "size")


def _pods_of(owner: View, pod: PodTemplate) -> int:
    """Return how many pods come from a template."""
    count = 1
    for place in (*on_the_way(owner, pod.path), owner.at("spec", "trainer")):
        for key in _COUNTS:
            count *= max(place[key].integer() or 1, 1)
    return count


def _deadline(owner: View, pod: PodTemplate) -> float | None:
    """Return after how many seconds a job is ended, whatever it does."""
    places = (*on_the_way(owner, pod.path), owner.at("spec", "runPolicy"))
    found = (place["activeDeadlineSeconds"].number() for place in places)
    return min((seconds for seconds in found if seconds is not None), default=None)
