"""Rules on pods."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.workloads import work003, work004, work005, work006, work008, work011, work013, work014

RULES: Final[tuple[Rule[Any], ...]] = (
    work003.RULE,
    work004.RULE,
    work005.RULE,
    work006.RULE,
    work008.RULE,
    work011.RULE,
    work013.RULE,
    work014.RULE,
)
