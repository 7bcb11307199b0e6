"""Whether instance types can have the Elastic Fabric Adapters that a group or pool asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType

EFA_LAYOUT_UNKNOWN: Final = ("p6-",)
"""Families whose network cards are numbered in a way that is not established here."""


def refuse_impossible_efa(types: Sequence[InstanceType]) -> None:
    """Raise ``ValueError`` where one list of network interfaces cannot give every type all of its adapters."""
    without = [kind.name for kind in types if kind.efa_interfaces == 0]
    if without:
        raise ValueError(
            f"{', '.join(without)} has no Elastic Fabric Adapter; remove efa, or use types that have one, "
            "such as p4d.24xlarge or p5.48xlarge"
        )
    unknown = [kind.name for kind in types if kind.name.startswith(EFA_LAYOUT_UNKNOWN)]
    if unknown:
        raise ValueError(
            f"the order of the network cards of {', '.join(unknown)} is not established here; remove efa: "
            f"Karpenter then attaches adapters for pods that ask for {resources.EFA}"
        )
    if len({kind.efa_interfaces for kind in types}) > 1:
        counts = ", ".join(f"{kind.name} has {kind.efa_interfaces}" for kind in types)
        raise ValueError(
            f"the types have different numbers of Elastic Fabric Adapters ({counts}), and one list of interfaces "
            "cannot serve them; make one pool for each"
        )
