"""Pools and pods by hand, for tests of where a pod can run."""

from __future__ import annotations

from collections.abc import Mapping

from eks_gpu.facts import resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU
from eks_gpu.planning.placement import Placement
from eks_gpu.planning.pod_template import (
    Container,
    PodTemplate,
    Toleration,
)
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown

UNKNOWN = NotKnown("urn", "somewhere")
ANYWHERE = (Toleration(None, "Exists", "", None),)


def pool(*types: str, kind: PoolKind = PoolKind.NODE_POOL, **settings: object) -> Pool:
    found = tuple(CATALOGUE[name] for name in types or ("g5.xlarge",))
    return Pool(name="p", kind=kind, types=found, **{"taints": (GPU,), **settings})  # type: ignore[arg-type]  # settings


def group(*types: str, **settings: object) -> Pool:
    return pool(*types, kind=PoolKind.NODE_GROUP, **settings)


def pod(gpus: str = "1", asks: Mapping[str, str] | None = None, **settings: object) -> PodTemplate:
    wanted = {**({resources.GPU: gpus} if gpus != "0" else {}), **(asks or {})}
    return PodTemplate(name="pod", containers=(Container(name="c", limits=wanted),), **settings)  # type: ignore[arg-type]  # settings


def names(placement: Placement) -> list[str]:
    return [kind.name for kind in placement.types]
