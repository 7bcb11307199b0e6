"""Parts of GPUs in the words of other schedulers and plugins, which the device plugin of NVIDIA does not know."""

from __future__ import annotations

SOURCE = (
    "NVIDIA/KAI-Scheduler docs/gpu-sharing (annotations gpu-fraction, gpu-memory, read by Run:ai as well); "
    "Project-HAMi docs (nvidia.com/gpumem); volcano-sh/devices (volcano.sh/vgpu-number); "
    "AliyunContainerService/gpushare-device-plugin (aliyun.com/gpu-mem)"
)
CHECKED = "2026-11-21"

ANNOTATIONS: frozenset[str] = frozenset({"gpu-fraction", "gpu-memory"})
"""Annotations by which a pod asks for a part of a GPU instead of by a resource."""
WORD = "gpu"
"""What the names of all the resources have in common."""
