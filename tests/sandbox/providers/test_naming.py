from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.providers.naming import NameRequest, NamingMode, physical_name


@given(st.text(min_size=1, max_size=20), st.binary(max_size=16))
def test_a_name_is_the_resource_s_and_seven_digits_and_the_same_for_the_same_seed(name: str, seed: bytes) -> None:
    request = NameRequest(name, seed)

    made = physical_name(request, digits=7)

    assert made is not None
    assert made.startswith(f"{name}-")
    assert re.fullmatch("[0-9a-f]{7}", made.removeprefix(f"{name}-"))
    assert physical_name(request, digits=7) == made


def test_another_seed_gives_another_name() -> None:
    assert physical_name(NameRequest("a", b"1"), digits=7) != physical_name(NameRequest("a", b"2"), digits=7)


def test_the_project_s_naming_wins() -> None:
    assert physical_name(NameRequest("a", b"", NamingMode.ENFORCE, "fixed"), digits=7) == "fixed"
    assert physical_name(NameRequest("a", b"", NamingMode.DISABLE), digits=7) is None


def test_a_name_that_the_service_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match='name "aaaaaa" plus 8 characters is longer than the 10'):
        physical_name(NameRequest("aaaaaa", b""), digits=7, longest=10)
