"""Rules on nodes, disks, images and pools."""

from __future__ import annotations

from typing import Any, Final

from eks_gpu_policies.rule import Rule
from eks_gpu_policies.rules.nodes import (
    node001,
    node002,
    node003,
    node004,
    node005,
    node006,
    node007,
    node008,
    node009,
    node010,
    node011,
    node012,
    node013,
    node014,
    node015,
    node016,
    node017,
)

RULES: Final[tuple[Rule[Any], ...]] = (
    node001.RULE,
    node002.RULE,
    node003.RULE,
    node004.RULE,
    node005.RULE,
    node006.RULE,
    node007.RULE,
    node008.RULE,
    node009.RULE,
    node010.RULE,
    node011.RULE,
    node012.RULE,
    node013.RULE,
    node014.RULE,
    node015.RULE,
    node016.RULE,
    node017.RULE,
)
