"""What pools cost: the least, what is to be expected, and the most they can."""

from __future__ import annotations

from eks_gpu.planning.spend.ceiling import Ceiling, UnboundedSpendError, UnpricedError, ceiling

__all__ = ["Ceiling", "UnboundedSpendError", "UnpricedError", "ceiling"]
