"""Which nodes a stack's own workloads need, as far as its resources say.

This is no simulation of the scheduler. Nodes of fixed size take what they admit first; for the rest, each workload gets
nodes of its own from the pool that Karpenter tries first, of the cheapest type there that admits its pods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.spend.figures import Nodes


@dataclass(frozen=True, slots=True)
class Berth:
    """Where a workload's pods may run."""

    pool: str
    """URN of the pool."""
    instance: InstanceType
    """The cheapest type of the pool that admits a pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A workload that stays, as a Deployment does."""

    name: str
    pods: int
    gpus: int
    """Whole GPUs that one pod asks for, at least one."""
    berths: tuple[Berth, ...]
    """In the order in which they are filled."""
    placeholder: bool = False
    """Whether its pods only keep nodes ready for others."""


@dataclass(frozen=True, slots=True)
class FixedNodes:
    """The nodes of a pool whose size is fixed."""

    count: int
    gpus: int
    """GPUs of each."""


@dataclass
class Needed:
    """The nodes that demand makes Karpenter buy."""

    nodes: dict[str, list[Nodes]] = field(default_factory=dict)
    """By the pool's URN."""
    unplaced: list[str] = field(default_factory=list)
    """Workloads that no pool has room for."""


def needed(demands: Iterable[Demand], fixed: Mapping[str, FixedNodes], limits: Mapping[str, float]) -> Needed:
    """Return what must be bought for ``demands``.

    ``fixed`` are the nodes that are there anyway, ``limits`` the GPUs that each of the other pools may have; both by
    the pool's URN.
    """
    free = {urn: [nodes.gpus] * nodes.count for urn, nodes in fixed.items()}
    room = dict(limits)
    result = Needed()
    for demand in demands:
        left = demand.pods
        for berth in demand.berths:
            if berth.pool in free:
                left -= _seat(left, demand.gpus, free[berth.pool])
        for berth in demand.berths:
            if left and berth.pool not in free:
                left -= _buy(left, demand, berth, room, result)
        if left > 0:
            result.unplaced.append(demand.name)
    return result


def _seat(pods: int, gpus: int, free: list[int]) -> int:
    """Put pods onto nodes that are there; return how many found a place."""
    seated = 0
    for index, left in enumerate(free):
        here = min(pods - seated, left // gpus)
        free[index] -= here * gpus
        seated += here
    return seated


def _buy(pods: int, demand: Demand, berth: Berth, room: dict[str, float], result: Needed) -> int:
    """Buy nodes within the pool's limit; return how many pods they hold."""
    # An overlay may give a GPU to a type that has only part of one, of which EC2 counts none.
    each = max(1, berth.instance.gpu_count)
    on_one = 1 if demand.placeholder else each // demand.gpus
    left = room.get(berth.pool, math.inf)
    if on_one < 1 or left < each:
        return 0
    count = math.ceil(pods / on_one)
    count = count if left == math.inf else min(count, int(left // each))
    room[berth.pool] = left - count * each
    result.nodes.setdefault(berth.pool, []).append(Nodes(count, berth.instance, demand.name))
    return min(pods, count * on_one)
