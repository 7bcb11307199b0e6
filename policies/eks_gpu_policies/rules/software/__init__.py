"""Rules on GPU software."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.software import soft001, soft002, soft004, soft005

RULES: Final[tuple[Rule[Any], ...]] = (
    soft001.RULE,
    soft002.RULE,
    soft004.RULE,
    soft005.RULE,
)
