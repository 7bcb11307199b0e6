"""Requirements on labels, as sets of values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.reading import View
from eks_gpu.planning.requirements import Requirement, from_labels, narrowed, read_requirements

OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")
VALUES = st.sampled_from(["1", "2", "3", "a", "b"])
REQUIREMENTS = st.builds(Requirement, st.just("k"), st.sampled_from(OPERATORS), st.lists(VALUES, max_size=3).map(tuple))


@pytest.mark.parametrize(
    ("operator", "values", "admitted", "refused"),
    [
        ("In", ("a", "b"), "a", "c"),
        ("NotIn", ("a",), "b", "a"),
        ("Gt", ("4",), "5", "4"),
        ("Lt", ("4",), "3", "4"),
        ("Gte", ("4",), "4", "3"),
        ("Lte", ("4",), "4", "5"),
    ],
)
def test_values(operator: str, values: tuple[str, ...], admitted: str, refused: str) -> None:
    requirement = Requirement("k", operator, values)
    assert requirement.admits(admitted)
    assert not requirement.admits(refused)


@pytest.mark.parametrize(
    ("operator", "admits"),
    [("In", False), ("Exists", False), ("Gt", False), ("Lt", False), ("NotIn", True), ("DoesNotExist", True)],
)
def test_an_absent_label(operator: str, admits: bool) -> None:
    assert Requirement("k", operator, ("1",)).admits(None) is admits


def test_existence_is_about_having_any_value() -> None:
    assert Requirement("k", "Exists").admits("x")
    assert not Requirement("k", "DoesNotExist").admits("x")


@pytest.mark.parametrize(("value", "bound"), [("x", ("1",)), ("1", ("x",)), ("1", ()), ("1", ("1", "2"))])
def test_comparisons_of_what_is_no_number_hold_for_nothing(value: str, bound: tuple[str, ...]) -> None:
    assert not Requirement("k", "Gte", bound).admits(value)


def test_an_operator_that_does_not_exist_admits_nothing() -> None:
    assert not Requirement("k", "Around", ("1",)).admits("1")


@given(REQUIREMENTS, st.lists(VALUES, max_size=4))
def test_a_set_is_admitted_when_one_of_its_values_is(requirement: Requirement, values: list[str]) -> None:
    expected = any(requirement.admits(value) for value in values) if values else requirement.admits(None)
    assert requirement.admits_any(values) is expected


@given(st.lists(VALUES, max_size=3).map(tuple), st.none() | VALUES)
def test_in_and_not_in_are_opposites(values: tuple[str, ...], value: str | None) -> None:
    assert Requirement("k", "In", values).admits(value) is not Requirement("k", "NotIn", values).admits(value)


@given(st.lists(REQUIREMENTS, max_size=3), st.frozensets(VALUES))
def test_more_requirements_leave_fewer_values(requirements: list[Requirement], values: frozenset[str]) -> None:
    fewer = narrowed(requirements, "k", values)
    assert fewer <= narrowed(requirements[1:], "k", values) <= values
    assert narrowed(requirements, "other", values) == values


def test_they_are_read_from_lists_and_what_has_no_key_or_operator_is_left_out() -> None:
    data = [{"key": "a", "operator": "In", "values": ["x"]}, {"key": "b", "operator": "Exists"}, {"key": "c"}, 7]
    assert read_requirements(View(data, "urn").items()) == (
        Requirement("a", "In", ("x",)),
        Requirement("b", "Exists"),
    )


def test_a_node_selector_is_equality() -> None:
    assert from_labels({"a": "x"}) == (Requirement("a", "In", ("x",)),)
