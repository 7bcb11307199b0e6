"""Kubernetes quantities."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.quantity import GIB, gib, quantity

SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1", 1),
        (8, 8),
        ("500m", Fraction(1, 2)),
        ("0.5", Fraction(1, 2)),
        (".5Gi", 2**29),
        ("1e3", 1000),
        ("12E", 12 * 10**18),
        ("1Ei", 2**60),
        ("-1", -1),
        (" 4Gi ", 4 * GIB),
        ("100n", Fraction(1, 10**7)),
    ],
)
def test_amounts_are_exact(text: str | float, amount: Fraction | int) -> None:
    assert quantity(text) == amount


@pytest.mark.parametrize("text", ["", "Gi", "1gi", "1 Gi", "1KB", "ki", "1e999", "0x10", "1_000", "mi", "1mi", "nan"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert quantity(text) is None


@given(st.integers(min_value=0, max_value=10**12), st.sampled_from(sorted(SUFFIXES)))
def test_a_suffix_multiplies(number: int, suffix: str) -> None:
    assert quantity(f"{number}{suffix}") == number * SUFFIXES[suffix]


@given(st.text())
def test_any_text_is_a_quantity_or_none(text: str) -> None:
    assert quantity(text) is None or isinstance(quantity(text), Fraction)


def test_bytes_are_shown_in_gib() -> None:
    assert gib(17 * GIB) == "17 GiB"
    assert gib(Fraction(3 * GIB, 2)) == "1.5 GiB"


def test_bytes_that_somebody_meant_as_gibibytes_are_said_as_bytes() -> None:
    """Karpenter reads ``volumeSize: 50`` as 50 bytes, and Kubernetes ``sizeLimit: 0.1e3`` as 100."""
    assert [gib(50), gib(quantity("0.1e3") or 0), gib(0), gib(2**30)] == ["50 bytes", "100 bytes", "0 GiB", "1 GiB"]
