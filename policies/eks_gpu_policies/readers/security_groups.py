"""The security groups of a pool's nodes, and whether all traffic among them is let through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eks_gpu.facts.efa import EVERY_PROTOCOL
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnownError, View, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.tags import selected_by_tags
from eks_gpu_policies.resource import Resource

_RULES: Final = (tokens.SECURITY_GROUP_RULE, tokens.SECURITY_GROUP_INGRESS, tokens.SECURITY_GROUP_EGRESS)
_WAYS: Final = ("ingress", "egress")
_OF_WAY: Final = {tokens.SECURITY_GROUP_INGRESS: "ingress", tokens.SECURITY_GROUP_EGRESS: "egress"}
_ITSELF: Final = ("sourceSecurityGroupId", "referencedSecurityGroupId")


def node_groups_of(pool: Pool, program: Program) -> tuple[Resource, ...] | None:
    """Return the security groups of a pool's nodes; None for the cluster's own, which lets its members talk.

    EKS adds the cluster's group where a launch template names none. The pool has a launch template or EC2NodeClass.
    Raises ``NotKnownError`` when a group is not in the stack.
    """
    template = program.by_urn[need(pool.template) or ""]
    props = ("spec",) if pool.kind is PoolKind.NODE_POOL else ("networkInterfaces", "vpcSecurityGroupIds")
    if any(program.computed_from(template, prop, *tokens.CLUSTERS) for prop in props):
        return None
    named = _named(template, node_class=pool.kind is PoolKind.NODE_POOL)
    if not named:
        return None
    sources = [group for prop in props for group in program.computed_from(template, prop, tokens.SECURITY_GROUP)]
    found = dict.fromkeys((*(group.urn for group in sources), *(group.urn for group in _tagged(named, program))))
    groups = tuple(program.by_urn[key] for key in found)
    if len(groups) < len(named) and lacks(groups, program):
        raise NotKnownError(named[0].not_known("the security group is not in the stack"))
    return groups


def _named(template: Resource, *, node_class: bool) -> tuple[View, ...]:
    """Return the places that name groups: those of the interface that names most, or the terms of a class."""
    if node_class:
        return template.view.at("spec", "securityGroupSelectorTerms").items()
    lists = [item["securityGroups"].items() for item in template.view["networkInterfaces"].items()]
    lists.append(template.view["vpcSecurityGroupIds"].items())
    return max(lists, key=len)


def _tagged(terms: Iterable[View], program: Program) -> Iterator[Resource]:
    """Yield the groups of the stack that terms select by tags."""
    wanted = [term["tags"].text_map() for term in terms if term["tags"].exists]
    for group in program.of_type(tokens.SECURITY_GROUP) if wanted else ():
        own = group.view["tags"].text_map()
        if any(selected_by_tags(own, tags) for tags in wanted):
            yield group


def lacks(groups: tuple[Resource, ...], program: Program) -> tuple[str, ...]:
    """Return the ways (ingress, egress) in which no rule lets all traffic among the members of ``groups`` through.

    A rule for an address range does not count: adapters do not speak IP.
    """
    members = {group.urn for group in groups}
    let = {way for group in groups for way in _let_through(group, members, program)}
    return tuple(way for way in _WAYS if way not in let)


def _let_through(group: Resource, members: set[str], program: Program) -> Iterator[str]:
    for way in _WAYS:
        if any(_all(rule) and rule["self"].boolean() for rule in group.view[way].items()):
            yield way
    for rule in program.users_of(group, "securityGroupId", *_RULES):
        said = _OF_WAY.get(rule.type) or rule.view["type"].text()
        if said in _WAYS and _all(rule.view) and _names_member(rule, members, program):
            yield said


def _all(rule: View) -> bool:
    return (rule["protocol"].text() or rule["ipProtocol"].text() or "").lower() in EVERY_PROTOCOL


def _names_member(rule: Resource, members: set[str], program: Program) -> bool:
    if rule.view["self"].boolean():
        return True
    sources = (source for prop in _ITSELF for source in program.computed_from(rule, prop, tokens.SECURITY_GROUP))
    return any(source.urn in members for source in sources)
