"""Amounts of money, and the honest absence of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu.planning.spend.ceiling import Price, on_demand
from eks_gpu.planning.spend.prices import Prices

SPOT = "spot"
"""The capacity type, as Karpenter spells it."""


@dataclass(frozen=True, slots=True)
class Amount:
    """US dollars an hour."""

    on_demand: float
    spot: float | None
    """With the nodes that may be spot bought as spot, the others on demand; None where a spot price is not known."""
    because: str
    """How the figure comes about: ``2 x g5.2xlarge``."""


@dataclass(frozen=True, slots=True)
class Unpriced:
    """No figure can be given."""

    because: str
    """Why not."""


Figure = Amount | Unpriced
"""What something costs, or why nobody can say."""

NOTHING = Amount(0.0, 0.0, "no node")


@dataclass(frozen=True, slots=True)
class Nodes:
    """Some nodes of one type."""

    count: int
    instance: InstanceType
    what_for: str = ""
    """The workload that needs them; empty for those that are there anyway."""

    def __str__(self) -> str:
        """Return them in words: ``2 x g5.2xlarge for llm``."""
        return f"{self.count} x {self.instance.name}" + (f" for {self.what_for}" if self.what_for else "")


def spot_price(pool: Pool, prices: Prices) -> Price:
    """Return what the pool's instances cost where whatever may be spot is bought as spot."""
    return prices.on_spot if SPOT in need(pool.capacity_types) else on_demand


def cost_of(nodes: Iterable[Nodes], spot: Price) -> Figure:
    """Return what nodes cost; ``spot`` is their price where the pool's capacity is bought as cheaply as it may be."""
    counted = [item for item in nodes if item.count]
    if not counted:
        return NOTHING
    total, on_spot = 0.0, 0.0
    known = True
    for item in counted:
        usd, less = on_demand(item.instance), spot(item.instance)
        if usd is None:
            return Unpriced(f"the price of {item.instance.name} is not known")
        total += item.count * usd
        on_spot += item.count * (less or 0.0)
        known = known and less is not None
    return Amount(total, on_spot if known else None, ", ".join(str(item) for item in counted))


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of what can be summed."""

    on_demand: float
    spot: float | None
    missing: tuple[str, ...]
    """Why the sum is less than the whole: one reason for each pool without a figure."""


def total(figures: Iterable[tuple[str, Figure]]) -> Total:
    """Return the sum of figures by pool."""
    amounts: list[Amount] = []
    missing: list[str] = []
    for name, figure in figures:
        match figure:
            case Amount():
                amounts.append(figure)
            case Unpriced(because):
                missing.append(f"{name} {because}")
    spot = [amount.spot for amount in amounts if amount.spot is not None]
    return Total(
        sum(amount.on_demand for amount in amounts),
        sum(spot) if len(spot) == len(amounts) else None,
        tuple(missing),
    )
