"""The ``waivers`` block: rules that are suspended for a resource, by whom, why and until when."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from eks_gpu.settings.block import Block

_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def _is_a_date(text: str) -> str:
    """Refuse what is not an ISO date."""
    try:
        if _ISO_DATE.fullmatch(text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise ValueError(f'"{text}" is no date; write year, month and day in quotes: "2026-12-31"')


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

    until: Annotated[str, AfterValidator(_is_a_date), Field(json_schema_extra={"format": "date"})]
    """The last day it holds, an ISO date in quotes. Unquoted, the engine would rewrite it."""

    @property
    def last_day(self) -> date:
        """The last day the waiver holds."""
        return date.fromisoformat(self.until)
