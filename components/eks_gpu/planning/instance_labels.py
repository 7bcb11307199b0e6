"""The labels a node of an instance type carries from the start, as Karpenter and EKS set them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.instances import CATALOGUE, InstanceType

OPERATING_SYSTEM: Final = "linux"

_FAMILY: Final = re.compile(r"([a-z]+)(\d+)")

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

    As Karpenter computes them (karpenter-provider-aws v1.14.1, pkg/providers/instancetype/types.go, checked
    2026-11-21). EKS sets the first three on nodes of managed groups; the others are Karpenter's.
    """
    return _labels(instance.name)


@cache
def _labels(name: str) -> Mapping[str, str | None]:
    instance = CATALOGUE[name]
    family = _FAMILY.match(instance.family)
    category, generation = family.groups() if family else (instance.family, "")
    return MappingProxyType(
        {
            labels.INSTANCE_TYPE: instance.name,
            labels.ARCH: instance.arch,
            labels.OS: OPERATING_SYSTEM,
            labels.INSTANCE_CATEGORY: category,
            labels.INSTANCE_FAMILY: instance.family,
            labels.INSTANCE_GENERATION: generation,
            labels.INSTANCE_SIZE: instance.size,
            labels.INSTANCE_CPU: str(instance.vcpu),
            labels.INSTANCE_MEMORY: str(instance.memory_mib),
            labels.INSTANCE_EBS_BANDWIDTH: _unless_zero(instance.ebs_bandwidth_mbps),
            labels.INSTANCE_NETWORK_BANDWIDTH: _unless_zero(instance.network_bandwidth_mbps),
            labels.INSTANCE_LOCAL_NVME: _unless_zero(instance.local_nvme_gb),
            labels.INSTANCE_GPU_NAME: instance.gpu_name,
            labels.INSTANCE_GPU_COUNT: str(instance.gpu_count),
            labels.INSTANCE_GPU_MEMORY: str(instance.gpu_memory_mib),
            labels.INSTANCE_GPU_MANUFACTURER: labels.ACCELERATOR_NVIDIA,
        }
    )


def _unless_zero(amount: int) -> str | None:
    return str(amount) if amount else None
