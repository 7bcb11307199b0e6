"""What the kubelet of every GPU node is told, whichever operating system and whoever makes the node."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import resources
from eks_gpu.settings.gpu_pool import GpuPool

IMAGE_GC_HIGH_PERCENT: Final = 80
"""Fullness of the image volume at which kubelet starts to remove unused images. Below the eviction threshold of 90 %,
so that images go before pods do; kubelet's own default is 85."""

IMAGE_GC_LOW_PERCENT: Final = 60
"""Fullness at which it stops: room for two of the largest images on a volume of 100 GiB."""

IMAGE_MAXIMUM_AGE: Final = "168h"
"""Age at which an unused image is removed however empty the volume is: a week."""


def reserved(pool: GpuPool) -> dict[str, str]:
    """Return what is reserved beside EKS's own figures, by resource, as Kubernetes quantities.

    EKS's figures stay for resources that are not named: kubelet merges the two maps, and Karpenter and Bottlerocket do.
    """
    wanted = pool.image.kubelet_reserved
    amounts = {
        resources.CPU: None if wanted.cpu_millicores is None else f"{wanted.cpu_millicores}m",
        resources.MEMORY: None if wanted.memory_mib is None else f"{wanted.memory_mib}Mi",
        resources.EPHEMERAL_STORAGE: None
        if wanted.ephemeral_storage_gib is None
        else f"{wanted.ephemeral_storage_gib}Gi",
    }
    return {resource: amount for resource, amount in amounts.items() if amount is not None}


def node_class_settings(pool: GpuPool) -> dict[str, object]:
    """Return the ``kubelet`` block of an EC2NodeClass: what Karpenter computes with, and hands on to the node."""
    settings: dict[str, object] = {
        "imageGCHighThresholdPercent": IMAGE_GC_HIGH_PERCENT,
        "imageGCLowThresholdPercent": IMAGE_GC_LOW_PERCENT,
    }
    extra = reserved(pool)
    return {**settings, "kubeReserved": extra} if extra else settings


def configuration(pool: GpuPool) -> dict[str, object]:
    """Return the fields of the KubeletConfiguration that differ from the image's own."""
    return {
        "imageGCHighThresholdPercent": IMAGE_GC_HIGH_PERCENT,
        "imageGCLowThresholdPercent": IMAGE_GC_LOW_PERCENT,
        "imageMaximumGCAge": IMAGE_MAXIMUM_AGE,
        **({"kubeReserved": extra} if (extra := reserved(pool)) else {}),
    }
