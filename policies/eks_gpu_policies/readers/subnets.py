"""Which subnets something is in, and which zones those are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.requirements import narrowed
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.tags import selected_by_tags
from eks_gpu_policies.resource import Resource

LOOKED_UP = "the subnet is not in the stack"
_SUBNETS: Final = {PoolKind.NODE_GROUP: "subnetIds", PoolKind.SELF_MANAGED: "vpcZoneIdentifiers"}

_OF_CLUSTER: Final = ("privateSubnetIds", "subnetIds", "publicSubnetIds")
"""Where ``eks.Cluster`` is told its subnets, in the order in which it puts nodes into them."""


@dataclass(frozen=True, slots=True)
class Location:
    """A subnet: by its resource, or by an id that the program was given."""

    id: str
    """The subnet's URN, or its id."""
    zone: str | None
    """Availability zone; None for a subnet that is only looked up."""
    place: View
    """Where it is named."""


def pool_locations(pool: Pool, program: Program) -> tuple[Location, ...]:
    """Return where a pool's nodes may be; raise ``NotKnownError`` when that cannot be told."""
    resource = program.by_urn[pool.urn]
    if pool.kind is not PoolKind.NODE_POOL:
        prop = _SUBNETS[pool.kind]
        named = attempt(resource.view[prop].items)
        known = not isinstance(named, NotKnown) and any(isinstance(item.data, str) for item in named)
        if known or program.computed_from(resource, prop, tokens.SUBNET):
            return locations(resource, prop, need(named), program)
        return _of_cluster(resource, program) or locations(resource, prop, need(named), program)
    node_class = program.by_urn[need(pool.template) or ""]
    found = tuple(_selected(node_class, program))
    zones = narrowed(need(pool.requirements), labels.ZONE, {item.zone for item in found if item.zone is not None})
    return tuple(item for item in found if item.zone is None or item.zone in zones)


def _of_cluster(group: Resource, program: Program) -> tuple[Location, ...]:
    """Return the subnets of the cluster component whose node group is told none of its own.

    A recorder sees the component that was given the cluster, the engine the node group made in it, whose cluster's
    name was computed from a cluster made in the other component.
    """
    around = (group, *_ancestors(group, program))
    if not any(item.type == tokens.MANAGED_NODE_GROUP for item in around):
        return ()
    for prop in ("cluster", "clusterName"):
        for cluster in program.computed_from(group, prop, *tokens.CLUSTERS):
            for component in (cluster, *_ancestors(cluster, program)):
                found = _chosen(component, program)
                if found:
                    return found
    return ()


def _ancestors(resource: Resource, program: Program) -> Iterator[Resource]:
    yield from (program.by_urn[urn] for urn in program.graph.ancestors(resource.urn) if urn in program.by_urn)


def _chosen(component: Resource, program: Program) -> tuple[Location, ...]:
    """Return the subnets into which a cluster component puts nodes."""
    for prop in _OF_CLUSTER if component.type == tokens.CLUSTER_COMPONENT else ():
        named = attempt(component.view[prop].items)
        if isinstance(named, tuple) and named:
            return locations(component, prop, named, program)
        if isinstance(named, NotKnown):
            return locations(component, prop, (), program)
    return ()


def locations(resource: Resource, prop: str, places: tuple[View, ...], program: Program) -> tuple[Location, ...]:
    """Return the subnets that ``places`` of the property ``prop`` name, resolved to resources where there are some."""
    sources = program.computed_from(resource, prop, tokens.SUBNET)
    if sources and len(sources) >= len(places):
        return tuple(_of_resource(source) for source in sources)
    return tuple(Location(_text(place), None, place) for place in places)


def zone_of(location: Location) -> str:
    """Return a subnet's zone; raise ``NotKnownError`` for one that is only looked up."""
    if location.zone is None:
        raise NotKnownError(location.place.not_known(LOOKED_UP))
    return location.zone


def _selected(node_class: Resource, program: Program) -> Iterator[Location]:
    """Yield the subnets that an EC2NodeClass selects, by id or by tags."""
    terms = node_class.view.at("spec", "subnetSelectorTerms").items()
    named = tuple(term["id"] for term in terms if term["id"].exists)
    yield from locations(node_class, "spec", named, program) if named else ()
    for term in terms:
        if term["tags"].exists:
            yield from _tagged(term["tags"], program)


def _tagged(tags: View, program: Program) -> Iterator[Location]:
    wanted = tags.text_map()
    found = [
        subnet for subnet in program.of_type(tokens.SUBNET) if selected_by_tags(subnet.view["tags"].text_map(), wanted)
    ]
    if not found:
        raise NotKnownError(tags.not_known(LOOKED_UP))
    yield from (_of_resource(subnet) for subnet in found)


def _of_resource(subnet: Resource) -> Location:
    place = subnet.view["availabilityZone"]
    return Location(subnet.urn, place.text(), place)


def _text(place: View) -> str:
    text = place.text()
    if text is None:
        raise NotKnownError(place.not_known(LOOKED_UP))
    return text
