"""Which instances besides GPUs a pool lets in by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pool import looks_like_gpu_family, looks_like_gpu_type
from eks_gpu.planning.requirements import Requirement

_DESCRIBES_GPUS: Final = frozenset(
    {
        labels.INSTANCE_GPU_NAME,
        labels.INSTANCE_GPU_COUNT,
        labels.INSTANCE_GPU_MEMORY,
        labels.INSTANCE_GPU_MANUFACTURER,
    }
)
"""Labels that only instances with GPUs have."""
_ASKING: Final = frozenset({"In", "Exists", "Gt", "Gte"})
_GPU_CATEGORIES: Final = frozenset({"g", "gr", "p"})
DEFAULT_TYPE: Final = "t3.medium"
"""What EKS buys for a node group that names no type (EKS API reference, CreateNodegroup, checked 2026-11-21)."""


def others(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of several instance types that have no NVIDIA GPU."""
    return tuple(name for name in names if not looks_like_gpu_type(name))


def only_gpus(requirements: Iterable[Requirement]) -> bool:
    """Return whether requirements let nothing but instances with GPUs through."""
    return any(_wants_gpus(requirement) for requirement in requirements)


def others_named(requirements: Iterable[Requirement]) -> tuple[str, ...]:
    """Return the instance types, families and categories without NVIDIA GPUs that requirements ask for by name."""
    known = tuple(requirements)
    if only_gpus(known):
        return ()
    return tuple(value for requirement in known for value in requirement.values if _names_other(requirement, value))


def _wants_gpus(requirement: Requirement) -> bool:
    if requirement.key in _DESCRIBES_GPUS:
        return requirement.operator in _ASKING and (requirement.operator, requirement.values) != ("In", ("0",))
    is_gpu = _IS_GPU.get(requirement.key)
    if is_gpu is None:
        return False
    return requirement.operator == "In" and bool(requirement.values) and all(map(is_gpu, requirement.values))


def _names_other(requirement: Requirement, value: str) -> bool:
    is_gpu = _IS_GPU.get(requirement.key)
    return is_gpu is not None and requirement.operator == "In" and not is_gpu(value)


_IS_GPU: Final = {
    labels.INSTANCE_TYPE: looks_like_gpu_type,
    labels.INSTANCE_FAMILY: looks_like_gpu_family,
    labels.INSTANCE_CATEGORY: _GPU_CATEGORIES.__contains__,
}
