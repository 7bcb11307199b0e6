"""In which order Karpenter tries node pools for a pod, and what a node of each costs.

Karpenter tries pools by weight from high to low, then by name from Z to A, and takes the first that admits the pod;
price decides only within a pool (kubernetes-sigs/karpenter pkg/utils/nodepool/nodepool.go ``OrderByWeight``, at
2026-08-20). What a pod prefers it treats as required first, the heaviest preference longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from eks_gpu.planning.placement import Demand
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu_policies.questions.room import room
from eks_gpu_policies.questions.work_at_risk import likely_types
from eks_gpu_policies.stack import Stack

DEAR: Final = 3
"""How many times the price of another pool makes one dear for a pod. Judgement: less may buy a faster GPU."""

_UNSET: Final = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A node pool with what decides its place in the order."""

    pool: Pool
    known_weight: int | NotKnown
    name: str | NotKnown
    """The NodePool's own name, which decides between equal weights."""

    @property
    def weight(self) -> int:
        """Its weight; zero where none is said."""
        return need(self.known_weight)

    @property
    def sortable(self) -> str:
        """Its name to sort by; one that is not known is not needed to."""
        return "" if isinstance(self.name, NotKnown) else self.name


@dataclass(frozen=True, slots=True)
class Offer:
    """What a node pool offers a pod."""

    place: Place
    usd_per_hour: float
    """Of the cheapest instance type that admits the pod, on demand."""
    preference: int
    """The weights of the pod's preferences that it meets, together."""

    @property
    def name(self) -> str:
        """What people call the pool."""
        return self.place.pool.name

    def __str__(self) -> str:
        """Return it as messages name it."""
        weight = f"weight {self.place.weight}" if self.place.weight else "no weight"
        return f"{self.name} (${self.usd_per_hour:.2f}/h, {weight})"


def offers(pod: PodTemplate, stack: Stack) -> tuple[Offer, ...]:
    """Return what node pools offer a pod, in the order in which Karpenter tries them.

    Left out are static pools, which are not tried, and pools without a price, which buy reserved capacity only.

    Raises:
        NotKnownError: the order depends on a weight or a name that is not known.

    """
    known = _CACHE.setdefault(stack, {})
    question = stack.places.demand(pod)
    if question not in known:
        known[question] = attempt(_offers, pod, stack)
    return need(known[question])


_CACHE: Final[WeakKeyDictionary[Stack, dict[Demand, tuple[Offer, ...] | NotKnown]]] = WeakKeyDictionary()


def _offers(pod: PodTemplate, stack: Stack) -> tuple[Offer, ...]:
    if len(stack.node_pools()) < _ENOUGH:
        return ()
    lots = [lot for lot in _lots(stack) if stack.places.lets_in(pod, lot[0].pool)]
    found = [offer for lot in lots for offer in _of_lot(lot, pod, stack)]
    _names_known(found)
    return tuple(
        sorted(found, key=lambda item: (item.preference, item.place.weight, item.place.sortable), reverse=True)
    )


_ENOUGH: Final = 2
"""Pools between which there is an order."""


_LOTS: Final[WeakKeyDictionary[Stack, tuple[tuple[Place, ...], ...]]] = WeakKeyDictionary()


def _lots(stack: Stack) -> tuple[tuple[Place, ...], ...]:
    """Return the dynamic node pools with their places in the order; a lot differs in nothing else."""
    if stack not in _LOTS:
        lots = (tuple(_place(pool, stack) for pool in lot if _is_tried(pool, stack)) for lot in room(stack).lots)
        _LOTS[stack] = tuple(lot for lot in lots if lot)
    return _LOTS[stack]


def _is_tried(pool: Pool, stack: Stack) -> bool:
    if pool.kind is not PoolKind.NODE_POOL:
        return False
    replicas = stack.by_urn[pool.urn].view.at("spec", "replicas")
    return attempt(lambda: replicas.exists) is not True


def _place(pool: Pool, stack: Stack) -> Place:
    resource = stack.by_urn[pool.urn]
    name = attempt(resource.kubernetes_name)
    own = resource.view.at("metadata", "name").not_known() if name is None else name
    return Place(pool, attempt(lambda: resource.view.at("spec", "weight").integer() or _UNSET), own)


def _of_lot(lot: tuple[Place, ...], pod: PodTemplate, stack: Stack) -> Iterator[Offer]:
    """Yield what the first of a lot offers: the others cost the same."""
    kinds = likely_types(pod, lot[0].pool, stack)
    price = min((kind.usd_per_hour for kind in kinds if kind.usd_per_hour is not None), default=None)
    if price is None:
        return
    first = max(lot, key=lambda place: (need(place.known_weight), place.sortable))
    preference = max((item.preference for item in stack.placed(pod, first.pool).candidates), default=0)
    yield Offer(first, price, preference)


def _names_known(found: list[Offer]) -> None:
    """Raise ``NotKnownError`` when a name that is not known decides between pools whose prices differ."""
    for unnamed in found:
        if isinstance(unnamed.place.name, NotKnown) and any(
            other is not unnamed
            and (other.place.weight, other.preference) == (unnamed.place.weight, unnamed.preference)
            for other in found
        ):
            raise NotKnownError(unnamed.place.name)
