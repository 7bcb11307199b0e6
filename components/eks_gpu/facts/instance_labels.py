"""The labels by which Karpenter describes an instance type on its nodes, and in what NodePools may require."""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.instances import InstanceType

SOURCE = "aws/karpenter-provider-aws v1.14.1 pkg/providers/instancetype/types.go (computeRequirements)"
CHECKED = "2026-11-21"

_FAMILY: Final = re.compile(r"([a-z]+)(\d+)")

DESCRIBED: Final[tuple[str, ...]] = (
    labels.INSTANCE_CATEGORY,
    labels.INSTANCE_FAMILY,
    labels.INSTANCE_GENERATION,
    labels.INSTANCE_SIZE,
    labels.INSTANCE_CPU,
    labels.INSTANCE_MEMORY,
    labels.INSTANCE_EBS_BANDWIDTH,
    labels.INSTANCE_NETWORK_BANDWIDTH,
    labels.INSTANCE_LOCAL_NVME,
    labels.INSTANCE_GPU_NAME,
    labels.INSTANCE_GPU_MANUFACTURER,
    labels.INSTANCE_GPU_COUNT,
    labels.INSTANCE_GPU_MEMORY,
)
"""All that `instance_labels` can tell. Hypervisor, tenancy, processor and encryption are not in the catalogue."""


def instance_labels(instance: InstanceType) -> dict[str, str]:
    """Return those of `DESCRIBED` that the nodes of a type have: none about disks or GPUs where there are none.

    A type whose GPUs EC2 counts as none (g6f) says so; one without GPU does not speak of them.
    """
    family = _FAMILY.match(instance.family)
    category, generation = family.groups() if family else (instance.family, "")
    amounts = {
        labels.INSTANCE_EBS_BANDWIDTH: instance.ebs_bandwidth_mbps,
        labels.INSTANCE_NETWORK_BANDWIDTH: instance.network_bandwidth_mbps,
        labels.INSTANCE_LOCAL_NVME: instance.local_nvme_gb,
    }
    gpu = {
        labels.INSTANCE_GPU_NAME: instance.gpu_name,
        labels.INSTANCE_GPU_MANUFACTURER: labels.ACCELERATOR_NVIDIA,
        labels.INSTANCE_GPU_COUNT: str(instance.gpu_count),
        labels.INSTANCE_GPU_MEMORY: str(instance.gpu_memory_mib),
    }
    return {
        labels.INSTANCE_CATEGORY: category,
        labels.INSTANCE_FAMILY: instance.family,
        labels.INSTANCE_GENERATION: generation,
        labels.INSTANCE_SIZE: instance.size,
        labels.INSTANCE_CPU: str(instance.vcpu),
        labels.INSTANCE_MEMORY: str(instance.memory_mib),
        **{key: str(amount) for key, amount in amounts.items() if amount},
        **(gpu if instance.gpu_name else {}),
    }
