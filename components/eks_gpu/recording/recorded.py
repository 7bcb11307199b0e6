"""What a recording holds: plain resources, and questions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from eks_gpu.planning.graph import Graph


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedOptions:
    """The resource options that change what the engine does with a resource."""

    protect: bool = False
    retain_on_delete: bool = False
    delete_before_replace: bool = False
    deleted_with: str | None = None
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Former names, or whole former URNs."""
    custom_timeouts: Mapping[str, str] = field(default_factory=dict)
    """``create``, ``update``, ``delete``, each a Go duration such as ``20m``."""


@dataclass(frozen=True, kw_only=True)
class RecordedResource:
    """One resource that the program registered."""

    urn: str
    type: str
    """The type token, for instance ``aws:eks/nodeGroup:NodeGroup``."""
    name: str
    """The logical name."""
    inputs: Mapping[str, Any]
    """The inputs as the engine would get them: camelCase, plain, secrets unwrapped, ``UNKNOWN`` where not known."""
    parent: str | None
    dependencies: frozenset[str]
    property_dependencies: Mapping[str, frozenset[str]]
    provider: str
    """``<urn>::<id>`` of an explicit provider; empty for a default one."""
    custom: bool
    remote: bool
    options: RecordedOptions

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - inputs are JSON-like
        """Return the input ``key``."""
        return self.inputs[key]


@dataclass(frozen=True)
class Recording:
    """Everything a program registered, in order of URN, so that two runs compare equal."""

    resources: tuple[RecordedResource, ...]
    exports: Mapping[str, Any]
    """The stack's outputs."""
    unanswered: tuple[str, ...]
    """Tokens of provider functions that nobody answered; the program got empty results."""

    def of_type(self, token: str) -> tuple[RecordedResource, ...]:
        """Return the resources with the type token ``token``."""
        return tuple(resource for resource in self.resources if resource.type == token)

    def one(self, token: str) -> RecordedResource:
        """Return the only resource of a type; raise ``LookupError`` when there is none or more than one."""
        found = self.of_type(token)
        if len(found) != 1:
            names = [resource.name for resource in found]
            raise LookupError(f"expected one {token}, found {names or 'none'}")
        return found[0]

    def named(self, name: str) -> RecordedResource:
        """Return the resource with the logical name ``name``; raise ``LookupError`` unless there is exactly one."""
        found = [resource for resource in self.resources if resource.name == name]
        if len(found) != 1:
            known = sorted({resource.name for resource in self.resources})
            raise LookupError(f"expected one resource named {name!r}, found {len(found)}; names are {known}")
        return found[0]

    def children(self, parent: RecordedResource) -> tuple[RecordedResource, ...]:
        """Return the resources directly below ``parent``."""
        return tuple(resource for resource in self.resources if resource.parent == parent.urn)

    def reaches(self, start: RecordedResource, goal: RecordedResource) -> bool:
        """Return whether ``start`` is created after ``goal`` by dependency, not by luck."""
        return self._graph.reaches(start.urn, goal.urn)

    @cached_property
    def _graph(self) -> Graph:
        return Graph(self.resources)
