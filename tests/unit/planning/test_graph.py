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


@given(EDGES)
def test_it_says_the_same_as_asking_for_each(edges: list[frozenset[str]]) -> None:
    graph = Graph(Node(name, dependencies=waits - {name}) for name, waits in zip(NAMES, edges, strict=True))
    for start in NAMES:
        asked = {goal for goal in NAMES if goal != start and graph.reaches(start, goal)}
        assert graph.before(start) == asked
