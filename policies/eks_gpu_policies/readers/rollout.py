"""How a Deployment is rolled out: how long it may take, and whether an update finds a GPU for the pod it adds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import View, need
from eks_gpu.planning.start_up import DEFAULT_DEADLINE_SECONDS
from eks_gpu_policies.resource import Resource

_USUAL: Final = "25%"
"""Kubernetes' default of both ``maxSurge``, rounded up, and ``maxUnavailable``, rounded down."""


def deadlines(deployment: Resource, *, awaited: bool) -> Iterator[tuple[str, float]]:
    """Yield what may call a rollout failed, with the seconds after which it does.

    ``awaited`` says whether an engine applies it. Its own timeout beats the annotation, as in pulumi-kubernetes.
    """
    said = deployment.view.at("spec", "progressDeadlineSeconds").number()
    yield "progressDeadlineSeconds", DEFAULT_DEADLINE_SECONDS if said is None else said
    annotations = deployment.view.at("metadata", "annotations")
    if awaited and not annotations[labels.SKIP_AWAIT].boolean():
        told = deployment.create_timeout_seconds or annotations[labels.TIMEOUT_SECONDS].number()
        yield f"Pulumi's wait (customTimeouts or {labels.TIMEOUT_SECONDS})", told or DEFAULT_DEADLINE_SECONDS


def starts_before_it_stops(deployment: View) -> bool:
    """Return whether an update of a Deployment must have a new pod ready before any old one goes."""
    spec = deployment["spec"]
    if spec.at("strategy", "type").text() == "Recreate" or replicas(deployment) == 0:
        return False
    rolling = spec.at("strategy", "rollingUpdate")
    return math.floor(_of(rolling["maxUnavailable"], replicas(deployment))) == 0


def replicas(deployment: View) -> int:
    """Return how many pods a Deployment keeps; one where it says nothing."""
    said = deployment.at("spec", "replicas").integer()
    return 1 if said is None else max(0, said)


def _of(place: View, whole: int) -> float:
    """Return a number of pods that is given as such or as a share of all."""
    text = place.text() or _USUAL
    share = quantity(text.removesuffix("%"))
    if share is None:
        return 0.0
    return float(share) * whole / 100 if text.endswith("%") else float(share)


def whole_gpus(pod: PodTemplate) -> int:
    """Return how many whole GPUs each pod asks for; 0 for one that asks for shares or slices."""
    asked = (quantity(need(container.limits).get(resources.GPU, "0")) for container in need(pod.containers))
    return int(sum(amount for amount in asked if amount is not None))


def most_pods(pool: Pool, gpus: int) -> float:
    """Return how many pods of ``gpus`` whole GPUs each a pool can hold at most, if it holds nothing else.

    Infinite where nothing bounds it. Raises ``NotKnownError`` when that is not known.
    """
    if pool.unlisted:
        return math.inf
    each = max((kind.gpu_count // gpus for kind in pool.gpu_types), default=0)
    size = need(pool.size)
    nodes = size.desired if pool.kind is PoolKind.NODE_POOL else size.maximum or size.desired
    if pool.kind is PoolKind.NODE_POOL and nodes is None:
        return math.inf if pool.gpu_limit is None else pool.gpu_limit // gpus
    return math.inf if nodes is None else nodes * each
