"""Reading untrusted properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.unknown import UNKNOWN

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(UNKNOWN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


def view(data: object, *, partial: bool = False) -> View:
    return View(data, "urn:x", partial=partial)


def test_a_place_knows_its_path() -> None:
    place = view({"a": [{"b": UNKNOWN}]})["a"].items()[0]["b"]
    assert place.path == "a[0].b"
    with pytest.raises(NotKnownError, match=r"a\[0\]\.b of urn:x is not known before creation"):
        place.text()


def test_a_missing_place_is_none_of_every_type() -> None:
    place = view({"a": 1}).at("a", "b", "c")
    assert not place.exists
    assert (place.text(), place.boolean(), place.number(), place.integer(), place.quantity()) == (None,) * 5
    assert (place.items(), dict(place.entries()), place.texts(), place.text_map()) == ((), {}, (), {})


def test_below_an_unknown_value_nothing_can_be_told() -> None:
    place = view({"a": UNKNOWN}).at("a", "b", "c")
    assert place.path == "a"
    with pytest.raises(NotKnownError):
        _ = place.exists


def test_an_unknown_value_exists() -> None:
    assert view({"a": UNKNOWN})["a"].exists


def test_of_a_partial_object_what_is_not_mentioned_is_unknown() -> None:
    patch = view({"spec": {"a": 1}}, partial=True)
    assert patch.at("spec", "a").integer() == 1
    with pytest.raises(NotKnownError, match=r"spec\.b"):
        patch.at("spec", "b").text()
    with pytest.raises(NotKnownError, match="metadata"):
        _ = patch["metadata"].exists


@pytest.mark.parametrize(
    ("data", "text"), [("x", "x"), (True, "true"), (False, "false"), (8, "8"), ([], None), ({}, None)]
)
def test_texts(data: object, text: str | None) -> None:
    assert view(data).text() == text


@pytest.mark.parametrize(("data", "flag"), [(True, True), ("true", True), ("False", False), ("yes", None), (1, None)])
def test_booleans_may_be_spelled_as_texts(data: object, flag: bool | None) -> None:
    assert view(data).boolean() is flag


@pytest.mark.parametrize(
    ("data", "number"),
    [(3, 3.0), ("3", 3.0), (2.5, 2.5), ("x", None), (True, None), (float("nan"), None), ("inf", None), (10**400, None)],
)
def test_numbers_are_finite(data: object, number: float | None) -> None:
    assert view(data).number() == number


def test_integers_are_whole() -> None:
    assert view("4").integer() == 4
    assert view(4.5).integer() is None


def test_lists_and_mappings_of_texts_need_every_element() -> None:
    assert view(["a", 1, []]).texts() == ("a", "1")
    assert view({"a": "x", "b": None}).text_map() == {"a": "x"}
    with pytest.raises(NotKnownError, match=r"\[1\]"):
        view(["a", UNKNOWN]).texts()
    with pytest.raises(NotKnownError, match="b"):
        view({"a": "x", "b": UNKNOWN}).text_map()


def test_attempt_keeps_what_is_missing_and_need_asks_for_it() -> None:
    missing = attempt(view({"a": UNKNOWN})["a"].text)
    assert missing == NotKnown("urn:x", "a")
    assert need("known") == "known"
    with pytest.raises(NotKnownError) as caught:
        need(missing)
    assert caught.value.what == missing


def children(place: View) -> list[View]:
    return [child for _, child in place.entries()]


@given(JSON)
def test_whatever_the_data_reading_answers_or_says_that_it_is_not_known(data: object) -> None:
    pending = [view(data)]
    while pending:
        place = pending.pop()
        for read in (
            place.text,
            place.boolean,
            place.number,
            place.integer,
            place.quantity,
            place.texts,
            place.text_map,
        ):
            assert isinstance(attempt(read), object)
        inner = attempt(place.items)
        pending.extend(inner if isinstance(inner, tuple) else ())
        entries = attempt(children, place)
        pending.extend(entries if isinstance(entries, list) else ())
