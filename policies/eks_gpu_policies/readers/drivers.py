"""NVIDIA's driver on the nodes of a pool: whether their image brings it, and of which branch it is."""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.facts.ami import AMI_TYPES, UBUNTU, AmiFamily
from eks_gpu.facts.compatibility import AL2023_DRIVERS
from eks_gpu.planning.pool import ImageSource, Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.pool_software import auto_mode

_RELEASE_DATE: Final = re.compile(r"(?:^|[-v])(20\d{6})$")
_NAMES_NVIDIA: Final = re.compile(r"nvidia|gpu", re.IGNORECASE)
_NAMES_STANDARD: Final = re.compile(r"/standard/|-standard-", re.IGNORECASE)
_AMI_TYPE: Final = "amiType"


def brings_driver(pool: Pool, program: Program) -> bool:
    """Return whether the image of a pool's nodes brings NVIDIA's driver and container toolkit.

    Raises ``NotKnownError`` where nobody can tell, as of an image of somebody's own.
    """
    if auto_mode(pool):
        return True
    image = need(pool.image)
    family = need(image.family)
    if family is UBUNTU:
        return False
    by_type = _by_ami_type(pool, program)
    if by_type is not None:
        return by_type
    sources = {choice.source for choice in image.choices}
    if pool.kind is PoolKind.NODE_POOL and sources == {ImageSource.ALIAS}:
        # Karpenter takes the NVIDIA variant of a family for every instance type that has such GPUs.
        return isinstance(family, AmiFamily)
    said = [need(choice.value) for choice in image.choices]
    if said and all(_NAMES_NVIDIA.search(text) for text in said):
        return True
    if said and all(_NAMES_STANDARD.search(text) for text in said):
        return False
    raise NotKnownError(NotKnown(pool.urn, "image", "nobody says whether it brings NVIDIA's driver"))


def _by_ami_type(pool: Pool, program: Program) -> bool | None:
    """Return what the AMI type of a node group tells; None where it tells nothing."""
    if pool.kind is PoolKind.NODE_POOL:
        return None
    view = program.by_urn[pool.urn].view
    if view["gpu"].boolean():
        return True
    name = view[_AMI_TYPE].text()
    known = AMI_TYPES.get(name or "")
    if known is not None:
        return known.nvidia
    return True if name is not None and _NAMES_NVIDIA.search(name) else None


def branch_of_image(pool: Pool) -> int:
    """Return the newest branch of the driver that a pool's image has; raise ``NotKnownError`` when it is not known."""
    image = need(pool.image)
    unknown = NotKnownError(NotKnown(pool.urn, "image", "which branch of NVIDIA's driver it has"))
    if need(image.family) is not AmiFamily.AL2023 or len(image.choices) != 1:
        raise unknown
    value = attempt(need, image.choices[0].value)
    match = _RELEASE_DATE.search(value) if isinstance(value, str) else None
    found = [branch for since, branch in AL2023_DRIVERS if match and int(match[1]) >= since]
    if not found:
        raise unknown
    return max(found)
