"""Rules on pods."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.workloads import work003, work005, work006

RULES: Final[tuple[Rule[Any], ...]] = (
    work003.RULE,
    work005.RULE,
    work006.RULE,
)
