"""What the GPU pools of a stack cost: the resources behind the figures of ``eks_gpu.planning.spend``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu.planning.spend.demand import Berth, Demand
from eks_gpu.planning.spend.overhead import Overhead, overhead
from eks_gpu.planning.spend.prices import Prices
from eks_gpu.planning.spend.report import StackSpend, spend
from eks_gpu_policies.readers.replicas import is_placeholder, replicas, stays
from eks_gpu_policies.stack import Stack

_PARTS: Final = "asks for parts of GPUs"
_NONE: Final = float("inf")


def stack_spend(stack: Stack, prices: Prices) -> StackSpend:
    """Return what the GPU pools of a stack cost, with the stack's own workloads on them."""
    demands: list[Demand] = []
    uncounted: list[str] = []
    for pod in stack.pods:
        wanted = attempt(_demand, pod, stack)
        if isinstance(wanted, NotKnown):
            uncounted.append(f"{pod.name} ({wanted.path} is {wanted.reason})")
        elif isinstance(wanted, str):
            uncounted.append(f"{pod.name} ({wanted})")
        elif wanted is not None:
            demands.append(wanted)
    # Placeholders give way to whatever else there is, so that they are looked at last.
    demands.sort(key=lambda demand: demand.placeholder)
    result = spend(stack.gpu_pools, demands, prices)
    pools = tuple(
        replace(told, daemons=_overhead(pool, stack)) for told, pool in zip(result.pools, stack.gpu_pools, strict=True)
    )
    unclear = tuple(f"{stack.by_urn[what.source].name}: {what.path} is {what.reason}" for what in stack.unclear_pools)
    return replace(result, pools=pools, uncounted=tuple(uncounted), unclear=unclear)


def _overhead(pool: Pool, stack: Stack) -> Overhead | None:
    """Return what DaemonSets take of the pool's cheapest node, of which their share is the largest."""
    reaching = attempt(stack.daemon_reach.reaching, pool)
    if isinstance(reaching, NotKnown) or not pool.gpu_types:
        return None
    return overhead(min(pool.gpu_types, key=_price), ((daemon.name, daemon.template) for daemon in reaching))


def _demand(pod: PodTemplate, stack: Stack) -> Demand | str | None:
    """Return what a workload needs; why it is not counted; or None when it is no GPU workload that stays."""
    if not stays(pod) or not pod.asks_gpu:
        return None
    if stack.by_urn[pod.urn].view.at("spec", "suspend").boolean():
        return None
    gpus = whole_gpus(pod)
    if not gpus:
        return _PARTS
    return Demand(
        name=pod.name,
        pods=replicas(pod, stack),
        gpus=gpus,
        berths=tuple(_berths(pod, stack)),
        placeholder=is_placeholder(pod, stack),
    )


def whole_gpus(pod: PodTemplate) -> int:
    """Return how many whole GPUs one pod asks for; 0 for one that asks for shares, slices or by claim."""
    asked = (need(box.limits).get(resources.GPU) or need(box.requests).get(resources.GPU) for box in pod.gpu_containers)
    return int(sum((quantity(amount) or 0 for amount in asked if amount is not None), 0))


def _berths(pod: PodTemplate, stack: Stack) -> Iterator[Berth]:
    """Yield where the pod may run, as the nodes are filled: fixed ones first, then pools in Karpenter's order."""
    for pool in sorted(stack.landing(pod), key=lambda item: _turn(item, stack)):
        instance = cheapest_for(pod, pool, stack)
        if instance is not None:
            yield Berth(pool.urn, instance)


def _turn(pool: Pool, stack: Stack) -> tuple[bool, float, tuple[int, ...]]:
    """Return a sort key: nodes that are there, then the highest weight, then names from Z to A."""
    if pool.kind is not PoolKind.NODE_POOL:
        return False, 0, ()
    weight = attempt(stack.by_urn[pool.urn].view.at("spec", "weight").number)
    known = weight if isinstance(weight, float) else 0.0
    return True, -known, tuple(-ord(letter) for letter in pool.name)


def cheapest_for(pod: PodTemplate, pool: Pool, stack: Stack) -> InstanceType | None:
    """Return the cheapest type of a pool that admits the pod and has room for it; None when none does.

    Where nobody can tell whether there is room, as without the EC2NodeClass, the types that have the GPUs count.
    """
    placement = stack.placed(pod, pool)
    types = placement.types
    if placement.unclear is not None:
        gpus = whole_gpus(pod)
        types = tuple(kind for kind in stack.places.types_selected(pod, pool) if kind.gpu_count >= gpus)
    return min(types, key=_price, default=None)


def _price(kind: InstanceType) -> float:
    return _NONE if kind.usd_per_hour is None else kind.usd_per_hour
