"""In which order Karpenter tries node pools: cheap ones first.

Karpenter knows no price across pools. It tries them by weight, high to low, then by name from Z to A, so that without
weights a pod that needs one small GPU may get a machine with eight large ones.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from eks_gpu.facts import instances
from eks_gpu.settings.gpu_pool import GpuPool

HIGHEST: Final = 100
LOWEST: Final = 1
"""The bounds of a weight (NodePool CRD, Karpenter 1.14.1, checked 2026-11-21). An unset weight counts as 0."""


def pool_weight(pool: GpuPool) -> int:
    """Return the weight of a pool: the cheaper its cheapest instance type, the higher.

    It is the rank of that price among all prices of the catalogue, so that it does not depend on what other pools
    there are: adding one changes no other. Pools of equal price weigh the same. Types without a price
    (capacity blocks only) come last.
    """
    known = [kind.usd_per_hour for kind in pool.types if kind.usd_per_hour is not None]
    if not known:
        return LOWEST
    return max(LOWEST, HIGHEST - _prices().index(min(known)))


@cache
def _prices() -> tuple[float, ...]:
    """Return every price of the catalogue once, cheapest first."""
    return tuple(sorted({kind.usd_per_hour for kind in instances.CATALOGUE.values() if kind.usd_per_hour is not None}))
