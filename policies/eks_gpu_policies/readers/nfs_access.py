"""Whether the security groups of a mount target let a pool's nodes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts.storage import NFS_PORT
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.subnets import Location
from eks_gpu_policies.resource import Resource

_ANY_PROTOCOL: Final = frozenset({"-1", "all"})
_TCP: Final = frozenset({"tcp", "6"})
_GROUPS: Final = ("sourceSecurityGroupId", "referencedSecurityGroupId")
_RANGES: Final = ("cidrIpv4",)
_OTHER_SOURCES: Final = ("ipv6CidrBlocks", "cidrIpv6", "prefixListIds", "prefixListId")
"""Sources that are not compared with anything: whoever is let in by them may be a node."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A rule that lets NFS in."""

    resource: Resource
    """The group that says it, or the resource of its own."""
    rule: View

    @property
    def _inline(self) -> bool:
        return self.resource.type == tokens.SECURITY_GROUP

    def groups(self, program: Program) -> tuple[Resource, ...] | None:
        """Return the groups whose members it lets in; None where it names some that are not in the program."""
        props = ("ingress",) if self._inline else _GROUPS
        named = self.rule["securityGroups"].items() if self._inline else self._named()
        types = (tokens.SECURITY_GROUP, *tokens.CLUSTERS)
        found = tuple(item for prop in props for item in program.computed_from(self.resource, prop, *types))
        return () if not named else found or None

    def _named(self) -> tuple[View, ...]:
        return tuple(self.rule[key] for key in _GROUPS if self.rule[key].exists)

    @property
    def ranges(self) -> tuple[str, ...]:
        """The address ranges that it lets in; raise ``NotKnownError`` for one that is not known."""
        single = (self.rule[key].text() for key in _RANGES)
        return (*self.rule["cidrBlocks"].texts(), *(text for text in single if text is not None))

    @property
    def itself(self) -> bool:
        """Whether it lets in the members of its own group."""
        return self.rule["self"].boolean() is True

    @property
    def others(self) -> bool:
        """Whether it names sources of other kinds."""
        return any(self.rule[key].exists for key in _OTHER_SOURCES)


def openings(group: Resource, program: Program) -> Iterator[Opening]:
    """Yield the rules of a security group that let NFS in."""
    for rule in group.view["ingress"].items():
        if _lets_nfs_in(rule):
            yield Opening(group, rule)
    for item in program.users_of(group, "securityGroupId", tokens.SECURITY_GROUP_RULE, tokens.SECURITY_GROUP_INGRESS):
        inwards = item.type == tokens.SECURITY_GROUP_INGRESS or item.view["type"].text() == "ingress"
        if inwards and _lets_nfs_in(item.view):
            yield Opening(item, item.view)


def _lets_nfs_in(rule: View) -> bool:
    protocol = (rule["protocol"].text() or rule["ipProtocol"].text() or "").lower()
    if protocol in _ANY_PROTOCOL:
        return True
    first, last = rule["fromPort"].number(), rule["toPort"].number()
    return protocol in _TCP and first is not None and last is not None and first <= NFS_PORT <= last


@dataclass(frozen=True, slots=True)
class Memberships:
    """The security groups that nodes are in."""

    groups: frozenset[str] = frozenset()
    """URNs of those of the program."""
    of_cluster: bool = False
    """Whether the cluster's own is among them."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Where a pool's nodes are, as far as it is known."""

    memberships: Memberships | NotKnown
    ranges: tuple[str, ...] | NotKnown
    """The address ranges of their subnets."""


def nodes_of(pool: Pool, locations: tuple[Location, ...] | NotKnown, program: Program) -> Nodes:
    """Return where a pool's nodes are, given its subnets."""
    ranges = locations if isinstance(locations, NotKnown) else attempt(lambda: tuple(_ranges(locations, program)))
    return Nodes(attempt(_memberships, pool, program), ranges)


def _memberships(pool: Pool, program: Program) -> Memberships:
    """Return the groups of a pool's nodes: those of the cluster where nothing names any.

    Raises ``NotKnownError`` where one is named by tags, or by an id from elsewhere: it may be any.
    """
    urn = need(pool.template)
    if urn is None:
        return Memberships(of_cluster=True)
    template, in_class = program.by_urn[urn], pool.kind is PoolKind.NODE_POOL
    props = ("spec",) if in_class else ("networkInterfaces", "vpcSecurityGroupIds")
    named = _named_groups(template.view, in_class=in_class)
    if not named and not in_class:
        return Memberships(of_cluster=True)
    groups = {item.urn for prop in props for item in program.computed_from(template, prop, tokens.SECURITY_GROUP)}
    of_cluster = any(program.computed_from(template, prop, *tokens.CLUSTERS) for prop in props)
    by_id = all(place["id"].exists for place in named) if in_class else True
    if not named or not by_id or len(groups) + of_cluster < len(named):
        raise NotKnownError(template.view[props[0]].not_known("the security group is not in the stack"))
    return Memberships(frozenset(groups), of_cluster)


def _named_groups(template: View, *, in_class: bool) -> tuple[View, ...]:
    """Return the places that name groups: the terms of a class, or the list of the interface that names most."""
    if in_class:
        return template.at("spec", "securityGroupSelectorTerms").items()
    lists = [item["securityGroups"].items() for item in template["networkInterfaces"].items()]
    return max((*lists, template["vpcSecurityGroupIds"].items()), key=len)


def _ranges(locations: tuple[Location, ...], program: Program) -> Iterator[str]:
    for item in locations:
        subnet = program.by_urn.get(item.id)
        text = None if subnet is None else subnet.view["cidrBlock"].text()
        if text is not None:
            yield text


class Admitted:
    """Whom the rules of a mount target's groups let in, prepared for the question whether a pool's nodes may be it."""

    def __init__(self, openings: tuple[Opening, ...], own: frozenset[str], program: Program) -> None:
        """Take the rules, and the URNs of the groups that say them."""
        self._anybody = False
        """Whether some rule may let in anybody, as far as it is known."""
        self._by_group = False
        self._groups: set[str] = set()
        self._of_cluster = False
        self._ranges: list[tuple[str, ...]] = []
        for opening in openings:
            self._add(opening, own, program)

    def _add(self, opening: Opening, own: frozenset[str], program: Program) -> None:
        groups, ranges = opening.groups(program), attempt(lambda: opening.ranges)
        if groups is None or isinstance(ranges, NotKnown) or opening.others:
            self._anybody = True
            return
        if not groups and not ranges and not opening.itself:
            self._anybody = True  # It names no source at all: what EC2 makes of that, EC2 says.
            return
        if groups:
            self._groups.update(group.urn for group in groups)
            self._of_cluster |= any(group.type in tokens.CLUSTERS or _is_of_cluster(group, program) for group in groups)
        if opening.itself:
            self._groups |= own
        self._by_group |= bool(groups) or opening.itself
        if ranges:
            self._ranges.append(ranges)

    def may_be(self, nodes: Nodes) -> bool:
        """Return whether a pool's nodes may be let in: false only where they certainly are not."""
        if self._anybody:
            return True
        return (self._by_group and self._has_members(nodes.memberships)) or any(
            _are_within(nodes, ranges) for ranges in self._ranges
        )

    def _has_members(self, nodes: Memberships | NotKnown) -> bool:
        if isinstance(nodes, NotKnown):
            return True
        return not self._groups.isdisjoint(nodes.groups) or (nodes.of_cluster and self._of_cluster)


def _is_of_cluster(group: Resource, program: Program) -> bool:
    """Return whether a group was made by a component that makes a cluster, and may be its nodes'."""
    above = (program.by_urn.get(urn) for urn in program.graph.ancestors(group.urn))
    return any(item is not None and program.contains(item, *tokens.CLUSTERS) for item in above if _is_component(item))


def _is_component(item: Resource | None) -> bool:
    return item is not None and item.type != tokens.STACK


def _are_within(nodes: Nodes, ranges: tuple[str, ...]) -> bool:
    if isinstance(nodes.ranges, NotKnown) or not nodes.ranges:
        return True
    # Only a stack with such rules pays for the import.
    from ipaddress import ip_network  # noqa: PLC0415

    try:
        let_in = [ip_network(text, strict=False) for text in ranges]
        return any(ip_network(text, strict=False).overlaps(known) for text in nodes.ranges for known in let_in)
    except (ValueError, TypeError):
        return True  # What is no address range EC2 refuses.
