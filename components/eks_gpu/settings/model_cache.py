"""Settings of the model cache."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from eks_gpu.settings.block import Block


class ModelCache(Block):
    """A shared file system that model servers read weights from, so that a restart downloads nothing."""

    size_gib: int = Field(ge=1)
    """Size stated in the claim, in GiB. EFS grows and bills by what is stored; plans and quotas go by this number."""

    throughput: Literal["elastic"] = "elastic"
    """How the file system's speed is paid for. Elastic alone: a bursting one with 130 GiB stored reads 6 MiB/s, so
    that a 140 GB model takes hours."""
