"""Settings of the software that makes a GPU visible to pods: one of two owners, never both."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from eks_gpu.settings.block import Block

MOST_REPLICAS: Final = 64
"""More pods than this on one GPU have less than half a gigabyte each of the largest one sold by the slice."""

_CHART_SOURCE: Final = re.compile(r"(?:https|oci)://[^\s/]\S*[^\s/]")


class TimeSlicing(Block):
    """One GPU handed to several pods in turn. They share its memory, and one that fails takes the others with it."""

    replicas: int = Field(ge=2, le=MOST_REPLICAS)
    """Pods on one GPU, 2 to 64. No default: each of them gets that fraction of the memory, and nothing enforces it."""

    rename: bool = False
    """Advertise ``nvidia.com/gpu.shared`` and not ``nvidia.com/gpu``, so that nobody gets a share who asked for a GPU.

    Off by default: no autoscaler knows the new name before a node has it."""


class Sharing(Block):
    """How a GPU is shared between pods. Empty means exclusive: a pod that asks for a GPU has it alone."""

    time_slicing: TimeSlicing | None = None
    """Let pods take turns on a GPU. For development; production inference is refused by policy."""

    @property
    def shared(self) -> bool:
        """Whether several pods share a GPU."""
        return self.time_slicing is not None


class _Owner(Block):
    """What both owners have in common."""

    sharing: Sharing = Sharing()
    """How each GPU is shared; exclusive by default."""

    chart_source: str | None = None
    """Mirror that holds the chart: an ``https://`` repository or an ``oci://`` prefix. The public one by default."""

    @field_validator("chart_source")
    @classmethod
    def _is_a_place_for_charts(cls, source: str | None) -> str | None:
        if source is not None and not _CHART_SOURCE.fullmatch(source):
            raise ValueError(
                f"{source!r} is no place for charts; give an https:// repository or an oci:// prefix, with no slash at "
                "the end"
            )
        return source


class Operator(_Owner):
    """NVIDIA's GPU Operator: device plugin, DCGM exporter, feature discovery and MIG manager from one release."""

    kind: Literal["operator"]
    """``operator``."""


class DevicePlugin(_Owner):
    """The plain path: RuntimeClass and device plugin, nothing else. Smaller; without MIG management."""

    kind: Literal["device_plugin"]
    """``device_plugin``."""


GpuSoftware = Annotated[Operator | DevicePlugin, Field(discriminator="kind")]
"""The ``gpu_software`` block: exactly one owner of the GPUs, chosen by ``kind``."""
