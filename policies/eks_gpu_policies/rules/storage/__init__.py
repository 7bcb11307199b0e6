"""Rules on storage."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.storage import stor001, stor002

RULES: Final[tuple[Rule[Any], ...]] = (
    stor001.RULE,
    stor002.RULE,
)
