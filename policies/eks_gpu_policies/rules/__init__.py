"""The rules, one file each, and the tuple that makes the pack. Nothing registers itself."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.cost import cost001, cost002
from eks_gpu_policies.rules.nodes import node001, node004, node006
from eks_gpu_policies.rules.security import sec001
from eks_gpu_policies.rules.sharing import share002
from eks_gpu_policies.rules.software import soft001, soft005
from eks_gpu_policies.rules.storage import stor001, stor002
from eks_gpu_policies.rules.workloads import work003, work005, work006

RULES: Final[tuple[Rule[Any], ...]] = (
    node001.RULE,
    node004.RULE,
    node006.RULE,
    soft001.RULE,
    soft005.RULE,
    share002.RULE,
    work003.RULE,
    work005.RULE,
    work006.RULE,
    stor001.RULE,
    stor002.RULE,
    cost001.RULE,
    cost002.RULE,
    sec001.RULE,
)
"""Every rule, in the order in which reports list them."""

BY_ID: Final = {rule.id: rule for rule in RULES}
