"""What holds for every rule."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from eks_gpu.facts.lessons import LESSONS
from eks_gpu_policies.explain import explain, reference
from eks_gpu_policies.links import LINKS
from eks_gpu_policies.rule import Environment, Example, Rule, Scope
from eks_gpu_policies.rules import BY_ID, RULES
from tests.support.judging import judge

EACH = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def judged(rule: Rule[Any], example: Example) -> Any:  # noqa: ANN401 - a report
    environment = Environment(str((example.options or {}).get("environment", Environment.PROD.value)))
    return judge(rule.id, *example.resources, environment=environment, options=example.options)


@EACH
def test_its_failing_example_fails_and_nothing_is_left_open(rule: Rule[Any]) -> None:
    report = judged(rule, rule.failing)
    assert {finding.rule for finding in report.findings} == {rule.id}
    assert report.not_evaluated == ()


@EACH
def test_its_passing_example_passes_and_nothing_is_left_open(rule: Rule[Any]) -> None:
    report = judged(rule, rule.passing)
    assert report.passed >= 1
    assert (report.findings, report.not_evaluated) == ((), ())


@EACH
def test_its_texts_are_whole(rule: Rule[Any]) -> None:
    assert re.fullmatch(r"[A-Z]{3,5}\d{3}", rule.id)
    assert rule.title[0].isupper()
    assert not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert not rule.fix.endswith(".")
    assert rule.fix[0].islower()
    assert len(rule.why) > 60


@EACH
def test_its_lessons_exist(rule: Rule[Any]) -> None:
    assert set(rule.lessons) <= LESSONS.keys()


@EACH
def test_it_links_to_documentation(rule: Rule[Any]) -> None:
    assert rule.link.startswith("https://")


def test_every_link_is_of_a_rule() -> None:
    assert BY_ID.keys() == LINKS.keys()


@EACH
def test_its_messages_are_sentences_without_end(rule: Rule[Any]) -> None:
    for finding in judged(rule, rule.failing).findings:
        assert finding.message[0].islower()
        assert not finding.message.endswith(".")


@EACH
def test_its_file_is_named_after_it(rule: Rule[Any]) -> None:
    assert rule.check.__module__.rpartition(".")[2] == rule.id.lower()


@EACH
def test_a_rule_on_one_resource_needs_no_other(rule: Rule[Any]) -> None:
    if rule.scope is Scope.RESOURCE:
        assert len(rule.failing.resources) == 1


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(RULES)


def test_every_area_has_a_rule() -> None:
    assert {rule.area for rule in RULES} >= {"NODE", "SOFT", "SHARE", "WORK", "STOR", "COST", "SEC"}


@EACH
def test_it_is_explained_with_why_fix_levels_and_both_examples(rule: Rule[Any]) -> None:
    text = explain(rule)
    assert text.startswith(f"{rule.id}  {rule.title}\n")
    for part in (rule.why, rule.fix, "This fails:", "This passes:", *rule.lessons):
        assert part in text
    for environment in Environment:
        assert f"{environment} {rule.levels.in_environment(environment)}" in text


def test_the_reference_page_lists_every_rule() -> None:
    page = reference(RULES)
    assert page.endswith("\n")
    for rule in RULES:
        assert f"| [{rule.id}](#{rule.id.lower()}) | {rule.title} |" in page
        assert f"\n## {rule.id}\n" in page
    assert page.count("```yaml") == 2 * len(RULES)


def test_rules_are_read_without_pulumi_pydantic_or_yaml() -> None:
    program = "import sys, eks_gpu_policies.rules; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pulumi", "pulumi_aws", "pulumi_policy", "pydantic", "yaml", "grpc"} & set(loaded)
