"""Settings of the software that makes a GPU visible to pods: one of two owners, never both."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from eks_gpu.settings.block import Block
from eks_gpu.settings.sharing import Sharing, refuse_without_operator
from eks_gpu.settings.validation import Validation

_CHART_SOURCE: Final = re.compile(r"(?:https|oci)://[^\s/]\S*[^\s/]")


class _Owner(Block):
    """What both owners have in common."""

    sharing: Sharing = Sharing()
    """How GPUs are shared on pools that do not say; exclusive by default."""

    chart_source: str | None = None
    """Mirror that holds the chart: an ``https://`` repository or an ``oci://`` prefix. The public one by default."""

    validation: Validation | None = None
    """Prove the GPUs of each pool before model servers start on them. Not done when left out."""

    @field_validator("sharing")
    @classmethod
    def _suits_every_gpu(cls, sharing: Sharing) -> Sharing:
        if sharing.mig is not None:
            raise ValueError(
                "mig cannot be the default of all pools, because each GPU model has layouts of its own; give it to the "
                "node groups that are to be partitioned: sharing: {mig: {profile: all-1g.5gb}}"
            )
        return sharing

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
    """The plain path: RuntimeClass and device plugin, nothing else. Smaller; exclusive GPUs and time-slicing only."""

    kind: Literal["device_plugin"]
    """``device_plugin``."""

    @model_validator(mode="after")
    def _shares_without_the_operator(self) -> Self:
        refuse_without_operator(self.sharing)
        return self


GpuSoftware = Annotated[Operator | DevicePlugin, Field(discriminator="kind")]
"""The ``gpu_software`` block: exactly one owner of the GPUs, chosen by ``kind``."""
