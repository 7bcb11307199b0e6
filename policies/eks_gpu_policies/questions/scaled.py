"""How many replicas a server has at least and at most, if something scales it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import once
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
    called = owner.name if name is None else name
    scaled = _scalers(stack).get(pod.urn) or _scalers(stack).get((pod.owner_kind, called))
    if scaled is not None:
        return need(scaled)
    if pod.owner_kind == _GROUPS:
        groups = owner.view.at("spec", "replicas").integer()
        count = 1 if groups is None else groups
    else:
        count = replicas(pod, stack)
    return Count(count, count)


@once
def _scalers(stack: Stack) -> Mapping[Hashable, Count | NotKnown]:
    """Return what scales, by kind and name of what it scales, or by its URN where the name is computed from it."""
    return dict(pair for scaler in stack.of_type(*sorted(tokens.SCALERS)) for pair in _read(scaler, stack))


def _read(scaler: Resource, stack: Stack) -> Iterator[tuple[Hashable, Count | NotKnown]]:
    target = scaler.view.at("spec", "scaleTargetRef")
    kind, name = attempt(target["kind"].text), attempt(target["name"].text)
    counts = attempt(_count, scaler)
    if isinstance(name, NotKnown):
        yield from ((owner.urn, counts) for owner in stack.computed_from(scaler, "spec", *_SCALED))
    elif name is not None and not isinstance(kind, NotKnown):
        yield (kind or _DEPLOYMENT, name), counts


_SCALED: Final = ("kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:StatefulSet")


def _count(scaler: Resource) -> Count:
    spec = scaler.view["spec"]
    keda = tokens.kind(scaler.type) == "ScaledObject"
    least = spec["minReplicaCount" if keda else "minReplicas"].integer()
    most = spec["maxReplicaCount" if keda else "maxReplicas"].integer()
    floor = (0 if keda else 1) if least is None else least
    return Count(floor, max(floor, _MOST if most is None else most))
