"""What must be true of metrics and alerts."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule

RULES: Final[tuple[Rule[Any], ...]] = ()
