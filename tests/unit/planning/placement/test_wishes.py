"""Wishes on labels: sets of values, compared with trying every value."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.planning.placement.space import Space
from eks_gpu.planning.placement.wishes import selection, wishes
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.requirements import Requirement

NAMES = [*map(str, range(8)), "a", "b"]
UNIVERSE = [*NAMES, *map(str, range(8, 20)), "unnamed"]
"""All that a label can be here: what conditions may name, and more."""
NAMED = st.sampled_from(NAMES)
NUMBERS = st.integers(1, 6).map(str)
SETS = st.builds(
    Requirement, st.just("k"), st.sampled_from(["In", "NotIn"]), st.lists(NAMED, min_size=1, max_size=3).map(tuple)
)
BOUNDS = st.builds(
    Requirement, st.just("k"), st.sampled_from(["Gt", "Lt", "Gte", "Lte"]), NUMBERS.map(lambda number: (number,))
)
EXISTS = st.builds(Requirement, st.just("k"), st.sampled_from(["Exists", "DoesNotExist"]))
CONDITIONS = st.lists(SETS | BOUNDS | EXISTS, min_size=1, max_size=3)
WITHIN = st.lists(SETS | BOUNDS, max_size=2)


def pool(*requirements: Requirement, **labels: str) -> Pool:
    return Pool(
        name="p",
        kind=PoolKind.NODE_POOL,
        types=(CATALOGUE["g5.xlarge"],),
        requirements=requirements,
        labels=labels,
    )


def offered(pool_: Pool, *wanted: Requirement) -> bool:
    """Return whether the one type of a pool is selected."""
    return Space(pool_).selected(selection(wanted)).sure == 1


@given(CONDITIONS, st.sampled_from(UNIVERSE))
def test_n04_a_fixed_label_is_admitted_when_every_condition_admits_it(wanted: list[Requirement], value: str) -> None:
    assert offered(pool(k=value), *wanted) is all(each.admits(value) for each in wanted)


@given(CONDITIONS)
def test_n04_an_absent_label_is_admitted_when_every_condition_admits_that(wanted: list[Requirement]) -> None:
    assert offered(pool(), *wanted) is all(each.admits(None) for each in wanted)


@given(CONDITIONS, st.lists(NAMED, min_size=1, max_size=4, unique=True), WITHIN)
def test_n04_of_the_values_that_a_pool_offers_one_must_meet_all_conditions_together(
    wanted: list[Requirement], values: list[str], within: list[Requirement]
) -> None:
    own = (Requirement("k", "In", tuple(values)), *within)
    possible = [value for value in values if all(each.admits(value) for each in own)]
    expected = any(all(each.admits(value) for each in wanted) for value in possible)
    if not possible:  # the pool makes no node at all, so that its label is on none
        expected = all(each.admits(None) for each in wanted)
    assert offered(pool(*own), *wanted) is expected


@given(CONDITIONS, WITHIN)
def test_n04_an_open_label_may_be_anything_that_the_pool_does_not_forbid(
    wanted: list[Requirement], within: list[Requirement]
) -> None:
    assume(not any(each.operator == "In" for each in within))
    own = (Requirement("k", "Exists"), *within)
    possible = [value for value in UNIVERSE if all(each.admits(value) for each in own)]
    expected = any(all(each.admits(value) for each in wanted) for value in possible)
    assert offered(pool(*own), *wanted) is expected


def test_conditions_on_one_label_are_one_wish_and_keep_their_order() -> None:
    a, b = Requirement("a", "Exists"), Requirement("b", "Exists")
    other = Requirement("a", "NotIn", ("x",))
    found = wishes([a, b, other, a])
    assert [(wish.key, wish.requirements) for wish in found] == [("a", (a, other)), ("b", (b,))]


def test_equal_selections_are_the_same_object() -> None:
    wanted = (Requirement("a", "In", ("x",)),)
    assert selection(wanted) is selection((Requirement("a", "In", ("x",)),))
    assert selection(wanted) is not selection(())


def test_one_term_is_enough_and_each_is_joined_with_the_selector() -> None:
    chosen = selection(
        (Requirement("k", "In", ("1",)),), ((Requirement("k", "In", ("2",)),), (Requirement("l", "Exists"),))
    )
    assert not Space(pool(k="1")).selected(chosen).sure
    assert Space(pool(k="1", l="x")).selected(chosen).sure
    assert not Space(pool(k="2", l="x")).selected(chosen).sure


def test_an_empty_term_matches_nothing() -> None:
    assert selection((), ((),)).alternatives == ()
    assert not Space(pool()).selected(selection((), ((),))).maybe


def test_a_selection_without_a_label_does_not_care_about_it() -> None:
    chosen = selection((Requirement("k", "In", ("1",)), Requirement("l", "Exists")))
    assert chosen.keys == {"k", "l"}
    assert chosen.without(frozenset({"l"})) is selection((Requirement("k", "In", ("1",)),))


def test_wishes_read_as_people_write_them() -> None:
    spelled = {
        str(wish)
        for wish in wishes(
            [
                Requirement("a", "In", ("x",)),
                Requirement("b", "In", ("x", "y")),
                Requirement("c", "NotIn", ("x",)),
                Requirement("d", "Exists"),
                Requirement("e", "DoesNotExist"),
                Requirement("f", "Gt", ("4",)),
                Requirement("f", "Lte", ("8",)),
            ]
        )
    }
    assert spelled == {"a=x", "b in (x, y)", "c not in (x)", "a label d", "no label e", "f > 4 and f <= 8"}
