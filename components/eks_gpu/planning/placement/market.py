"""Which instance types of all would do for a pod, whatever pools there are."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement.answer import Candidate
from eks_gpu.planning.placement.demand import Demand
from eks_gpu.planning.placement.supply import Supply
from eks_gpu.planning.placement.wishes import Selection
from eks_gpu.planning.pool import Pool, PoolKind

_LARGEST_VOLUME_GIB: Final = 65536
"""Of gp3: what is wanted of disks is nothing to choose an instance type by."""


def cheapest(asked: Demand) -> Candidate | None:
    """Return the cheapest instance type that has what a pod asks for; None when none has, or nobody can tell.

    Of labels only those count that describe instance types.
    """
    if not isinstance(asked.selection, Selection):
        return None
    own = frozenset(key for key in asked.selection.keys if key not in _described())
    anywhere = replace(asked, selection=asked.selection.without(own), anchored=None, anchors=(), preferred=())
    return next(iter(_everything().place(anywhere).candidates), None)


@cache
def _everything() -> Supply:
    return Supply(
        Pool(
            name="EC2",
            kind=PoolKind.NODE_POOL,
            types=tuple(CATALOGUE.values()),
            disk_size_gib=_LARGEST_VOLUME_GIB,
        )
    )


@cache
def _described() -> frozenset[str]:
    return frozenset(key for kind in CATALOGUE.values() for key in instance_labels(kind))
