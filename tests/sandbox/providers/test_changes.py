from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.providers.changes import Change, changes
from sandbox.providers.wire import UNKNOWN, Properties

names = st.sampled_from(["a", "b", "c"])
values = st.recursive(
    st.integers(0, 3) | st.booleans(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(names, each, max_size=3),
    max_leaves=8,
)
trees = st.dictionaries(names, values, max_size=3)


@given(trees)
def test_nothing_changes_from_a_tree_to_itself(tree: Properties) -> None:
    assert changes(tree, tree, ["a"]) == []


@given(trees, trees)
def test_there_is_a_change_exactly_where_trees_differ_and_it_reads_the_same_both_ways(
    old: Properties, new: Properties
) -> None:
    forth, back = changes(old, new), changes(new, old)

    assert bool(forth) == (old != new)
    assert {change.path for change in forth} == {change.path for change in back}


def test_paths_name_properties_indices_and_awkward_keys() -> None:
    old = {"ebs": [{"size": 1}], "tags": {"kubernetes.io/name": "a", "gone": "x"}}
    new = {"ebs": [{"size": 2}], "tags": {"kubernetes.io/name": "b"}, "fresh": True}

    assert changes(old, new) == [
        Change("ebs[0].size", "update"),
        Change('tags["kubernetes.io/name"]', "update"),
        Change("tags.gone", "delete"),
        Change("fresh", "add"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        ({"launchTemplate": {"id": "a"}}, {"launchTemplate": {"id": "b"}}, True),
        ({"launchTemplate": {"id": "a", "version": "1"}}, {"launchTemplate": {"id": "a", "version": "2"}}, False),
        ({"launchTemplate": {"id": "a"}}, {}, True),
        ({"launchTemplate": {"version": "1"}}, {}, False),
        ({"launchTemplate": {"id": "a"}}, {"launchTemplate": {"id": UNKNOWN}}, True),
    ],
)
def test_a_rule_below_the_change_counts_when_its_property_changes_too(
    old: Properties, new: Properties, replaces: bool
) -> None:
    assert [change.replaces for change in changes(old, new, ["launchTemplate.id"])] == [replaces]


def test_a_rule_holds_for_everything_below_it_and_for_no_namesake() -> None:
    found = changes(
        {"subnetIds": ["a"], "subnetIdsNote": "x"}, {"subnetIds": ["b"], "subnetIdsNote": "y"}, ["subnetIds"]
    )

    assert [(change.path, change.replaces) for change in found] == [("subnetIds[0]", True), ("subnetIdsNote", False)]


def test_an_unknown_value_counts_as_a_change_and_bookkeeping_does_not() -> None:
    found = changes({"id": "a", "__defaults": []}, {"id": UNKNOWN, "__defaults": ["name"]})

    assert found == [Change("id", "update")]
