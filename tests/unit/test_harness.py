from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st


def test_no_property_fails_for_a_slow_machine() -> None:
    seen = []

    @settings(max_examples=2, database=None)
    @given(st.booleans())
    def slow(value: bool) -> None:
        time.sleep(0.3)  # beyond hypothesis' own deadline of 200 ms
        seen.append(value)

    slow()

    assert seen
    assert settings.default is not None
    assert settings.default.deadline is None
