"""What must be true of metrics and alerts."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.observability import obs001, obs002, obs003, obs004, obs005

RULES: Final[tuple[Rule[Any], ...]] = (
    obs001.RULE,
    obs002.RULE,
    obs003.RULE,
    obs004.RULE,
    obs005.RULE,
)
