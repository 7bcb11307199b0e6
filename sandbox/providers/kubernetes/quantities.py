"""Quantities (`nvidia.com/gpu: 1`, `memory: 16Gi`): text says the SDK, and the API server takes numbers as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MAPS: Final = frozenset(
    {
        "allocatable",
        "capacity",
        "default",
        "defaultRequest",
        "hard",
        "limits",
        "max",
        "maxLimitRequestRatio",
        "min",
        "overhead",
        "podFixed",
        "requests",
    }
)
"""Fields that hold quantities by resource (Kubernetes API 1.35, every map of `resource.Quantity`)."""

_SINGLE: Final = frozenset({"divisor", "sizeLimit"})
"""Fields that are one quantity."""


def spelled_out(value: Any) -> Any:  # noqa: ANN401 - an object may hold any JSON value
    """Return an object with the numbers that are quantities as text, to be judged by the SDK's types."""
    if isinstance(value, Mapping):
        return {key: _field(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [spelled_out(item) for item in value]
    return value


def _field(key: str, value: Any) -> Any:  # noqa: ANN401 - as above
    if key in _SINGLE and _is_number(value):
        return str(value)
    if key in _MAPS and isinstance(value, Mapping):
        return {name: str(amount) if _is_number(amount) else spelled_out(amount) for name, amount in value.items()}
    return spelled_out(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
