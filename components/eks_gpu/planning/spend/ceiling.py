"""The most a pool can cost.

Spot is counted at the price on demand by :func:`ceiling`: what spot will cost is not known, and a pool may fall back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.pool import HOURS_PER_MONTH, Pool, PoolKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import need

_UNLIMITED: Final = "has no limit on its GPUs"

Price = Callable[[InstanceType], float | None]
"""What an instance of a type costs in an hour; None where that is not known."""


class UnboundedSpendError(ValueError):
    """A pool's cost has no ceiling, or none that can be computed."""


class UnpricedError(UnboundedSpendError):
    """A pool may buy what has no price here."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most a pool can cost."""

    pool: str
    usd_per_hour: float
    because: str
    """How the figure comes about: ``8 GPUs x $4.096``."""

    @property
    def usd_per_month(self) -> float:
        """The same for a month of 730 hours."""
        return self.usd_per_hour * HOURS_PER_MONTH


def on_demand(instance: InstanceType) -> float | None:
    """Return the price on demand of the catalogue."""
    return instance.usd_per_hour


def ceiling(pool: Pool, price: Price = on_demand) -> Ceiling:
    """Return the most a pool can cost at ``price``; raise :class:`UnboundedSpendError` when nothing bounds it."""
    prices = {item.name: price(item) for item in pool.gpu_types}
    unpriced = [*pool.unlisted, *(name for name, usd in prices.items() if usd is None)]
    if unpriced:
        raise UnpricedError(f"may buy {', '.join(unpriced)}, whose price is not known")
    known = {name: usd for name, usd in prices.items() if usd is not None}
    if pool.static:
        return _of_nodes(pool, most_nodes(pool), known)
    return _of_limits(pool, known)


def most_nodes(pool: Pool) -> int:
    """Return how many nodes a static pool may have; raise :class:`UnboundedSpendError` when it does not say."""
    size = need(pool.size)
    counts = [size.desired, size.maximum] if pool.kind is PoolKind.NODE_POOL else [size.maximum]
    known = [count for count in counts if count is not None]
    if not known:
        raise UnboundedSpendError("has no largest size")
    return max(known)


def _of_nodes(pool: Pool, nodes: int, prices: dict[str, float]) -> Ceiling:
    name = max(prices, key=lambda item: prices[item], default="")
    price = prices.get(name, 0.0)
    return Ceiling(pool.name, nodes * price, f"{nodes} x {name} at ${price:.3f}/h")


def _of_limits(pool: Pool, prices: dict[str, float]) -> Ceiling:
    """Return the smaller of what the limit on GPUs and the limit on CPUs allow.

    Karpenter counts no GPU on a type that has only parts of one, so a limit on GPUs does not bound a pool with such.
    """
    candidates = []
    gpus = pool.gpu_limit
    if gpus is not None and pool.gpu_types and all(item.gpu_count for item in pool.gpu_types):
        per_gpu = max(prices[item.name] / item.gpu_count for item in pool.gpu_types)
        candidates.append(Ceiling(pool.name, gpus * per_gpu, f"{gpus:g} GPUs x ${per_gpu:.3f}/h"))
    cpus = quantity(need(pool.limits).get(resources.CPU, ""))
    if cpus is not None:
        per_cpu = max((prices[item.name] / item.vcpu for item in pool.gpu_types), default=0.0)
        candidates.append(Ceiling(pool.name, float(cpus) * per_cpu, f"{float(cpus):g} vCPU x ${per_cpu:.3f}/h"))
    if not candidates:
        raise UnboundedSpendError(_UNLIMITED)
    return min(candidates, key=lambda item: item.usd_per_hour)
