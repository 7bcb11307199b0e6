"""Rules on GPU software."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.software import soft001, soft002, soft003, soft004, soft005, soft006, soft007

RULES: Final[tuple[Rule[Any], ...]] = (
    soft001.RULE,
    soft002.RULE,
    soft003.RULE,
    soft004.RULE,
    soft005.RULE,
    soft006.RULE,
    soft007.RULE,
)
