"""SEC001: nodes require IMDSv2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.planning.pool import Family, family_name, family_of
from eks_gpu.planning.reading import NotKnownError
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import resources


def _check(template: Resource, stack: Stack) -> Iterator[Outcome]:
    node_class = tokens.whole(template.type) == tokens.NODE_CLASS
    options = template.view.at("spec", "metadataOptions") if node_class else template.view["metadataOptions"]
    if options["httpEndpoint"].text() == "disabled":
        return
    required = options["httpTokens"].text()
    if required == "optional":
        yield Problem("lets nodes answer metadata requests without a token (httpTokens: optional)")
    elif required is None and not node_class:
        yield from _unset(template, stack)


def _unset(template: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge a launch template that says nothing by what its image demands; Karpenter's default is ``required``."""
    families = _families(template, stack)
    if not families:
        yield Undecided("metadataOptions.httpTokens", "unset, and the default of its image is not known")
    for family in families:
        if not isinstance(family, AmiFamily):
            yield Problem(f"does not set httpTokens, and {family_name(family)} images do not demand a token")


def _families(template: Resource, stack: Stack) -> tuple[Family, ...]:
    found = []
    for pool in stack.pools:
        if pool.template == template.urn:
            try:
                family = family_of(pool)
            except NotKnownError:
                continue
            if family is not None and family not in found:
                found.append(family)
    return tuple(found)


_OPEN = examples.launch_template(metadataOptions={"httpTokens": "optional"})
_SOUND = examples.launch_template()

RULE: Final = Rule(
    id="SEC001",
    title="Nodes require IMDSv2",
    severity=Severity.HIGH,
    why=(
        "With IMDSv1 any request that a pod can be talked into making, such as a model URL that a user sends, returns "
        "the node role's credentials."
    ),
    fix="set metadataOptions.httpTokens to required, with a hop limit of 1, as GpuNodeGroup and GpuNodePool do",
    lessons=(),
    looks_at=resources("launch templates and EC2NodeClasses", (tokens.LAUNCH_TEMPLATE, tokens.NODE_CLASS)),
    check=_check,
    failing=Example((_OPEN, examples.node_group(_OPEN))),
    passing=Example((_SOUND, examples.node_group(_SOUND))),
)
