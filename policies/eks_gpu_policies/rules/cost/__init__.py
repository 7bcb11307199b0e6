"""Rules on money and quotas."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.cost import cost001, cost002, cost003, cost004, cost005, cost006

RULES: Final[tuple[Rule[Any], ...]] = (
    cost001.RULE,
    cost002.RULE,
    cost003.RULE,
    cost004.RULE,
    cost005.RULE,
    cost006.RULE,
)
