"""What a training workload loses with a node, in hours and in dollars."""

from __future__ import annotations

import math
from collections.abc import Iterator

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.disruption import HOUR, MINUTE, hours
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies.questions.room import room
from eks_gpu_policies.questions.training import Training
from eks_gpu_policies.stack import Stack


def at_risk(training: Training, stack: Stack, minutes: float | None = None) -> str:
    """Return what an interruption costs, as messages say it: ``minutes`` of work, or the whole job where None."""
    lost = training.runs if minutes is None else minutes * MINUTE
    price = attempt(_per_hour, training, stack)
    if isinstance(price, NotKnown) or price is None:
        return f"an interruption costs up to {hours(lost)} of work"
    dollars = price * lost / HOUR
    return (
        f"an interruption costs up to {hours(lost)} of work on {_nodes(training)} at ${price:.2f}/h together: "
        f"${dollars:,.0f}"
    )


def _nodes(training: Training) -> str:
    return "one pod" if training.count == 1 else f"{training.count} pods"


def _per_hour(training: Training, stack: Stack) -> float | None:
    """Return what all pods of a workload cost in an hour on the cheapest instance types that take them."""
    gpus = gpus_of(training.pod)
    prices = [
        instance.usd_per_hour * gpus / instance.gpu_count
        for lot in room(stack).lots_for(training.pod)
        for instance in likely_types(training.pod, lot[0], stack)
        if instance.usd_per_hour is not None and instance.gpu_count
    ]
    return min(prices) * training.count if prices and gpus else None


def gpus_of(pod: PodTemplate) -> int:
    """Return how many whole GPUs a pod asks for."""
    return math.ceil(sum(_gpus(pod)))


def _gpus(pod: PodTemplate) -> Iterator[float]:
    for container in need(pod.containers):
        asked = need(container.limits).get(resources.GPU) or need(container.requests).get(resources.GPU) or "0"
        yield float(quantity(asked) or 0)


def likely_types(pod: PodTemplate, pool: Pool, stack: Stack) -> tuple[InstanceType, ...]:
    """Return the instance types of a pool that admit a pod, for a price.

    Where nobody can tell which have room beside everything else, those count that have GPUs enough.
    """
    placement = stack.placed(pod, pool)
    if placement.unclear is None:
        return placement.types
    gpus = gpus_of(pod)
    return tuple(kind for kind in stack.places.types_selected(pod, pool) if kind.gpu_count >= gpus)
