"""What the rest of the platform needs to know of the GPU software, whoever owns it."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, kw_only=True)
class GpuSoftware:
    """GPU software that is installed: one owner of every GPU."""

    ready: tuple[pulumi.Resource, ...]
    """What a pod that asks for a GPU must come after."""

    gpu_resource: str
    """Name by which pods ask for a GPU: ``nvidia.com/gpu``, or ``nvidia.com/gpu.shared`` where sharing renames it."""

    shared: bool
    """Whether several pods share a GPU. Then nobody can ask for more than one."""

    runtime_class_name: str | None
    """RuntimeClass for GPU pods to name; ``None`` on the operator path, where naming one breaks CDI."""

    owns_exporter: bool
    """Whether a DCGM exporter came with it. If not, monitoring brings one."""

    namespace: str
    """Namespace where it runs."""
