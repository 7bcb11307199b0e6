"""The cost of stacks as data: what ``eks-gpu cost --json`` prints. Keys are stable; amounts are US dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_gpu.planning.pool import HOURS_PER_MONTH
from eks_gpu.planning.spend.difference import Change, PoolDifference, difference
from eks_gpu.planning.spend.figures import Amount, Figure, Total
from eks_gpu.planning.spend.overhead import Overhead
from eks_gpu.planning.spend.prices import Prices
from eks_gpu.planning.spend.report import ASSUMPTIONS, Bound, PoolSpend, StackSpend

HOURS_PER_DAY: Final = 24
_CENTS: Final = 4
"""Decimals of an amount: prices of an hour have as many."""


@dataclass(frozen=True, slots=True)
class StackCost:
    """What a stack costs, and what it may."""

    stack: str
    spend: StackSpend
    monthly_budget_usd: float | None

    @property
    def left_of_budget(self) -> float | None:
        """What the budget leaves above the ceiling in a month, below zero where it does not reach.

        None without a budget, or where the ceiling of a pool is not known.
        """
        ceiling = self.spend.total(Bound.CEILING)
        if self.monthly_budget_usd is None or ceiling.missing or self.spend.unclear:
            return None
        return self.monthly_budget_usd - ceiling.on_demand * HOURS_PER_MONTH


def compared(cost: StackCost, against: StackCost) -> tuple[PoolDifference, ...]:
    """Return how a stack's pools differ from another's."""
    return difference(cost.spend, against.spend)


def as_document(costs: Mapping[str, StackCost], prices: Prices, against: StackCost | None) -> dict[str, Any]:
    """Return everything as one JSON document."""
    return {
        "currency": "USD",
        "hours_per_month": HOURS_PER_MONTH,
        "prices": {
            "on_demand": {"as_of": prices.on_demand_as_of, "source": prices.on_demand_source},
            "spot": {"as_of": prices.spot.as_of, "source": prices.spot.source},
        },
        "assumptions": {bound.value: text for bound, text in ASSUMPTIONS.items()},
        "stacks": {name: _stack(item) for name, item in costs.items()},
        **({} if against is None else {"against": _comparison(costs, against)}),
    }


def _stack(cost: StackCost) -> dict[str, Any]:
    left = cost.left_of_budget
    return {
        "pools": [_pool(pool) for pool in cost.spend.pools],
        "total": {bound.value: _total(cost.spend.total(bound)) for bound in Bound},
        "monthly_budget": cost.monthly_budget_usd,
        "left_of_budget": None if left is None else round(left, 2),
        "unplaced_workloads": list(cost.spend.unplaced),
        "uncounted_workloads": list(cost.spend.uncounted),
        "unclear_pools": list(cost.spend.unclear),
    }


def _pool(pool: PoolSpend) -> dict[str, Any]:
    return {
        "name": pool.name,
        "kind": pool.kind,
        "urn": pool.urn,
        "capacity_types": list(pool.capacity_types),
        **{bound.value: _figure(pool.figures[bound]) for bound in Bound},
        "without_spot_price": list(pool.without_spot_price),
        "daemon_sets": None if pool.daemons is None else _overhead(pool.daemons),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    if isinstance(figure, Amount):
        return {**_per_hour(figure.on_demand, figure.spot), "because": figure.because}
    return {**_per_hour(None, None), "because": figure.because}


def _total(total: Total) -> dict[str, Any]:
    return {
        **_per_hour(total.on_demand, total.spot),
        "per_day": {"on_demand": _money(total.on_demand, HOURS_PER_DAY), "spot": _money(total.spot, HOURS_PER_DAY)},
        "per_month": {
            "on_demand": _money(total.on_demand, HOURS_PER_MONTH),
            "spot": _money(total.spot, HOURS_PER_MONTH),
        },
        "without": list(total.missing),
    }


def _per_hour(on_demand: float | None, spot: float | None) -> dict[str, Any]:
    return {"per_hour": {"on_demand": _money(on_demand), "spot": _money(spot)}}


def _money(usd: float | None, hours: int = 1) -> float | None:
    return None if usd is None else round(usd * hours, _CENTS)


def _overhead(overhead: Overhead) -> dict[str, Any]:
    return {
        "instance_type": overhead.instance.name,
        "cpu_millicores": overhead.cpu_millicores,
        "memory_mib": overhead.memory_mib,
        "share": round(overhead.share, _CENTS),
        "per_node_and_day": _money(overhead.usd_per_day),
        "counted": list(overhead.daemons),
        "uncounted": list(overhead.uncounted),
    }


def _comparison(costs: Mapping[str, StackCost], against: StackCost) -> dict[str, Any]:
    return {
        "stack": against.stack,
        "pools": {
            name: [
                {
                    "name": item.name,
                    "kind": item.kind,
                    "change": item.change.value,
                    "more_per_hour": {bound.value: _money(item.usd_per_hour[bound]) for bound in Bound},
                }
                for item in compared(cost, against)
                if item.change is not Change.SAME
            ]
            for name, cost in costs.items()
        },
    }
