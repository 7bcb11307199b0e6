"""What to change so that a pool admits a pod that it refuses: the least that would do, as a sentence to somebody."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.planning.placement.answer import Candidate
from eks_gpu.planning.placement.demand import Demand
from eks_gpu.planning.placement.market import cheapest
from eks_gpu.planning.placement.refusal import (
    Contradictory,
    Elsewhere,
    NoNodes,
    NoPods,
    NotBoughtFor,
    OverLimit,
    Refusal,
    TooFewValues,
    TooLarge,
    Unlabelled,
    Untolerated,
    amount,
    some,
)
from eks_gpu.planning.pool import Pool, PoolKind


def remedy(asked: Demand, pool: Pool, refusal: Refusal) -> str:
    """Return what to change about a pod or the pool that refuses it."""
    match refusal:
        case Untolerated(taint=taint):
            return f"tolerate {taint}, if the pod belongs on {pool.name}"
        case Unlabelled():
            return _relabelled(pool, refusal)
        case Contradictory(selection=selection) if not selection.alternatives:
            return "write a condition into the affinity term, or remove it"
        case Elsewhere():
            return f"give {pool.name} a subnet in the volume's zone, or make the volume where the pod may run"
        case TooLarge():
            return _smaller(asked, pool, refusal)
    return _roomier(pool, refusal) or _bigger(asked, pool)


def _roomier(pool: Pool, refusal: Refusal) -> str | None:
    """Return which bound of a pool to widen; None where none is reached."""
    match refusal:
        case NotBoughtFor(resource=resource):
            return _made_known(resource)
        case NoNodes():
            return f"raise the largest size of {pool.name} to 1 at least"
        case NoPods():
            return f"let nodes of {pool.name} have more pods (maxPods), or let it buy larger types"
        case OverLimit(resource=resource, needed=needed):
            return f"raise the limit of {pool.name} to {amount(resource, needed)} at least"
        case TooFewValues(key=key, left=left):
            return f"lower minValues of {key} to {left}, or let {pool.name} buy more types that fit the pod"
    return None


def _relabelled(pool: Pool, refusal: Unlabelled) -> str:
    key, name = refusal.wish.key, pool.name
    if not refusal.wish.asks:
        excluded = f"{key}={some(refusal.offered, 'or')}" if refusal.offered else f"the label {key}"
        return f"do not exclude {excluded}, which nodes of {name} have, or add a pool"
    if refusal.offered:
        return f"require {key}={some(refusal.offered, 'or')}, as nodes of {name} have it, or add a pool"
    if _is_others(key, pool):
        return f"require a label that nodes of {name} have: only {_MAKERS[pool.kind]} {key}"
    if key.partition("/")[0] in _OF_KARPENTER:
        return f"require a label that Karpenter gives to nodes: it has none that is called {key}"
    return f"give {name} the label {key}, or do not require it"


_MAKERS: Final = {
    PoolKind.NODE_POOL: "nodes of EKS's groups have",
    PoolKind.NODE_GROUP: "nodes that Karpenter makes have",
    PoolKind.SELF_MANAGED: "nodes that Karpenter or EKS makes have",
}


def _is_others(key: str, pool: Pool) -> bool:
    """Return whether a label that a pool's nodes do not have is set by those who make nodes of another kind."""
    domain = key.partition("/")[0]
    return domain == labels.EKS_AUTO_DOMAIN or (domain in _OF_KARPENTER and pool.kind is not PoolKind.NODE_POOL)


_OF_KARPENTER: Final = frozenset(key.partition("/")[0] for key in (labels.CAPACITY_TYPE, labels.INSTANCE_FAMILY))


def _smaller(asked: Demand, pool: Pool, refusal: TooLarge) -> str:
    resource, room = refusal.resource, refusal.room
    if resource == resources.EPHEMERAL_STORAGE:
        return f"ask for at most {amount(resource, room)}, or give nodes of {pool.name} a larger volume for images"
    if resources.is_gpu(resource) and resource != resources.GPU:
        return f"ask for at most {amount(resource, room)}" if room else _split(pool, resource)
    less = f"ask for at most {amount(resource, room)}" if room else "ask for less"
    found = cheapest(asked, pool.gpu_types)
    if found is None:
        return f"{less}: no instance type with GPUs has that much"
    larger = _buy(found, pool)
    return larger if resource == resources.GPU or not room else f"{less}, or {larger}"


def _split(pool: Pool, resource: str) -> str:
    return f"split the GPUs of {pool.name} so that its nodes have {resource}, or ask for {resources.GPU}"


def _made_known(resource: str) -> str:
    """Return how a pod gets what Karpenter does not know of."""
    there = "run it on nodes that are there: of a node group, or of a node pool with replicas"
    if resources.is_gpu(resource):
        return f"{there}; or tell Karpenter by a NodeOverlay's capacity, or ask for {resources.GPU}"
    return f"{there}; or ask for no {resource}"


def _bigger(asked: Demand, pool: Pool) -> str:
    found = cheapest(asked, pool.gpu_types)
    return "ask for less: no instance type with GPUs has that much" if found is None else _buy(found, pool)


def _buy(found: Candidate, pool: Pool) -> str:
    """Return which instance type would do: one like those that the pool has, if there is one."""
    price = "" if found.usd_per_hour is None else f" (${found.usd_per_hour:.3f}/h)"
    alike = found.instance.gpu_model in {kind.gpu_model for kind in pool.gpu_types}
    kind = f"with {found.instance.gpu_name} and" if alike else "type with"
    return f"let {pool.name} buy {found.instance.name}{price}, the cheapest {kind} room for it"
