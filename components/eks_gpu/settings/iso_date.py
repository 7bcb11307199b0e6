"""Dates and points in time in settings: texts in quotes, because the engine rewrites those without."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, Field

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?")


def _is_a_day(text: str) -> str:
    """Refuse what is not an ISO date."""
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise ValueError(f'"{text}" is no date; write year, month and day in quotes: "2026-12-31"')


Day = Annotated[str, AfterValidator(_is_a_day), Field(json_schema_extra={"format": "date"})]
"""An ISO date in quotes: ``"2026-12-31"``. Unquoted, the engine would rewrite it."""


def _is_a_moment(text: str) -> str:
    """Refuse what is no ISO date and no ISO time in UTC."""
    try:
        if _MOMENT.fullmatch(text):
            moment(text)
            return text
    except ValueError:
        pass
    raise ValueError(
        f'"{text}" is no date; write it in quotes, alone or with a time in UTC: "2026-12-31" or "2026-12-31T11:30:00Z"'
    )


Moment = Annotated[str, AfterValidator(_is_a_moment)]
"""An ISO date, or an ISO time in UTC, in quotes: ``"2026-12-31"``, ``"2026-12-31T11:30:00Z"``."""


def moment(text: str) -> datetime:
    """Return the point in time; a date alone is its first moment in UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
