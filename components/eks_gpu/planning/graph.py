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
        for node in self._nodes.values():
            if node.parent is not None:
                self._children.setdefault(node.parent, []).append(node.urn)

    def reaches(self, start: str, goal: str) -> bool:
        """Return whether the resource ``start`` is created after ``goal`` by dependency, not by luck."""
        goals = {goal, *self.descendants(goal)}
        seen = {start}
        pending = [start]
        while pending:
            for urn in self._waits_for(pending.pop()):
                if urn in goals:
                    return True
                if urn not in seen:
                    seen.add(urn)
                    pending.append(urn)
        return False

    def before(self, start: str) -> frozenset[str]:
        """Return everything that is created before the resource ``start`` by dependency."""
        seen = {start}
        pending = [start]
        while pending:
            for urn in self._waits_for(pending.pop()):
                if urn not in seen:
                    seen.add(urn)
                    pending.append(urn)
        return frozenset(seen - {start})

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

    def _waits_for(self, urn: str) -> Iterator[str]:
        for member in (urn, *self.ancestors(urn)):
            node = self._nodes.get(member)
            if node is None:
                continue
            for dependency in node.dependencies:
                yield dependency
                yield from self.descendants(dependency)
