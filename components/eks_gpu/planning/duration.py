"""Durations as Go, and with it Pulumi, Kubernetes and Karpenter, spell them: ``90s``, ``1h30m``, ``1.5h``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_UNITS: Final[Mapping[str, float]] = MappingProxyType(
    {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
)
_PART: Final = re.compile(r"(\d{1,15}(?:\.\d{0,15})?)(h|ms|m|s|us|µs|ns)")
"""Digits are bounded: no duration anyone means is longer."""


def seconds(text: str) -> float | None:
    """Return a duration in seconds; None when ``text`` is not one.

    >>> seconds("1h30m"), seconds("250ms"), seconds("ten minutes")
    (5400.0, 0.25, None)
    """
    parts = _PART.findall(text)
    if not parts or "".join(amount + unit for amount, unit in parts) != text:
        return None
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)
