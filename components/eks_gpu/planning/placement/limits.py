"""A pool's own bounds: its limits, its size, and among how many values Karpenter must be able to choose."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement.column import Chosen
from eks_gpu.planning.placement.demand import in_units
from eks_gpu.planning.placement.node_room import MIB, VM_OVERHEAD
from eks_gpu.planning.placement.refusal import NoNodes, OverLimit, Refusal, TooFewValues
from eks_gpu.planning.placement.space import Space
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, need

_ONE_NODE: Final = 1


class Limits:
    """What a pool may not exceed.

    Karpenter counts whole nodes: of an empty pool it buys no type that has more of a limited resource than the limit.
    """

    def __init__(self, pool: Pool, space: Space) -> None:
        """Find the types of ``space`` of which the pool may have one node."""
        self._space = space
        self._unclear = pool.limits if isinstance(pool.limits, NotKnown) else None
        self._excess: dict[int, OverLimit] = {}
        for place, kind in enumerate(space.types):
            excess = _excess(pool, kind)
            if excess is not None:
                self._excess[place] = excess
        self._within = space.all.maybe & ~sum(1 << place for place in self._excess)
        self._empty = _is_empty(pool)
        requirements = () if isinstance(pool.requirements, NotKnown) else pool.requirements
        self._least = [(each.key, each.min_values) for each in requirements if each.min_values]

    def within(self, chosen: Chosen, *, needs_gpu: bool) -> Chosen | Refusal:
        """Return those of the types that stay within bounds, or why none does.

        A pod that needs no GPU may also get types that are not in the catalogue, so nobody counts its choice.
        """
        if self._empty:
            return NoNodes()
        maybe = chosen.maybe & self._within
        if not maybe:
            return min(
                (self._excess[place] for place, _ in self._space.members(chosen.maybe)), key=lambda each: each.needed
            )
        left = Chosen(chosen.sure & maybe, maybe, chosen.unclear)
        if self._unclear:
            left = _left_open(left, self._unclear)
        return self._varied(left) if needs_gpu and self._least else left

    def _varied(self, chosen: Chosen) -> Chosen | Refusal:
        if chosen.maybe & self._space.unlisted:
            return _left_open(chosen)
        for key, least in self._least:
            left = self._space.variety(key, chosen.maybe)
            if isinstance(left, NotKnown):
                return _left_open(chosen, left)
            if left < least:
                return TooFewValues(key, least, left)
            if need(self._space.variety(key, chosen.sure)) < least:
                return _left_open(chosen)
        return chosen


def _left_open(chosen: Chosen, why: NotKnown | None = None) -> Chosen:
    """Return that nothing is sure; ``why``, where nothing was unclear before."""
    return Chosen(0, chosen.maybe, chosen.unclear or why)


def _is_empty(pool: Pool) -> bool:
    """Return whether a pool of a fixed size has room for no node."""
    size = pool.size
    if isinstance(size, NotKnown):
        return False
    if pool.kind is PoolKind.NODE_POOL:
        return size.desired == 0 or size.maximum == 0
    return size.maximum == 0


def _excess(pool: Pool, kind: InstanceType) -> OverLimit | None:
    """Return the limit that one node of a type exceeds."""
    if pool.kind is not PoolKind.NODE_POOL or isinstance(pool.limits, NotKnown):
        return None
    has = {
        resources.CPU: kind.vcpu * 1000,
        resources.MEMORY: int(kind.memory_mib * (1 - VM_OVERHEAD)) * MIB,
        resources.GPU: kind.gpu_count,
        resources.EFA: kind.efa_interfaces,
        resources.NODES: _ONE_NODE,
    }
    for name, text in pool.limits.items():
        limit = in_units(name, text)
        if limit is not None and has.get(name, 0) > limit:
            return OverLimit(name, limit, has[name], kind.name)
    return None
