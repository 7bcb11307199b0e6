"""Rules on storage."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.storage import stor001, stor002, stor003, stor004, stor005, stor006

RULES: Final[tuple[Rule[Any], ...]] = (
    stor001.RULE,
    stor002.RULE,
    stor003.RULE,
    stor004.RULE,
    stor005.RULE,
    stor006.RULE,
)
