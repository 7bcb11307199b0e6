"""The pack as the engine sees it: requests in, diagnostics out."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
import yaml
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import proxy
from pulumi_policy.policy import _PolicyAnalyzerServicer

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.configuration import ENVIRONMENT_VARIABLE, PLATFORM_KEY, SCHEMA
from eks_gpu_policies.pack import Servicer
from eks_gpu_policies.protocol import VERSION
from eks_gpu_policies.report import PACK
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level, Scope, Severity
from eks_gpu_policies.rules import RULES

CONTEXT = cast("grpc.ServicerContext", None)
"""The servicer never asks for it."""

ROOT = examples.resource(tokens.STACK, "example-prod", {})
WATCHED = {"monitoringStack": "observability"}
"""That the GPUs are watched elsewhere, so that single resources are a stack."""
BARE_POOL = examples.node_pool(limits={}, taints=())
LEVELS = {"mandatory": analyzer_pb2.MANDATORY, "advisory": analyzer_pb2.ADVISORY, "disabled": analyzer_pb2.DISABLED}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


def wire(value: object) -> Any:  # noqa: ANN401 - JSON-like
    if value is UNKNOWN:
        return proxy.UNKNOWN_STRING_VALUE
    if isinstance(value, Mapping):
        return {key: wire(item) for key, item in value.items()}
    return [wire(item) for item in value] if isinstance(value, list | tuple) else value


def struct(props: Mapping[str, object]) -> struct_pb2.Struct:
    message = struct_pb2.Struct()
    message.update(wire(props))
    return message


def described(servicer: Servicer) -> analyzer_pb2.AnalyzerInfo:
    info: analyzer_pb2.AnalyzerInfo = cast("Any", servicer).GetAnalyzerInfo(None, None)
    return info


def configured(
    pack: Mapping[str, object] | None = None,
    levels: Mapping[str, str] | None = None,
    stack: Mapping[str, str] | None = None,
) -> Servicer:
    """Return a servicer configured as the engine does it: the stack first, then every policy with its level.

    Names of a configuration that are no policies arrive as well.
    """
    servicer = Servicer(RULES)
    servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack="prod", config=stack or {}), CONTEXT)
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    levels = levels or {}
    for policy in described(servicer).policies:
        chosen = levels.get(policy.name)
        request.policyConfig[policy.name].enforcementLevel = (
            policy.enforcementLevel if chosen is None else LEVELS[chosen]
        )
    for name in levels.keys() - request.policyConfig.keys():
        request.policyConfig[name].enforcementLevel = LEVELS[levels[name]]
    request.policyConfig[PACK].properties.CopyFrom(struct(pack or {}))
    servicer.Configure(request, CONTEXT)
    return servicer


def analyse(servicer: Servicer, resource: Resource) -> list[analyzer_pb2.AnalyzeDiagnostic]:
    request = analyzer_pb2.AnalyzeRequest(
        urn=resource.urn, type=resource.type, name=resource.name, properties=struct(resource.props)
    )
    return list(servicer.Analyze(request, CONTEXT).diagnostics)


def analyse_stack(
    servicer: Servicer, *resources: Resource, outputs: bool = True
) -> list[analyzer_pb2.AnalyzeDiagnostic]:
    request = analyzer_pb2.AnalyzeStackRequest()
    for resource in (ROOT, *resources):
        item = request.resources.add(
            urn=resource.urn,
            type=resource.type,
            name=resource.name,
            properties=struct(resource.props if outputs else {}),
            parent=resource.parent or "",
            dependencies=sorted(resource.dependencies),
        )
        for prop, urns in resource.property_dependencies.items():
            item.propertyDependencies[prop].urns.extend(sorted(urns))
    return list(servicer.AnalyzeStack(request, CONTEXT).diagnostics)


def ids(diagnostics: list[analyzer_pb2.AnalyzeDiagnostic]) -> list[str]:
    return [item.policyName for item in diagnostics]


def test_the_private_seam_has_the_shape_that_the_pack_leans_on() -> None:
    parameters = list(inspect.signature(_PolicyAnalyzerServicer.__init__).parameters)
    assert parameters[:5] == ["self", "name", "version", "policies", "enforcement_level"]
    assert {"description", "display_name"} <= set(parameters)
    for method in ("Analyze", "AnalyzeStack", "Remediate", "Configure", "ConfigureStack", "GetAnalyzerInfo"):
        assert callable(getattr(_PolicyAnalyzerServicer, method))
    fields = set(analyzer_pb2.AnalyzerStackConfigureRequest.DESCRIPTOR.fields_by_name)
    assert {"stack", "project", "config"} <= fields


def test_every_rule_is_a_policy_with_title_reason_remedy_and_severity() -> None:
    info = described(Servicer(RULES))
    assert (info.name, info.supportsConfig) == (PACK, True)
    listed = {policy.name: policy for policy in info.policies}
    assert list(listed) == [PACK, *(rule.id for rule in RULES)]
    for rule in RULES:
        policy = listed[rule.id]
        assert (policy.displayName, policy.description) == (rule.title, rule.why)
        assert policy.remediation_steps == rule.fix
        assert policy.url == rule.link
        assert set(rule.lessons) <= set(policy.tags)
        kind = "POLICY_TYPE_RESOURCE" if rule.scope is Scope.RESOURCE else "POLICY_TYPE_STACK"
        assert analyzer_pb2.PolicyType.Name(policy.policy_type) == kind
        severity = {
            Severity.CRITICAL: analyzer_pb2.POLICY_SEVERITY_CRITICAL,
            Severity.HIGH: analyzer_pb2.POLICY_SEVERITY_HIGH,
            Severity.MEDIUM: analyzer_pb2.POLICY_SEVERITY_MEDIUM,
            Severity.LOW: analyzer_pb2.POLICY_SEVERITY_LOW,
        }[rule.severity]
        assert policy.severity == severity
    assert set(listed[PACK].configSchema.properties) == set(SCHEMA)


def test_a_rule_on_one_resource_speaks_before_it_is_created_and_only_once() -> None:
    servicer = configured()
    assert ids(analyse(servicer, BARE_POOL)) == ["COST001"]
    assert ids(analyse_stack(servicer, BARE_POOL)) == ["NODE004"]


def test_a_rule_on_one_resource_speaks_at_the_end_if_it_has_not_before() -> None:
    assert sorted(ids(analyse_stack(configured(), BARE_POOL))) == ["COST001", "NODE004"]


def test_a_finding_is_on_its_resource_with_its_message_and_remedy() -> None:
    finding = analyse(configured(), BARE_POOL)[0]
    assert finding.urn == BARE_POOL.urn
    assert finding.enforcementLevel == analyzer_pb2.MANDATORY
    assert finding.severity == analyzer_pb2.POLICY_SEVERITY_HIGH
    assert finding.message.startswith("has no limit on nvidia.com/gpu")
    assert "Fix: set limits" in finding.message


def test_inputs_seen_before_stand_in_for_the_empty_outputs_of_an_unconfigured_provider() -> None:
    servicer = configured()
    for resource in (examples.node_class(), BARE_POOL):
        analyse(servicer, resource)
    assert ids(analyse_stack(servicer, examples.node_class(), BARE_POOL, outputs=False)) == ["NODE004", "NODE015"]


def test_inputs_go_before_outputs_which_the_cloud_has_filled_in() -> None:
    template = examples.launch_template()
    servicer = configured()
    analyse(servicer, template)
    analyse(servicer, examples.node_group(template, releaseVersion=None))
    assert ids(analyse_stack(servicer, template, examples.node_group(template))) == ["NODE006"]


def test_a_new_run_forgets_the_last_one() -> None:
    servicer = configured()
    analyse(servicer, BARE_POOL)
    servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack="prod"), CONTEXT)
    assert analyse_stack(servicer, BARE_POOL, outputs=False) == []


@pytest.mark.parametrize(
    ("pack", "variable", "platform", "level"),
    [
        (None, None, None, "mandatory"),
        (None, None, "dev", "advisory"),
        (None, "dev", "prod", "advisory"),
        ("prod", "dev", "dev", "mandatory"),
    ],
)
def test_the_environment_sets_the_levels(
    pack: str | None, variable: str | None, platform: str | None, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable is not None:
        monkeypatch.setenv(ENVIRONMENT_VARIABLE, variable)
    budget = {"monthly_usd": 1_000_000}
    stack = {} if platform is None else {PLATFORM_KEY: json.dumps({"environment": platform, "budget": budget})}
    said = {**WATCHED, "monthlyBudgetUsd": 1_000_000, **({} if pack is None else {"environment": pack})}
    servicer = configured(pack=said, stack=stack)
    findings = analyse_stack(servicer, examples.node_pool(taints=()))
    assert [(item.policyName, item.enforcementLevel) for item in findings] == [("NODE004", LEVELS[level])]


@pytest.mark.parametrize(("level", "found"), [("advisory", ["NODE004"]), ("disabled", []), ("mandatory", ["NODE004"])])
def test_a_configured_level_goes_before_the_environments(level: str, found: list[str]) -> None:
    said = {**WATCHED, "environment": "dev", "monthlyBudgetUsd": 1_000_000}
    servicer = configured(pack=said, levels={"NODE004": level})
    findings = analyse_stack(servicer, examples.node_pool(taints=()))
    assert ids(findings) == found
    assert all(item.enforcementLevel == LEVELS[level] for item in findings)


def test_a_level_for_all_is_no_rule_and_a_rule_that_does_not_exist_refuses_the_run() -> None:
    servicer = configured(levels={"all": "advisory", "COST001": "advisory"})
    assert {item.enforcementLevel for item in analyse(servicer, BARE_POOL)} == {analyzer_pb2.ADVISORY}
    (said,) = analyse(configured(levels={"COST100": "advisory"}), BARE_POOL)
    assert said.message.startswith("the policies could not run: COST100 is no rule of this pack (did you mean COST00")


def test_an_option_of_a_rule_refuses_the_run() -> None:
    servicer = Servicer(RULES)
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    request.policyConfig["COST001"].properties.update({"limit": 8})
    servicer.Configure(request, CONTEXT)
    (said,) = analyse(servicer, BARE_POOL)
    assert said.message == (
        "the policies could not run: limit is no option of COST001: a rule has only a level, and options stand under "
        "eks-gpu"
    )


def test_waivers_of_the_stacks_own_configuration_hold() -> None:
    waiver = {
        "rule": "COST001",
        "resource": "g5",
        "owner": "ml",
        "reason": "a day of load tests",
        "until": "2999-12-31",
    }
    servicer = configured(stack={PLATFORM_KEY: json.dumps({"waivers": [waiver]})})
    assert analyse(servicer, BARE_POOL) == []
    assert ids(analyse_stack(servicer, BARE_POOL)) == ["NODE004"]


def test_a_malformed_waiver_refuses_the_run_in_one_sentence_and_once() -> None:
    servicer = configured(stack={PLATFORM_KEY: json.dumps({"waivers": [{"rule": "COST001"}]})})
    first, second = analyse(servicer, BARE_POOL), analyse(servicer, examples.node_class())
    assert {item.policyName for item in first} == {PACK}
    assert {item.enforcementLevel for item in first} == {analyzer_pb2.MANDATORY}
    assert first[0].message.startswith(
        "the policies could not run: eks-gpu:platform.waivers[0].resource is missing; a waiver needs rule, resource"
    )
    assert second == []
    assert analyse_stack(servicer, BARE_POOL) == []


def test_a_malformed_waiver_is_told_at_the_end_where_nothing_was_analysed_before() -> None:
    servicer = configured(pack={"waivers": "none"})
    assert [item.message for item in analyse_stack(servicer, BARE_POOL)] == [
        "the policies could not run: waivers is 'none'; it must be a list of {rule, resource, owner, reason, until}"
    ]


@pytest.mark.parametrize(
    "sentinel",
    [
        proxy.UNKNOWN_BOOLEAN_VALUE,
        proxy.UNKNOWN_NUMBER_VALUE,
        proxy.UNKNOWN_STRING_VALUE,
        proxy.UNKNOWN_ARRAY_VALUE,
        proxy.UNKNOWN_ASSET_VALUE,
        proxy.UNKNOWN_ARCHIVE_VALUE,
        proxy.UNKNOWN_OBJECT_VALUE,
    ],
)
def test_a_value_that_is_not_known_leaves_the_question_open(sentinel: str) -> None:
    template = examples.launch_template()
    servicer = configured(pack={"notEvaluated": "list"})
    found = analyse_stack(servicer, template, examples.node_group(template, taints=sentinel))
    assert "not evaluated: NODE004 inference: taints (not known before creation)" in [item.message for item in found]
    assert "NODE004" not in ids(found)


def test_open_questions_are_counted_listed_or_refused_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    pool = examples.node_pool()
    assert analyse_stack(configured(), pool) == []
    said = capsys.readouterr().err
    listed = analyse_stack(configured(pack={"notEvaluated": "list"}), pool)
    assert len(listed) >= 3
    assert f"{len(listed)} not evaluated" in said
    assert {item.enforcementLevel for item in listed} == {analyzer_pb2.ADVISORY}
    refused = analyse_stack(configured(pack={"failOnNotEvaluated": True}), pool)
    assert refused[0].message == f"{len(listed)} checks could not be evaluated, and none may be left open"
    assert refused[0].enforcementLevel == analyzer_pb2.MANDATORY
    assert len(refused) == len(listed) + 1


def test_one_open_question_is_one_check() -> None:
    off = {rule.id: "disabled" for rule in RULES if rule.id != "COST006"}
    servicer = configured(pack={"failOnNotEvaluated": True}, levels=off)
    (refused, _listed) = analyse_stack(servicer, examples.node_pool())
    assert refused.message == "1 check could not be evaluated, and none may be left open"


def test_the_summary_is_on_standard_error_and_nothing_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    analyse_stack(configured(), examples.node_class(), examples.node_pool())
    said = capsys.readouterr()
    assert said.out == ""
    binding = [rule for rule in RULES if rule.levels.prod is not Level.DISABLED]
    assert said.err.startswith(f"{PACK}: {len(binding)} rules (prod) on 3 resources: ")
    assert said.err.count("\n") == 1


def test_a_pack_that_is_switched_off_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    off = dict.fromkeys((PACK, *(rule.id for rule in RULES)), "disabled")
    assert analyse_stack(configured(levels=off), BARE_POOL) == []
    assert capsys.readouterr().err == ""


def test_secrets_are_judged_and_never_repeated() -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s3cr3t"}
    container = examples.container(startupProbe=None, env=[{"name": "HF_TOKEN", "value": secret}])
    servicer = configured()
    found = [
        *analyse(servicer, examples.deployment(container)),
        *analyse_stack(servicer, examples.deployment(container)),
    ]
    assert set(ids(found)) >= {"WORK006", "WORK008"}
    assert not any("s3cr3t" in str(item) for item in found)


def test_a_secret_that_rules_need_is_read() -> None:
    mark = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    hidden = examples.node_pool(limits={**mark, "value": {"nvidia.com/gpu": "8"}})
    assert analyse(configured(), hidden) == []


def test_nothing_is_ever_changed() -> None:
    request = analyzer_pb2.AnalyzeRequest(urn=BARE_POOL.urn, type=BARE_POOL.type, properties=struct(BARE_POOL.props))
    assert not Servicer(RULES).Remediate(request, CONTEXT).remediations


def test_the_pack_has_the_version_of_the_distribution() -> None:
    root = Path(__file__).parents[2]
    distribution = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    manifest = yaml.safe_load((root / "policies" / "PulumiPolicy.yaml").read_text())
    assert (VERSION, manifest["version"]) == (distribution, distribution)
