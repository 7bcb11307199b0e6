"""In which order Karpenter tries node pools for a pod, and what a node of each costs.

Karpenter tries pools by weight from high to low, then by name from Z to A, and takes the first that admits the pod;
price decides only within a pool (kubernetes-sigs/karpenter pkg/utils/nodepool/nodepool.go ``OrderByWeight``, at
2026-08-20). What a pod prefers it treats as required first, the heaviest preference longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from eks_gpu.planning.placement import admits
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu_policies.readers.work_at_risk import likely_types
from eks_gpu_policies.stack import Stack

DEAR: Final = 3
"""How many times the price of another pool makes one dear for a pod. Judgement: less may buy a faster GPU."""

_UNSET: Final = 0


@dataclass(frozen=True, slots=True)
class Offer:
    """What a node pool offers a pod."""

    pool: Pool
    weight: int
    own_name: str | NotKnown
    """The NodePool's own name, which decides between equal weights."""
    usd_per_hour: float
    """Of the cheapest instance type that admits the pod, on demand."""
    preference: int
    """The weights of the pod's preferences that it meets, together."""

    def __str__(self) -> str:
        """Return it as messages name it."""
        weight = f"weight {self.weight}" if self.weight else "no weight"
        return f"{self.pool.name} (${self.usd_per_hour:.2f}/h, {weight})"


def offers(pod: PodTemplate, stack: Stack) -> tuple[Offer, ...]:
    """Return what node pools offer a pod, in the order in which Karpenter tries them.

    Left out are static pools, which are not tried, and pools without a price, which buy reserved capacity only.

    Raises:
        NotKnownError: the order depends on a weight or a name that is not known.

    """
    known = _CACHE.setdefault(stack, {})
    question = (pod.urn, pod.path)
    if question not in known:
        known[question] = attempt(_offers, pod, stack)
    return need(known[question])


_CACHE: Final[WeakKeyDictionary[Stack, dict[tuple[str, str], tuple[Offer, ...] | NotKnown]]] = WeakKeyDictionary()


def _offers(pod: PodTemplate, stack: Stack) -> tuple[Offer, ...]:
    if len(stack.node_pools()) < _ENOUGH:
        return ()
    for wish in (pod.tolerations, pod.selector, pod.affinity):
        need(wish)
    for unclear in _unclear_pools(stack):
        admits(unclear, pod)
    pools = [pool for pool in stack.landing(pod) if pool.kind is PoolKind.NODE_POOL]
    if len(pools) < _ENOUGH:
        return ()
    found = [offer for pool in pools if (offer := _offer(pool, pod, stack)) is not None]
    _names_known(found)
    return tuple(sorted(found, key=lambda item: (item.preference, item.weight, _sortable(item.own_name)), reverse=True))


_UNCLEAR: Final[WeakKeyDictionary[Stack, tuple[Pool, ...]]] = WeakKeyDictionary()


def _unclear_pools(stack: Stack) -> tuple[Pool, ...]:
    """Return the node pools of which nobody can tell which pods they admit."""
    if stack not in _UNCLEAR:
        _UNCLEAR[stack] = tuple(
            pool
            for pool in stack.node_pools()
            if any(isinstance(part, NotKnown) for part in (pool.types, pool.requirements, pool.labels, pool.taints))
        )
    return _UNCLEAR[stack]


_ENOUGH: Final = 2
"""Pools between which there is an order."""


def _sortable(name: str | NotKnown) -> str:
    """Return a name to sort by; one that is not known is not needed to."""
    return "" if isinstance(name, NotKnown) else name


def _offer(pool: Pool, pod: PodTemplate, stack: Stack) -> Offer | None:
    resource = stack.by_urn[pool.urn]
    kinds = likely_types(pod, pool, stack)
    price = min((kind.usd_per_hour for kind in kinds if kind.usd_per_hour is not None), default=None)
    if price is None or resource.view.at("spec", "replicas").exists:
        return None
    name = attempt(resource.kubernetes_name)
    own = resource.view.at("metadata", "name").not_known() if name is None else name
    return Offer(
        pool, resource.view.at("spec", "weight").integer() or _UNSET, own, price, _preference(pod, pool, stack)
    )


def _preference(pod: PodTemplate, pool: Pool, stack: Stack) -> int:
    return max((item.preference for item in stack.placed(pod, pool).candidates), default=0)


def _names_known(found: list[Offer]) -> None:
    """Raise ``NotKnownError`` when a name that is not known decides between pools whose prices differ."""
    for unnamed in found:
        if isinstance(unnamed.own_name, NotKnown) and any(
            other is not unnamed and (other.weight, other.preference) == (unnamed.weight, unnamed.preference)
            for other in found
        ):
            raise NotKnownError(unnamed.own_name)
