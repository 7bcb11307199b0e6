"""What pools cost: the most they can, at list prices on demand in us-east-1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.pool import HOURS_PER_MONTH, Pool, PoolKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import need

_UNLIMITED: Final = "has no limit on its GPUs"


class UnboundedSpendError(ValueError):
    """A pool's cost has no ceiling, or none that can be computed."""


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


def ceiling(pool: Pool) -> Ceiling:
    """Return the most a pool can cost; raise :class:`UnboundedSpendError` when nothing bounds it.

    Spot is counted at the price on demand: what spot will cost is not known, and a pool may fall back.
    """
    unpriced = [*pool.unlisted, *(item.name for item in pool.gpu_types if item.usd_per_hour is None)]
    if unpriced:
        raise UnboundedSpendError(f"may buy {', '.join(unpriced)}, whose price is not known")
    if pool.static:
        return _of_nodes(pool, _most_nodes(pool))
    return _of_limits(pool)


def _most_nodes(pool: Pool) -> int:
    size = need(pool.size)
    counts = [size.desired, size.maximum] if pool.kind is PoolKind.NODE_POOL else [size.maximum]
    known = [count for count in counts if count is not None]
    if not known:
        raise UnboundedSpendError("has no largest size")
    return max(known)


def _of_nodes(pool: Pool, nodes: int) -> Ceiling:
    dearest = pool.dearest
    price = _price(dearest) if dearest is not None else 0.0
    name = "" if dearest is None else dearest.name
    return Ceiling(pool.name, nodes * price, f"{nodes} x {name} at ${price:.3f}/h")


def _of_limits(pool: Pool) -> Ceiling:
    """Return the smaller of what the limit on GPUs and the limit on CPUs allow."""
    candidates = []
    gpus = pool.gpu_limit
    whole = [item for item in pool.gpu_types if item.gpu_count]
    if gpus is not None and whole:
        per_gpu = max(_price(item) / item.gpu_count for item in whole)
        candidates.append(Ceiling(pool.name, gpus * per_gpu, f"{gpus:g} GPUs x ${per_gpu:.3f}/h"))
    cpus = quantity(need(pool.limits).get(resources.CPU, ""))
    if cpus is not None:
        per_cpu = max((_price(item) / item.vcpu for item in pool.gpu_types), default=0.0)
        candidates.append(Ceiling(pool.name, float(cpus) * per_cpu, f"{float(cpus):g} vCPU x ${per_cpu:.3f}/h"))
    if not candidates:
        raise UnboundedSpendError(_UNLIMITED)
    return min(candidates, key=lambda item: item.usd_per_hour)


def _price(instance: InstanceType) -> float:
    return instance.usd_per_hour or 0.0
