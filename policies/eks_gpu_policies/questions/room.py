"""Which pools let a pod on and may have room for it; what differs in nothing but names is asked once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final
from weakref import WeakKeyDictionary, proxy

from eks_gpu.planning.placement import Demand
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown
from eks_gpu_policies.stack import Stack

Lot = tuple[Pool, ...]
"""Pools that differ in nothing but names: what is true of the first is true of all."""


class Room:
    """The pools of a stack in lots, with the answers that were given."""

    def __init__(self, stack: Stack) -> None:
        """Take the pools that buy GPUs, or may."""
        # A cache that held its key would never be emptied.
        self._stack: Stack = proxy(stack)
        self._lots: dict[Demand, tuple[Lot, ...]] = {}
        self._pools: dict[Demand, tuple[Pool, ...]] = {}

    @cached_property
    def lots(self) -> tuple[Lot, ...]:
        """All lots."""
        found: dict[int, list[Pool]] = {}
        for pool in self._stack.pools:
            if pool.unlisted or isinstance(pool.types, NotKnown) or pool.types:
                found.setdefault(id(self._stack.places.supply(pool)), []).append(pool)
        return tuple(tuple(lot) for lot in found.values())

    def lots_for(self, pod: PodTemplate) -> tuple[Lot, ...]:
        """Return the lots that are known to let a pod on, and may have room for it."""
        question = self._stack.places.demand(pod)
        if question not in self._lots:
            self._lots[question] = tuple(lot for lot in self.lots if self._may_hold(lot[0], pod))
        return self._lots[question]

    def _may_hold(self, pool: Pool, pod: PodTemplate) -> bool:
        return self._stack.may_land(pod, pool) and not self._stack.placed(pod, pool).refuses

    def pools_for(self, pod: PodTemplate) -> tuple[Pool, ...]:
        """Return the pools in them."""
        question = self._stack.places.demand(pod)
        if question not in self._pools:
            self._pools[question] = tuple(pool for lot in self.lots_for(pod) for pool in lot)
        return self._pools[question]

    @cached_property
    def with_gpu_pods(self) -> Mapping[str, bool]:
        """The URNs of the pools on which a pod that asks for GPUs may find room."""
        demands = {self._stack.places.demand(pod): pod for pod in self._stack.gpu_pods}
        return {pool.urn: True for pod in demands.values() for pool in self.pools_for(pod)}


_CACHE: Final[WeakKeyDictionary[Stack, Room]] = WeakKeyDictionary()


def room(stack: Stack) -> Room:
    """Return where there is room in a stack; what was asked before is remembered."""
    if stack not in _CACHE:
        _CACHE[stack] = Room(stack)
    return _CACHE[stack]
