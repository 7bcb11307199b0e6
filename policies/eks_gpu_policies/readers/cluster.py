"""The cluster of a stack: which version of Kubernetes it runs, and whether all that is put into it is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import delivery
from eks_gpu.facts.chart_defaults import BY_CHART
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program, once
from eks_gpu_policies.resource import Resource

_MINOR: Final = re.compile(r"v?(\d+)\.(\d+)")
_VERSION: Final = "version"


def kubernetes_version(program: Program) -> tuple[int, int]:
    """Return the version that the stack's cluster runs, as its cluster says, or its node groups do: (1, 35).

    Raises ``NotKnownError`` when neither says one, or they say several.
    """
    for types in (tokens.CLUSTERS, frozenset({tokens.NODE_GROUP, tokens.MANAGED_NODE_GROUP})):
        found = set(_versions(program, types))
        if len(found) == 1:
            return found.pop()
        if found:
            break
    raise NotKnownError(NotKnown("", _VERSION, "which version of Kubernetes the cluster runs"))


_BUNDLES: Final = tuple(sorted(tokens.YAML_FILES | tokens.HELM))
_DELIVERIES: Final = tuple(sorted(tokens.custom(kind) for kind in delivery.KINDS))


@once
def brings_unseen(program: Program) -> bool:
    """Return whether something in a stack puts objects into the cluster that cannot be seen in it.

    Files that only the engine reads, charts of somebody's own, and repositories that a controller follows do.
    """
    if program.of_type(*_DELIVERIES) or charts.releases(program, *sorted(delivery.CHARTS)):
        return True
    return any(_is_closed(bundle, program) for bundle in program.of_type(*_BUNDLES))


def _is_closed(bundle: Resource, program: Program) -> bool:
    """Return whether nobody here knows what files or a chart bring."""
    if any(True for _ in program.graph.descendants(bundle.urn)):
        return False
    if tokens.whole(bundle.type) in tokens.YAML_FILES:
        return True
    chart = attempt(bundle.view["chart"].text)
    return isinstance(chart, str) and charts.is_local(chart) and charts.name(bundle) not in BY_CHART


def in_cluster_component(resource: Resource, program: Program) -> bool:
    """Return whether a resource is one of those that an ``eks.Cluster`` makes.

    A Kubernetes provider made of its outputs waits for all of the component, and so does whatever uses that provider.
    Which provider that is, dependencies do not say.
    """
    around = (program.by_urn.get(urn) for urn in program.graph.ancestors(resource.urn))
    return any(one is not None and one.type == tokens.CLUSTER_COMPONENT for one in around)


def _versions(program: Program, types: frozenset[str]) -> Iterator[tuple[int, int]]:
    for resource in program.of_type(*sorted(types)):
        place = resource.view[_VERSION]
        match = _MINOR.match(place.data) if isinstance(place.data, str) else None
        if match is not None:
            yield int(match[1]), int(match[2])
