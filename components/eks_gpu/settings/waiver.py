"""The ``waivers`` block: rules that are suspended for a resource, by whom, why and until when."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from eks_gpu.settings.block import Block
from eks_gpu.settings.iso_date import Day


class Waiver(Block):
    """One rule suspended for one resource. An expired waiver is a finding, and so is one that matches nothing."""

    rule: Annotated[str, Field(pattern=r"^[A-Z]{2,8}[0-9]{3}$")]
    """Id of the rule: ``NODE006``."""

    resource: Annotated[str, Field(min_length=1)]
    """Name of the resource, or of the pool, group or workload that it belongs to."""

    owner: Annotated[str, Field(min_length=1)]
    """Who answers for it."""

    reason: Annotated[str, Field(min_length=10)]
    """Why the rule is broken here, in a sentence."""

    until: Day
    """The last day it holds, an ISO date in quotes. Unquoted, the engine would rewrite it."""

    @property
    def last_day(self) -> date:
        """The last day the waiver holds."""
        return date.fromisoformat(self.until)
