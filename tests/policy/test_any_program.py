"""No rule crashes, hangs or passes by accident, whatever properties a program has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Example, Rule
from eks_gpu_policies.rules import RULES
from tests.support.judging import TODAY

EXAMPLES = [example for rule in RULES for example in (rule.failing, rule.passing)]


def _leaves(value: object) -> list[tuple[str, object]]:
    """Return the keys of a tree, and under which of them each leaf is."""
    pending: list[tuple[str, object]] = [("", value)]
    found = []
    while pending:
        key, item = pending.pop()
        found.append((key, item))
        if isinstance(item, dict):
            pending.extend(item.items())
        elif isinstance(item, list | tuple):
            pending.extend((key, each) for each in item)
    return found


_SEEN = [leaf for example in EXAMPLES for resource in example.resources for leaf in _leaves(dict(resource.props))]

OTHERS = {
    *(value for value in vars(tokens).values() if isinstance(value, str) and value.count(":") == 2),
    f"{tokens.NODE_POOL}Patch",
    "kubernetes:apps/v1:DeploymentPatch",
    "kubernetes:core/v1:Pod",
    "kubernetes:ray.io/v1:RayService",
    "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate",
}
TYPES = sorted(
    OTHERS.union(
        *(rule.looks_at.types for rule in RULES),
        (resource.type for example in EXAMPLES for resource in example.resources),
    )
)

_WORDS = """
    initContainers matchExpressions requiredDuringSchedulingIgnoredDuringExecution preferred podAffinity ephemeral
    startupTaints budgets schedule duration reasons replicas minAvailable maxUnavailable weight networkInterfaces
    interfaceType networkCardIndex capacityReservationSpecification instanceRequirements mixedInstancesPolicy
    userData imageId vpcSecurityGroupIds taintsDynamic resourceClaims claims serviceMonitor valueYamlFiles skipCrds
    ingress cidrBlocks fromPort toPort protocol lifecyclePolicies throughputMode provisionedThroughputInMibps
    configurationValues groups rules expr record alert hard min max defaultRequest annotations clusterName
    valueFrom envFrom workerGroupSpecs headGroupSpec pytorchReplicaSpecs leaderWorkerTemplate predictor trainer
"""
"""Words that rules look for and no example says."""
WORDS = st.sampled_from(sorted({key for key, _ in _SEEN if key}.union(_WORDS.split())))
"""Words that readers look for, so that random trees reach deep into them."""

_TEXTS = sorted({value for _, value in _SEEN if isinstance(value, str)})
SCALARS = st.one_of(
    st.none(),
    st.just(UNKNOWN),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(_TEXTS),
    st.sampled_from(
        [
            "Gt",
            "Lt",
            "NotIn",
            "1e99",
            "-1",
            "0.1e3",
            "8Gi",
            "5m",
            "10%",
            "Never",
            "@daily",
            "resolve:ssm:/x",
        ]
    ),
    st.sampled_from(["sharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}", "&a [*a]", "[", "{}", "//"]),
    st.sampled_from(["rate(DCGM_FI_DEV_XID_ERRORS[5m]) > 0", "sum by (", "mig-configs: {a: [{mig-devices: 1}]}"]),
    st.sampled_from(["MIME-Version: 1.0\n\n--//\n", "#!/bin/bash\ndnf -y upgrade", "[settings.kubernetes]\na = 1"]),
)
TREES = st.recursive(
    SCALARS,
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(WORDS | st.text(max_size=4), children, max_size=5)
    ),
    max_leaves=25,
)
PROPS = st.dictionaries(WORDS, TREES, max_size=6)


@st.composite
def programs(draw: st.DrawFn) -> list[Resource]:
    """Return resources of any type with any properties, computed from each other in any way."""
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4))
    urns = [f"urn:pulumi:dev::test::{token}::{number}" for number, token in enumerate(types)]
    some = st.frozensets(st.sampled_from(urns), max_size=2)
    return [
        Resource(
            urn=urn,
            type=token,
            name=f"resource-{number}",
            props=draw(PROPS),
            dependencies=draw(some),
            property_dependencies=draw(st.dictionaries(WORDS, some, max_size=3)),
        )
        for number, (urn, token) in enumerate(zip(urns, types, strict=True))
    ]


def report_on(program: list[Resource], rules: Sequence[Rule[Any]] = RULES) -> Report:
    options = Options(monthly_budget_usd=1.0, environment_named=True)
    return evaluate(program, environment=Environment.STAGING, rules=rules, today=TODAY, options=options)


def crashes(report: Report) -> list[str]:
    return [line for line in report.lines() if "crashed" in line or "could not be read" in line]


@settings(max_examples=150, deadline=None)
@given(programs())
def test_no_rule_crashes_on_arbitrary_properties(program: list[Resource]) -> None:
    assert crashes(report_on(program)) == []


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_rule_crashes_on_an_example_with_arbitrary_properties_somewhere(data: st.DataObject) -> None:
    """From an example, rules read on: a tree in the place of one of its values reaches what is read last."""
    program = list(data.draw(st.sampled_from(EXAMPLES)).resources)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(program) - 1))
        props = dict(program[number].props)
        path = data.draw(st.sampled_from([(), *_places(props)]))
        tree = data.draw(TREES if path else PROPS)
        program[number] = dataclasses.replace(program[number], props=_with(props, path, tree))
    stranger = data.draw(st.sampled_from(EXAMPLES)).resources
    urns = {resource.urn for resource in program}
    assert crashes(report_on([*program, *(item for item in stranger if item.urn not in urns)])) == []


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [place for key, item in inner for place in ((*path, key), *_places(item, (*path, key)))]


def _with(value: Any, path: tuple[str | int, ...], new: object) -> Any:  # noqa: ANN401 - JSON-like
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, key: _with(value[key], rest, new)}
    return [_with(item, rest, new) if number == key else item for number, item in enumerate(value)]


VALUES: tuple[object, ...] = (UNKNOWN, None, "word", {}, 7, [], [UNKNOWN])


def _variants(example: Example, values: Sequence[object]) -> Iterator[tuple[list[Resource], object]]:
    """Yield an example with each value in the place of each of its own."""
    for number, resource in enumerate(example.resources):
        props = dict(resource.props)
        for path in _places(props):
            for new in values:
                other = dataclasses.replace(resource, props=_with(props, path, new))
                yield [*example.resources[:number], other, *example.resources[number + 1 :]], (resource.name, path, new)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_never_crashes_when_one_property_of_its_example_is_something_else(rule: Rule[Any]) -> None:
    for program, change in (*_variants(rule.failing, VALUES[:4]), *_variants(rule.passing, VALUES[:1])):
        assert crashes(report_on(program, (rule,))) == [], change


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_rule_crashes_when_another_ones_example_has_something_else(rule: Rule[Any]) -> None:
    """Each place gets one of the values, in turn: all of them for all rules would take minutes."""
    for number, (program, change) in enumerate(_variants(rule.failing, (VALUES[0],))):
        new = VALUES[number % len(VALUES)]
        other = [_replaced(resource, new) for resource in program]
        assert crashes(report_on(other)) == [], (change, new)


def _replaced(resource: Resource, new: object) -> Resource:
    """Return a resource with ``new`` in the place of what was made unknown in it."""
    props = dict(resource.props)
    place = next((path for path in _places(props) if _at(props, path) is UNKNOWN), None)
    return resource if place is None else dataclasses.replace(resource, props=_with(props, place, new))


def _at(value: Any, path: tuple[str | int, ...]) -> object:  # noqa: ANN401 - JSON-like
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_failing_example_never_passes_because_something_is_unknown(rule: Rule[Any]) -> None:
    """A value that is not known leaves a question open; only where nobody needs it does the verdict stand."""
    example = rule.failing
    environment = Environment(str((example.options or {}).get("environment", Environment.PROD.value)))
    for number, resource in enumerate(example.resources):
        for path in _places(dict(resource.props)):
            other = dataclasses.replace(resource, props=_with(dict(resource.props), path, UNKNOWN))
            program = [*example.resources[:number], other, *example.resources[number + 1 :]]
            report = evaluate(
                program,
                environment=environment,
                rules=(rule,),
                today=TODAY,
                options=Options(monthly_budget_usd=1.0),
            )
            assert report.findings or report.not_evaluated, (resource.name, path)
