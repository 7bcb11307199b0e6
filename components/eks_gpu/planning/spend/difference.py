"""How the spend of two stacks differs, pool by pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from eks_gpu.planning.spend.figures import Amount, Figure
from eks_gpu.planning.spend.report import Bound, PoolSpend, StackSpend


class Change(StrEnum):
    """What became of a pool."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class PoolDifference:
    """How one pool differs."""

    name: str
    kind: str
    change: Change
    usd_per_hour: Mapping[Bound, float | None]
    """What it costs more (or, below zero, less) on demand; None where one of the two has no figure."""


def difference(stack: StackSpend, against: StackSpend) -> tuple[PoolDifference, ...]:
    """Return how ``stack`` differs from ``against``; pools are the same where kind and name are."""
    now, then = _by_name(stack), _by_name(against)
    return tuple(_compare(key, now.get(key), then.get(key)) for key in sorted(now.keys() | then.keys()))


def _by_name(stack: StackSpend) -> dict[tuple[str, str], PoolSpend]:
    return {(pool.name, pool.kind): pool for pool in stack.pools}


def _compare(key: tuple[str, str], now: PoolSpend | None, then: PoolSpend | None) -> PoolDifference:
    more = {bound: _more(_of(now, bound), _of(then, bound)) for bound in Bound}
    if then is None:
        return PoolDifference(*key, Change.ADDED, more)
    if now is None:
        return PoolDifference(*key, Change.REMOVED, more)
    same = now.figures == then.figures and now.capacity_types == then.capacity_types
    return PoolDifference(*key, Change.SAME if same else Change.CHANGED, more)


def _of(pool: PoolSpend | None, bound: Bound) -> Figure:
    return Amount(0.0, 0.0, "no such pool") if pool is None else pool.figures[bound]


def _more(now: Figure, then: Figure) -> float | None:
    return now.on_demand - then.on_demand if isinstance(now, Amount) and isinstance(then, Amount) else None
