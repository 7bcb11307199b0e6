"""Which instance types of all would do for a pod, whatever pools there are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Final

from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement.answer import Candidate
from eks_gpu.planning.placement.demand import Demand
from eks_gpu.planning.placement.supply import Supply
from eks_gpu.planning.placement.wishes import Selection
from eks_gpu.planning.pool import Pool, PoolKind

_LARGEST_VOLUME_GIB: Final = 65536
"""Of gp3: what is wanted of disks is nothing to choose an instance type by."""


def cheapest(asked: Demand, like: Collection[InstanceType] = ()) -> Candidate | None:
    """Return the cheapest instance type that has what a pod asks for; None when none has, or nobody can tell.

    Of labels only those count that describe instance types. One with a GPU ``like`` those of some types comes first,
    and next one of their architecture, because the pod's image may run on no other.
    """
    if not isinstance(asked.selection, Selection):
        return None
    own = frozenset(key for key in asked.selection.keys if key not in _described())
    anywhere = replace(asked, selection=asked.selection.without(own), anchored=None, anchors=(), preferred=())
    models, architectures = {kind.gpu_model for kind in like}, {kind.arch for kind in like}
    found = _everything().place(anywhere).candidates
    alike = (each for each in found if each.instance.gpu_model in models and each.instance.arch in architectures)
    runs = (each for each in found if each.instance.arch in architectures)
    return next(chain(alike, runs, found), None)


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
