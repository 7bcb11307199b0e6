"""Rules on sharing GPUs."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.sharing import share001, share002, share003, share004, share005

RULES: Final[tuple[Rule[Any], ...]] = (
    share001.RULE,
    share002.RULE,
    share003.RULE,
    share004.RULE,
    share005.RULE,
)
