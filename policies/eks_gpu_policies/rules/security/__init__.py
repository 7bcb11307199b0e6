"""Rules on exposure."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.security import sec001, sec002, sec003

RULES: Final[tuple[Rule[Any], ...]] = (
    sec001.RULE,
    sec002.RULE,
    sec003.RULE,
)
