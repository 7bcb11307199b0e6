"""Who waits for whom: reachability over the dependencies of a Pulumi program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol


class Node(Protocol):
    """A resource as the graph sees it."""

    @property
    def urn(self) -> str:
        """Its identity."""

    @property
    def parent(self) -> str | None:
        """The URN of the component it belongs to, if any."""

    @property
    def dependencies(self) -> frozenset[str]:
        """The URNs it waits for, explicit and through properties."""


class Graph:
    """The order in which the engine would create resources.

    A resource waits for its dependencies and for those of every ancestor: the engine creates a child only when its
    parent is registered, and the parent only when its own dependencies are there. Waiting for a component is waiting
    for all its descendants; an empty component gives no order at all.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        """Index ``nodes`` by URN and by parent."""
        self._nodes: Mapping[str, Node] = {node.urn: node for node in nodes}
        self._children: dict[str, list[str]] = {}
        self._dependents: dict[str, list[str]] = {}
        self._after: dict[str, frozenset[str]] = {}
        for node in self._nodes.values():
            if node.parent is not None:
                self._children.setdefault(node.parent, []).append(node.urn)
            for dependency in node.dependencies:
                self._dependents.setdefault(dependency, []).append(node.urn)

    def reaches(self, start: str, goal: str) -> bool:
        """Return whether the resource ``start`` is created after ``goal`` by dependency, not by luck."""
        return start in self.after(goal)

    def after(self, goal: str) -> frozenset[str]:
        """Return everything that is created after the resource ``goal`` by dependency; searched for once."""
        if goal not in self._after:
            self._after[goal] = frozenset(self._search_after(goal))
        return self._after[goal]

    def _search_after(self, goal: str) -> set[str]:
        found: set[str] = set()
        awaited: set[str] = set()
        pending = [goal, *self.descendants(goal)]
        while pending:
            # Who waits for a component waits for what is in it.
            for target in self._upwards(pending.pop(), awaited):
                for dependent in self._dependents.get(target, ()):
                    pending.extend(self._downwards(dependent, found))
        return found

    def before(self, start: str) -> frozenset[str]:
        """Return everything that is created before the resource ``start`` by dependency."""
        found: set[str] = set()
        waiting: set[str] = set()
        pending = [start]
        while pending:
            for member in self._upwards(pending.pop(), waiting):
                node = self._nodes.get(member)
                for dependency in () if node is None else node.dependencies:
                    pending.extend(self._downwards(dependency, found))
        return frozenset(found - {start})

    def _upwards(self, urn: str, seen: set[str]) -> Iterator[str]:
        """Yield ``urn`` and what is above it, up to the first that was seen before, and remember them."""
        for member in (urn, *self.ancestors(urn)):
            if member in seen:
                return
            seen.add(member)
            yield member

    def _downwards(self, urn: str, seen: set[str]) -> Iterator[str]:
        """Yield ``urn`` and what is below it, without what was seen before, and remember them.

        Nothing is when ``urn`` itself was seen: whatever was below it was seen with it.
        """
        if urn not in seen:
            below = {urn, *self.descendants(urn)} - seen
            seen |= below
            yield from below

    def descendants(self, urn: str) -> Iterator[str]:
        """Yield the URNs below ``urn``, children before grandchildren."""
        for child in self._children.get(urn, ()):
            yield child
            yield from self.descendants(child)

    def ancestors(self, urn: str) -> Iterator[str]:
        """Yield the URNs above ``urn``, the parent first."""
        node = self._nodes.get(urn)
        while node is not None and node.parent is not None:
            yield node.parent
            node = self._nodes.get(node.parent)
