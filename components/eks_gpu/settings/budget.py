"""The ``budget`` block: what the platform may cost."""

from __future__ import annotations

from pydantic import Field

from eks_gpu.settings.block import Block


class Budget(Block):
    """A ceiling on what GPU capacity may cost when every pool is as large as it may become."""

    monthly_usd: float = Field(gt=0)
    """US dollars a month of 730 hours, at on-demand prices. No default: this is the bill."""
