"""Rules on pods."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.workloads import (
    work001,
    work002,
    work003,
    work004,
    work005,
    work006,
    work007,
    work008,
    work009,
    work010,
    work011,
    work012,
    work013,
    work014,
)

RULES: Final[tuple[Rule[Any], ...]] = (
    work001.RULE,
    work002.RULE,
    work003.RULE,
    work004.RULE,
    work005.RULE,
    work006.RULE,
    work007.RULE,
    work008.RULE,
    work009.RULE,
    work010.RULE,
    work011.RULE,
    work012.RULE,
    work013.RULE,
    work014.RULE,
)
