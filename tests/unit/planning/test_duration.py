"""Durations in Go's spelling."""

from __future__ import annotations

import pytest

from eks_gpu.planning.duration import seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [("20m", 1200), ("1h30m", 5400), ("1.5h", 5400), ("0s", 0), ("720h", 2_592_000), ("250ms", 0.25), ("1us", 1e-6)],
)
def test_a_duration_is_read_in_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "Never", "20", "20 m", "m", "1h 30m", "-5m", "5d", "1h!"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert seconds(text) is None
