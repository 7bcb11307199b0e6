"""Rules on sharing GPUs."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.sharing import share002

RULES: Final[tuple[Rule[Any], ...]] = (share002.RULE,)
