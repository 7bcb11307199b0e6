"""No rule crashes, hangs or passes by accident, whatever properties a program has."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eks_gpu.facts import labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Rule
from eks_gpu_policies.rules import RULES
from tests.support.judging import TODAY

OTHERS = {
    tokens.CLAIM,
    tokens.VOLUME,
    tokens.SUBNET,
    tokens.MOUNT_TARGET,
    tokens.CONFIG_MAP,
    tokens.SECURITY_GROUP,
    tokens.SECURITY_GROUP_RULE,
    f"{tokens.NODE_POOL}Patch",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:apps/v1:DeploymentPatch",
    "kubernetes:batch/v1:Job",
    "kubernetes:core/v1:Pod",
}
TYPES = sorted(OTHERS.union(*(rule.looks_at.types for rule in RULES)))

_WORDS = """
    spec template metadata labels name containers initContainers resources limits requests requirements key
    operator values taints effect nodeClassRef instanceTypes amiType launchTemplate blockDeviceMappings
    deviceName ebs volumeSize encrypted scalingConfig maxSize chart version parameters provisioner
    fileSystemId subnetIds metadataOptions httpTokens amiSelectorTerms alias volumes emptyDir medium sizeLimit
    volumeMounts mountPath startupProbe nodeSelector tolerations affinity config data default
"""
WORDS = st.sampled_from([*_WORDS.split(), resources.GPU, labels.WORKLOAD, labels.INSTANCE_TYPE])
"""Words that readers look for, so that random trees reach deep into them."""

SCALARS = st.one_of(
    st.none(),
    st.just(UNKNOWN),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["In", "Exists", "Gt", "NoSchedule", "g5.xlarge", "p4d.24xlarge", "1", "8Gi", "1e99", "Memory"]),
    st.sampled_from(
        ["gpu-operator", "nvidia-device-plugin", "efs.csi.aws.com", "/dev/xvda", "al2023@latest", "nvidia"]
    ),
    st.sampled_from(["sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}", "&a [*a]", "["]),
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


def report_on(program: list[Resource]) -> Report:
    return evaluate(
        program, environment=Environment.PROD, rules=RULES, today=TODAY, options=Options(monthly_budget_usd=1.0)
    )


def crashes(report: Report) -> list[str]:
    return [line for line in report.lines() if "crashed" in line or "could not be read" in line]


@settings(max_examples=300, deadline=None)
@given(programs())
def test_no_rule_crashes_on_arbitrary_properties(program: list[Resource]) -> None:
    assert crashes(report_on(program)) == []


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


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@pytest.mark.parametrize("new", [UNKNOWN, None, 7, "word", [], {}, [UNKNOWN]], ids=repr)
def test_no_rule_crashes_when_one_property_of_its_example_is_something_else(rule: Rule[Any], new: object) -> None:
    for example in (rule.failing, rule.passing):
        for number, resource in enumerate(example.resources):
            for path in _places(dict(resource.props)):
                other = dataclasses.replace(resource, props=_with(dict(resource.props), path, new))
                program = [*example.resources[:number], other, *example.resources[number + 1 :]]
                assert crashes(report_on(program)) == [], (resource.name, path)


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
