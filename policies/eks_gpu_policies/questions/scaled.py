"""How many replicas a server has at least and at most, if something scales it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnown, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.readers.replicas import replicas
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack

_DEPLOYMENT: Final = "Deployment"
_GROUPS: Final = "LeaderWorkerSet"
_MOST: Final = 100
"""What KEDA scales to where it is not told (``maxReplicaCount``, KEDA 2.x ScaledObject, checked 2026-11-21)."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many replicas there may be."""

    least: int
    most: int


def replicas_of(pod: PodTemplate, stack: Stack) -> Count:
    """Return how many replicas of a server there are; a group of pods that serve together is one.

    Raises:
        NotKnownError: the number is not known.

    """
    owner = stack.by_urn[pod.urn]
    name = attempt(owner.kubernetes_name)
    scaled = None if isinstance(name, NotKnown) else _scalers(stack).get((pod.owner_kind, name or owner.name))
    if scaled is not None:
        return scaled
    if pod.owner_kind == _GROUPS:
        groups = owner.view.at("spec", "replicas").integer()
        count = 1 if groups is None else groups
    else:
        count = replicas(pod, stack)
    return Count(count, count)


_CACHE: Final[WeakKeyDictionary[Stack, Mapping[tuple[str, str], Count]]] = WeakKeyDictionary()


def _scalers(stack: Stack) -> Mapping[tuple[str, str], Count]:
    """Return what scales, by kind and name of what it scales."""
    if stack not in _CACHE:
        scalers = stack.of_type(*sorted(tokens.SCALERS))
        _CACHE[stack] = dict(pair for scaler in scalers for pair in _read(scaler))
    return _CACHE[stack]


def _read(scaler: Resource) -> Iterator[tuple[tuple[str, str], Count]]:
    target = scaler.view.at("spec", "scaleTargetRef")
    kind, name = attempt(target["kind"].text), attempt(target["name"].text)
    counts = attempt(_count, scaler)
    if isinstance(name, str) and not isinstance(kind, NotKnown) and isinstance(counts, Count):
        yield (kind or _DEPLOYMENT, name), counts


def _count(scaler: Resource) -> Count:
    spec = scaler.view["spec"]
    keda = tokens.kind(scaler.type) == "ScaledObject"
    least = spec["minReplicaCount" if keda else "minReplicas"].integer()
    most = spec["maxReplicaCount" if keda else "maxReplicas"].integer()
    floor = (0 if keda else 1) if least is None else least
    return Count(floor, max(floor, _MOST if most is None else most))
