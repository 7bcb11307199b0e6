"""All resources of a run, and the questions that rules ask about them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from eks_gpu.planning.graph import Graph
from eks_gpu.planning.placement import admits
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, View, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.options import Options
from eks_gpu_policies.readers.node_groups import read_node_group
from eks_gpu_policies.readers.node_pools import read_node_pool
from eks_gpu_policies.readers.pods import read_pods
from eks_gpu_policies.resource import Resource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Node:
    """A resource in the graph: everything it waits for, said explicitly or through a property."""

    urn: str
    parent: str | None
    dependencies: frozenset[str]


@dataclass(frozen=True, slots=True)
class Whole:
    """The stack itself, for rules whose subject it is."""

    urn: str
    name: str = "the stack"


class Stack:
    """All resources of a run. Everything read from them is read once."""

    def __init__(self, resources: Iterable[Resource], options: Options | None = None) -> None:
        """Hold ``resources``, the last of each URN, and the options of the run."""
        self.by_urn: Mapping[str, Resource] = {resource.urn: resource for resource in resources}
        self.options = options or Options()
        self.unreadable: list[tuple[str, str]] = []
        """URN of each resource that could not be read, with the kind of error."""
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

    @cached_property
    def whole(self) -> Whole:
        """The stack itself."""
        root = self._by_type.get(tokens.STACK)
        return Whole(root[0].urn if root else "")

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

    def computed_from(self, resource: Resource, prop: str, *types: str) -> tuple[Resource, ...]:
        """Return the resources of ``types`` that a property was computed from, directly or as their component."""
        sources = resource.property_dependencies.get(prop, frozenset())
        urns = [urn for source in sorted(sources) for urn in (source, *self.graph.descendants(source))]
        found = {urn: self.by_urn[urn] for urn in urns if urn in self.by_urn}
        return tuple(item for item in found.values() if tokens.whole(item.type) in types)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """Node groups and node pools, whatever they may buy."""
        groups = self._read(self.of_type(tokens.NODE_GROUP), lambda group: (read_node_group(group, self),))
        pools = self._read(self.of_type(tokens.NODE_POOL), lambda pool: (read_node_pool(pool, self),))
        return (*groups, *pools)

    @cached_property
    def pods(self) -> tuple[PodTemplate, ...]:
        """Every pod template, at any depth of any Kubernetes object."""
        return tuple(self._read(self.resources, read_pods))

    def _read(self, resources: Iterable[Resource], read: Callable[[Resource], Iterable[T]]) -> Iterator[T]:
        """Yield what ``read`` makes of each resource; one that cannot be read is remembered, not fatal."""
        for resource in resources:
            try:
                yield from read(resource)
            except Exception as error:  # noqa: BLE001 - properties can be anything; the rest must still be judged
                self.unreadable.append((resource.urn, type(error).__name__))

    def is_gpu_pool(self, pool: Pool) -> bool:
        """Return whether a pool buys GPUs. One that buys them only by omission counts once a GPU pod can land on it.

        Raises ``NotKnownError`` when its instance types are not known.
        """
        if not pool.buys_gpus:
            return False
        return not pool.by_omission or any(_may_land(pod, pool) for pod in self.pods)

    @cached_property
    def gpu_pools(self) -> tuple[Pool, ...]:
        """The pools that are known to buy GPUs."""
        return tuple(pool for pool in self.pools if attempt(self.is_gpu_pool, pool) is True)

    def template(self, pool: Pool) -> View | None:
        """Return the properties of a pool's launch template or EC2NodeClass; None when it has none in the stack."""
        urn = pool.template
        if urn is None or isinstance(urn, NotKnown):
            return None
        return self.by_urn[urn].view

    def node_pools(self) -> tuple[Pool, ...]:
        """Return Karpenter's pools."""
        return tuple(pool for pool in self.pools if pool.kind is PoolKind.NODE_POOL)


def _may_land(pod: PodTemplate, pool: Pool) -> bool:
    """Return whether a pod is known to ask for a GPU and to be let onto a pool."""
    return attempt(lambda: pod.asks_gpu and admits(pool, pod)) is True
