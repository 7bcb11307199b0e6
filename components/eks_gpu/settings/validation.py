"""The ``validation`` block of the GPU software: how GPUs are proven before something is run on them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from eks_gpu.settings.block import Block

LONG_DIAGNOSTIC: Final = 3
"""The level of DCGM's diagnostics that stresses the GPUs."""

_LONG_DIAGNOSTIC_MINUTES: Final = 60
"""Level 3 takes about half an hour on eight GPUs (DCGM user guide, "Diagnostics", checked 2026-11-21); the images must
be pulled, and the GPUs be free, within the same time."""


class Collectives(StrEnum):
    """Between which GPUs an all-reduce by NCCL is tried."""

    AUTO = "auto"
    """Between those of a node wherever it has several, and between nodes as well where they have EFA."""

    NODE = "node"
    """Between those of a node only."""

    NONE = "none"
    """Nowhere: its image of some 25 GB is not pulled."""


class Validation(Block):
    """Prove GPUs before use: one Job for each pool, whose failure fails the deployment and says which check it was.

    A Job runs when there is something new to prove: another image, driver, chart, sharing or check. It asks for whole
    nodes, so in a pool at work it waits until GPUs are free, ``timeout_minutes`` at most.
    """

    diagnostic_level: Literal[1, 2, 3] = 1
    """Level of ``dcgmi diag``. 1 takes seconds and finds what is not installed or not permitted; 2 takes two minutes;
    3 stresses the GPUs for about half an hour, for hardware that is in doubt."""

    bandwidth: bool = True
    """Measure the way between host and GPU, and refuse less than the catalogue expects of the instance type."""

    nccl: Collectives = Collectives.AUTO
    """Between which GPUs an all-reduce is tried. Only on amd64: the image has no other architecture."""

    gate: bool = True
    """Let model servers wait for it. Without, they start beside it; a failure fails the deployment all the same."""

    node_pools: bool = False
    """Prove Karpenter's pools too: each buys a node for it, two with EFA, and gives it back. Off, because it costs
    money each time, and because nodes that Karpenter buys later are others."""

    new_node_minutes: int = Field(default=20, ge=5, le=120)
    """How long a new node of a pool with ``validate_new_nodes`` may take to prove its GPUs, counted from when it
    joined. Then, or when a check has failed twice, it is given back and Karpenter buys another. On such nodes DCGM's
    level is always 1, and there is no all-reduce."""

    most_replacements_per_hour: int = Field(default=3, ge=1, le=20)
    """New nodes of one pool that are given back within an hour. What fails more often is no broken GPU, and every
    node costs money: the next ones stay closed until somebody looks."""

    timeout_minutes: int = Field(default=30, ge=10, le=240)
    """How long a pool may take, the wait for its nodes, for free GPUs and for images included."""

    @model_validator(mode="after")
    def _has_the_time(self) -> Self:
        if self.diagnostic_level == LONG_DIAGNOSTIC and self.timeout_minutes < _LONG_DIAGNOSTIC_MINUTES:
            raise ValueError(
                "diagnostic_level 3 takes about half an hour on eight GPUs, and timeout_minutes is "
                f"{self.timeout_minutes}; give timeout_minutes at least {_LONG_DIAGNOSTIC_MINUTES}, or "
                "diagnostic_level 1 or 2"
            )
        return self
