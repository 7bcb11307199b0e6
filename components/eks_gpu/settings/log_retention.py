"""How long logs are kept."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

RETENTIONS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""Retentions that CloudWatch Logs offers, in days (PutRetentionPolicy API, checked 2026-11-21)."""


def _offered(days: int) -> int:
    if days not in RETENTIONS:
        raise ValueError(f"{days} is no retention of CloudWatch Logs; choose one of {', '.join(map(str, RETENTIONS))}")
    return days


RetentionDays = Annotated[int, AfterValidator(_offered), Field(json_schema_extra={"enum": list(RETENTIONS)})]
"""How long a log group keeps what is written to it, in days. CloudWatch's own default is for ever, and charged."""
