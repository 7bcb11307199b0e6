"""A user's values over a chart's own."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.chart_values import joined
from eks_gpu.planning.unknown import UNKNOWN

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
VALUES = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(LEAVES, lambda below: st.dictionaries(st.sampled_from("abc"), below, max_size=3), max_leaves=8),
    max_size=3,
)


def test_maps_merge_lists_replace_and_null_takes_away() -> None:
    defaults = {"affinity": {"node": 1, "pod": 2}, "tolerations": [1, 2], "nodeSelector": {"a": "b"}}
    given_: dict[str, object] = {"affinity": {"node": 3}, "tolerations": [], "nodeSelector": None}
    assert joined(defaults, given_) == {"affinity": {"node": 3, "pod": 2}, "tolerations": []}


def test_an_empty_map_takes_nothing_away() -> None:
    assert joined({"affinity": {"node": 1}}, {"affinity": {}}) == {"affinity": {"node": 1}}


def test_nulls_that_are_not_sent_change_nothing() -> None:
    assert joined({"a": {"b": 1}}, {"a": None, "c": None}, nulls=False) == {"a": {"b": 1}}
    assert joined({}, {"a": {"b": None, "c": 1}}, nulls=False) == {"a": {"c": 1}}


def test_what_is_not_known_hides_the_default() -> None:
    assert joined({"a": {"b": 1}}, {"a": UNKNOWN}) == {"a": UNKNOWN}
    assert joined({"a": 1}, UNKNOWN) is UNKNOWN


def test_a_map_replaces_what_is_none() -> None:
    assert joined({"a": 1}, {"a": {"b": 2}}) == {"a": {"b": 2}}
    assert joined({"a": {"b": 2}}, {"a": 1}) == {"a": 1}


@given(VALUES)
def test_nothing_given_changes_nothing(defaults: dict[str, object]) -> None:
    assert joined(defaults, {}) == defaults


@given(VALUES, VALUES)
def test_giving_the_same_again_changes_nothing(defaults: dict[str, object], values: dict[str, object]) -> None:
    once = joined(defaults, values, nulls=False)
    assert joined(once, values, nulls=False) == once


@given(VALUES, VALUES)
def test_neither_is_changed(defaults: dict[str, object], values: dict[str, object]) -> None:
    before = copy.deepcopy((defaults, values))
    joined(defaults, values)
    assert (defaults, values) == before


@given(VALUES, VALUES)
def test_keys_come_from_either(defaults: dict[str, object], values: dict[str, object]) -> None:
    result = joined(defaults, values)
    assert isinstance(result, dict)
    assert result.keys() == {key for key in {**defaults, **values} if values.get(key, 0) is not None}


def test_nulls_within_maps_count_or_not_like_those_outside() -> None:
    assert joined({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}) == {"a": {"c": 2}}
    assert joined({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, nulls=False) == {"a": {"b": 1, "c": 2}}
    assert joined(1, {"a": {"b": None}}) == {"a": {"b": None}}
    assert joined(1, {"a": {"b": None}}, nulls=False) == {"a": {}}
    assert joined({}, {"a": None}) == {}
