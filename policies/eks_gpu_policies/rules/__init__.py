"""The rules, one file each, and the tuple that makes the pack. Nothing registers itself."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules import (
    cost,
    nodes,
    observability,
    security,
    sharing,
    software,
    storage,
    workloads,
)

RULES: Final[tuple[Rule[Any], ...]] = (
    *nodes.RULES,
    *software.RULES,
    *sharing.RULES,
    *workloads.RULES,
    *storage.RULES,
    *observability.RULES,
    *cost.RULES,
    *security.RULES,
)
"""Every rule, in the order in which reports list them."""

BY_ID: Final = {rule.id: rule for rule in RULES}
