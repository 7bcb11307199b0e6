"""The labels a node of an instance type carries from the start, as Karpenter and EKS set them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.instance_labels import DESCRIBED
from eks_gpu.facts.instance_labels import instance_labels as karpenter_labels
from eks_gpu.facts.instances import CATALOGUE, InstanceType

OPERATING_SYSTEM: Final = "linux"

NAMES_INSTANCES: Final = frozenset(
    {
        labels.INSTANCE_TYPE,
        labels.INSTANCE_FAMILY,
        labels.INSTANCE_CATEGORY,
        labels.INSTANCE_GPU_NAME,
        labels.INSTANCE_GPU_COUNT,
        labels.INSTANCE_GPU_MEMORY,
        labels.INSTANCE_GPU_MANUFACTURER,
    }
)
"""Keys by which somebody who wants GPU instances says so. Whoever requires none of them gets GPUs by omission."""


def instance_labels(instance: InstanceType) -> Mapping[str, str | None]:
    """Return the labels that are the same on every node of the type; None for one that no node of it has.

    EKS sets the first three on nodes of managed groups; the others are Karpenter's.
    """
    return _labels(instance.name)


@cache
def _labels(name: str) -> Mapping[str, str | None]:
    instance = CATALOGUE[name]
    return MappingProxyType(
        {
            labels.INSTANCE_TYPE: instance.name,
            labels.ARCH: instance.arch,
            labels.OS: OPERATING_SYSTEM,
            **dict.fromkeys(DESCRIBED),
            **karpenter_labels(instance),
        }
    )
