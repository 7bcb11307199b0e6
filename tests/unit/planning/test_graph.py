"""Who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.graph import Graph


@dataclass(frozen=True)
class Node:
    urn: str
    parent: str | None = None
    dependencies: frozenset[str] = frozenset()


def test_what_is_before_is_what_it_waits_for_and_what_that_waits_for() -> None:
    chain = [Node("a"), Node("b", dependencies=frozenset("a")), Node("c", dependencies=frozenset("b"))]
    assert Graph(chain).before("c") == {"a", "b"}
    assert Graph(chain).before("a") == frozenset()


def test_a_component_stands_for_what_is_in_it_and_its_children_wait_for_what_it_does() -> None:
    nodes = [
        Node("first"),
        Node("component", dependencies=frozenset({"first"})),
        Node("child", parent="component"),
        Node("last", dependencies=frozenset({"component"})),
    ]
    graph = Graph(nodes)
    assert graph.before("child") == {"first"}
    assert graph.before("last") == {"component", "child", "first"}


def test_who_waits_for_itself_is_not_before_itself() -> None:
    circle = [Node("a", dependencies=frozenset("b")), Node("b", dependencies=frozenset("a"))]
    assert Graph(circle).before("a") == {"b"}


NAMES = "abcdef"
EDGES = st.lists(st.frozensets(st.sampled_from(NAMES), max_size=2), min_size=len(NAMES), max_size=len(NAMES))
PARENTS = st.tuples(*(st.sampled_from((None, *NAMES[:place])) for place in range(len(NAMES))))
"""Of each resource an earlier one, so that nothing is its own ancestor."""


@given(EDGES, PARENTS)
def test_looking_back_and_looking_ahead_say_the_same(
    edges: list[frozenset[str]], parents: tuple[str | None, ...]
) -> None:
    graph = Graph(Node(name, parent, waits - {name}) for name, parent, waits in zip(NAMES, parents, edges, strict=True))
    for goal in NAMES:
        within = {goal, *graph.descendants(goal)}
        for start in set(NAMES) - within:
            assert (start in graph.after(goal)) == (not graph.before(start).isdisjoint(within))
            assert graph.reaches(start, goal) == (start in graph.after(goal))
