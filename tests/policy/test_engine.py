"""The engine: what is counted, what level a finding has, and what happens when a rule itself is at fault."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from eks_gpu.planning.reading import NotKnown, NotKnownError
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level, Outcome, Problem, Rule, Undecided, clauses
from eks_gpu_policies.rules import BY_ID, RULES
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import resources
from tests.support.judging import TODAY, unknown

SOUND = (examples.node_class(), examples.node_pool())


def rule(check: Any) -> Rule[Any]:  # noqa: ANN401 - any check at all
    everything = resources("node pools", (tokens.NODE_POOL,))
    return dataclasses.replace(BY_ID["NODE004"], id="TEST001", looks_at=everything, check=check)


def run(check: Any, *program: Resource, **settings: Any) -> Report:  # noqa: ANN401 - any check at all
    defaults: dict[str, Any] = {"environment": Environment.PROD, "today": TODAY}
    return evaluate(program or SOUND, rules=(rule(check),), **{**defaults, **settings})


def test_a_rule_that_crashes_is_a_finding_and_the_others_still_speak() -> None:
    def crash(_pool: Resource, _stack: Stack) -> Iterator[Outcome]:
        yield Problem("found before the crash")
        raise ZeroDivisionError

    report = evaluate(
        (*SOUND, examples.node_pool("bare", taints=())),
        environment=Environment.PROD,
        rules=(rule(crash), BY_ID["NODE004"]),
        today=TODAY,
    )
    said = {(finding.rule, finding.resource, finding.message) for finding in report.findings}
    assert ("TEST001", "g5", "found before the crash") in said
    assert ("TEST001", "g5", "the rule crashed with ZeroDivisionError and judged nothing") in said
    assert any(name == "NODE004" and resource == "bare" for name, resource, _ in said)
    assert report.refused


def test_a_rule_that_crashes_before_it_looks_at_anything_is_a_finding() -> None:
    def crash(_stack: Stack) -> tuple[Resource, ...]:
        raise KeyError

    broken = dataclasses.replace(rule(None), looks_at=dataclasses.replace(rule(None).looks_at, of=crash))
    report = evaluate(SOUND, environment=Environment.PROD, rules=(broken,), today=TODAY)
    assert [finding.message for finding in report.findings] == ["the rule crashed with KeyError and judged nothing"]


def test_a_resource_that_cannot_be_read_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_resource: Resource, _program: object) -> Iterator[object]:
        raise RecursionError

    monkeypatch.setattr("eks_gpu_policies.stack.read_pods", crash)
    report = evaluate((examples.deployment(),), environment=Environment.PROD, rules=RULES, today=TODAY)
    assert next(finding.text for finding in report.findings).startswith(
        "eks-gpu llm: its properties could not be read (RecursionError), so no rule saw it"
    )


def test_what_was_found_before_an_unknown_value_stands() -> None:
    def check(_pool: Resource, _stack: Stack) -> Iterator[Outcome]:
        yield Problem("certain")
        raise NotKnownError(NotKnown("urn", "spec.x"))

    report = run(check)
    assert [finding.message for finding in report.findings] == ["certain"]
    assert [(item.rule, item.urn, item.path) for item in report.not_evaluated] == [("TEST001", "urn", "spec.x")]


def test_a_clause_that_needs_an_unknown_value_does_not_silence_the_next() -> None:
    def unclear() -> Iterator[Outcome]:
        raise NotKnownError(NotKnown("urn", "spec.x"))
        yield

    def check(_pool: Resource, _stack: Stack) -> Iterator[Outcome]:
        yield from clauses(unclear(), iter([Problem("certain")]))

    report = run(check)
    assert [finding.message for finding in report.findings] == ["certain"]
    assert len(report.not_evaluated) == 1


def test_one_subject_counts_once_however_much_is_wrong_with_it() -> None:
    def check(_pool: Resource, _stack: Stack) -> Iterator[Outcome]:
        yield Problem("one")
        yield Problem("two")
        yield Undecided("x", "y")

    report = run(check)
    count = report.rules[0]
    assert (count.checks, count.failed, count.not_evaluated) == (1, 1, 0)
    assert len(report.findings) == 2


def test_a_problem_may_be_advice_whatever_the_rules_level() -> None:
    report = run(lambda _pool, _stack: iter([Problem("taste", advisory=True)]))
    assert [finding.level for finding in report.findings] == [Level.ADVISORY]
    assert not report.refused


def test_a_problem_may_name_another_resource() -> None:
    report = run(lambda _pool, _stack: iter([Problem("there", urn=SOUND[0].urn)]))
    assert [(finding.urn, finding.resource) for finding in report.findings] == [(SOUND[0].urn, "g5")]


def test_levels_of_single_rules_replace_those_of_the_environment() -> None:
    def check(_pool: Resource, _stack: Stack) -> Iterator[Outcome]:
        yield Problem("x")

    assert run(check, levels={"TEST001": Level.ADVISORY}).findings[0].level is Level.ADVISORY
    off = run(check, levels={"TEST001": Level.DISABLED})
    assert (off.rules, off.findings) == ((), ())


def test_the_summary_counts_rules_resources_and_verdicts() -> None:
    unclear = unknown(examples.node_group(), "taints")
    bare = examples.node_pool("bare", taints=())
    report = evaluate((*SOUND, bare, unclear), environment=Environment.STAGING, rules=(BY_ID["NODE004"],), today=TODAY)
    assert report.summary == (
        "1 rule (staging) on 4 resources: 1 check passed, 1 finding (1 mandatory), 0 waived, 1 not evaluated"
    )


def test_the_report_for_machines_is_json_with_everything_in_it() -> None:
    bare = examples.node_pool("bare", taints=())
    report = evaluate((*SOUND, bare), environment=Environment.DEV, rules=RULES, today=TODAY)
    plain = json.loads(json.dumps(report.to_json()))
    assert plain["environment"] == "dev"
    assert plain["refused"] is report.refused
    assert plain["findings"][0].keys() == {
        "rule", "title", "severity", "level", "urn", "resource", "path", "message", "fix",
    }  # fmt: skip
    assert {item["rule"] for item in plain["rules"]} == {item.rule for item in report.rules}
    assert plain["notEvaluated"]


def test_mandatory_findings_come_first() -> None:
    bare = examples.node_pool("bare", taints=(), limits={})
    report = evaluate((bare,), environment=Environment.DEV, rules=RULES, today=TODAY)
    assert [(finding.rule, finding.level) for finding in report.findings] == [
        ("COST001", Level.MANDATORY),
        ("NODE004", Level.ADVISORY),
    ]
    assert next(report.lines()).startswith("[mandatory] COST001 bare: has no limit")
    assert list(report.lines())[-1] == report.summary


def test_patches_count_and_what_they_do_not_mention_is_unknown() -> None:
    patch = examples.resource(f"{tokens.NODE_POOL}Patch", "g5", {"spec": {"limits": {"cpu": "10"}}})
    report = evaluate((patch,), environment=Environment.PROD, rules=(BY_ID["COST001"],), today=TODAY)
    assert report.findings == ()
    assert [item.path for item in report.not_evaluated] == ["spec.template"]


def test_the_last_resource_of_a_urn_wins() -> None:
    first, last = examples.node_pool(limits={}), examples.node_pool()
    report = evaluate((first, last), environment=Environment.PROD, rules=(BY_ID["COST001"],), today=TODAY)
    assert (report.resources, report.findings) == (1, ())


def test_two_subjects_that_need_the_same_unknown_value_are_both_open() -> None:
    def check(_pool: Resource, _stack: Stack) -> Iterator[Outcome]:
        raise NotKnownError(NotKnown(SOUND[0].urn, "spec.role"))
        yield

    report = run(check, *SOUND, examples.node_pool("second"))
    (count,) = report.rules
    assert (count.passed, count.not_evaluated) == (0, 2)
    assert [(item.resource, item.path) for item in report.not_evaluated] == [("g5", "spec.role")]
