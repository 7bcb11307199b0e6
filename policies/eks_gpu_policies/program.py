"""All resources of a run, found by URN, by type and by what a property was computed from.

This is what readers are given: it knows nothing of pools and pods, which they make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TypeVar, cast

from eks_gpu.planning.graph import Graph
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.resource import Resource


@dataclass(frozen=True, slots=True)
class _Node:
    """A resource in the graph: everything it waits for, said explicitly or through a property."""

    urn: str
    parent: str | None
    dependencies: frozenset[str]


class Program:
    """The resources of a run."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        """Hold ``resources``, the last of each URN."""
        self.by_urn: Mapping[str, Resource] = {resource.urn: resource for resource in resources}
        self.answers: dict[object, tuple[object, NotKnown | None]] = {}
        """What was asked of all resources together and found once: see :func:`once`."""
        self._computed_from: dict[tuple[str, str, tuple[str, ...]], tuple[Resource, ...]] = {}
        self._named: dict[str, dict[str, list[Resource]]] = {}
        self._users: dict[tuple[str, str, tuple[str, ...]], dict[str, list[Resource]]] = {}
        self._by_type: dict[str, list[Resource]] = {}
        for resource in self.by_urn.values():
            self._by_type.setdefault(tokens.whole(resource.type), []).append(resource)

    @property
    def resources(self) -> Iterable[Resource]:
        """All resources."""
        return self.by_urn.values()

    def of_type(self, *types: str) -> tuple[Resource, ...]:
        """Return the resources of any of ``types``, patches of Kubernetes objects included."""
        return tuple(resource for token in types for resource in self._by_type.get(token, ()))

    def named(self, token: str, name: str) -> tuple[Resource, ...]:
        """Return the Kubernetes objects of a type whose ``metadata.name`` is known to be ``name``."""
        if token not in self._named:
            index = self._named[token] = {}
            for resource in self.of_type(token):
                own = attempt(resource.kubernetes_name)
                if isinstance(own, str):
                    index.setdefault(own, []).append(resource)
        return tuple(self._named[token].get(name, ()))

    def users_of(self, source: Resource, prop: str, *types: str) -> tuple[Resource, ...]:
        """Return the resources of ``types`` whose property ``prop`` was computed from ``source``."""
        question = (tokens.whole(source.type), prop, types)
        if question not in self._users:
            index = self._users[question] = {}
            for user in self.of_type(*types):
                for origin in self.computed_from(user, prop, question[0]):
                    index.setdefault(origin.urn, []).append(user)
        return tuple(self._users[question].get(source.urn, ()))

    @cached_property
    def graph(self) -> Graph:
        """Who waits for whom."""
        return Graph(
            _Node(
                resource.urn,
                resource.parent,
                resource.dependencies.union(*resource.property_dependencies.values()),
            )
            for resource in self.resources
        )

    def reaches(self, start: str, goal: str) -> bool:
        """Return whether ``start`` is created after ``goal`` by dependency, not by luck. Both are URNs."""
        return self.graph.reaches(start, goal)

    def contains(self, component: Resource, *types: str) -> bool:
        """Return whether a component has made a resource of ``types``, at any depth."""
        below = (self.by_urn.get(urn) for urn in self.graph.descendants(component.urn))
        return any(resource is not None and tokens.whole(resource.type) in types for resource in below)

    def computed_from(self, resource: Resource, prop: str, *types: str) -> tuple[Resource, ...]:
        """Return the resources of ``types`` that a property was computed from, directly or as their component."""
        question = (resource.urn, prop, types)
        if question not in self._computed_from:
            self._computed_from[question] = tuple(self._sources(resource, prop, types))
        return self._computed_from[question]

    def _sources(self, resource: Resource, prop: str, types: tuple[str, ...]) -> Iterator[Resource]:
        sources = sorted(resource.property_dependencies.get(prop, ()))
        urns = dict.fromkeys(urn for source in sources for urn in (source, *self.graph.descendants(source)))
        for urn in urns:
            source = self.by_urn.get(urn)
            if source is not None and tokens.whole(source.type) in types:
                yield source


P = TypeVar("P", bound=Program)
T = TypeVar("T")


def once(read: Callable[[P], T]) -> Callable[[P], T]:
    """Return ``read``, which then does its work once for each program, ``NotKnownError`` included."""

    @wraps(read)
    def answer(program: P) -> T:
        if read not in program.answers:
            try:
                program.answers[read] = read(program), None
            except NotKnownError as error:
                program.answers[read] = None, error.what
        found, missing = program.answers[read]
        if missing is not None:
            raise NotKnownError(missing)
        return cast("T", found)

    return answer
