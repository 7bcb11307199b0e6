from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from eks_gpu_policies.configuration import configure
from eks_gpu_policies.manifests.files import Reading, read_text
from eks_gpu_policies.manifests.judging import Judged, judge_manifests
from eks_gpu_policies.rules import BY_ID, RULES
from tests.support.judging import TODAY

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  containers:
    - name: a
      image: nvidia/cuda:12.8.1-base-ubi9
      resources: {limits: {nvidia.com/gpu: "%s"}}
"""
WAIVER = {"rule": "WORK003", "owner": "ml", "reason": "a test", "until": "2026-12-31"}


def judged(text: str, options: Mapping[str, object] | None = None, *rules: str) -> Judged:
    reading = Reading()
    read_text("a.yaml", text, reading)
    run = configure(options or {}, {}, {})
    return judge_manifests(reading.manifests, run, [BY_ID[rule] for rule in rules] or RULES, TODAY)


def test_a_finding_is_placed_on_the_line_of_the_pod_that_it_is_about() -> None:
    found = judged(f"---\n{POD % ('x', 'y', '0.5')}", None, "WORK003")
    (finding,) = found.report.findings
    place = found.place(finding)
    assert place is not None
    assert (place[0].address, place[1]) == ("Pod/x", 5)


def test_objects_of_one_name_in_two_namespaces_are_both_judged() -> None:
    found = judged(f"{POD % ('x', 'one', '0.5')}---\n{POD % ('x', 'two', '0.5')}", None, "WORK003")
    places = [found.place(finding) for finding in found.report.findings]
    assert [(place[0].namespace, place[1]) for place in places if place] == [("one", 4), ("two", 13)]


@pytest.mark.parametrize("resource", ["x", "Pod/x", "one/Pod/x", "manifest:a.yaml#0"])
def test_a_waiver_names_an_object_by_name_kind_or_namespace(resource: str) -> None:
    found = judged(POD % ("x", "one", "0.5"), {"waivers": [{**WAIVER, "resource": resource}]}, "WORK003")
    assert (len(found.report.waived), found.report.findings) == (1, ())


def test_a_waiver_of_something_in_no_file_is_about_a_stack_and_no_mistake() -> None:
    waivers = [{**WAIVER, "resource": resource} for resource in ("inference", "two/Pod/x", "Job/x")]
    found = judged(POD % ("x", "one", "1"), {"waivers": waivers}, "WORK003")
    assert found.report.findings == ()


def test_an_expired_waiver_of_an_object_is_a_finding() -> None:
    waiver = {**WAIVER, "resource": "Pod/x", "until": "2026-11-20"}
    found = judged(POD % ("x", "one", "0.5"), {"waivers": [waiver]}, "WORK003")
    assert {finding.rule for finding in found.report.findings} == {"WORK003", "eks-gpu"}


def test_rules_are_told_that_there_are_manifests_only_and_nothing_else_changes() -> None:
    seen: list[Any] = []
    rule = BY_ID["WORK003"]

    def of(stack: Any) -> tuple[Any, ...]:  # noqa: ANN401 - what a rule is given
        seen.append(stack.options)
        return stack.pods  # type: ignore[no-any-return]  # of what nobody typed

    reading = Reading()
    read_text("a.yaml", POD % ("x", "y", "1"), reading)
    run = configure({"monthlyBudgetUsd": 7}, {}, {})
    judge_manifests(reading.manifests, run, [replace(rule, looks_at=replace(rule.looks_at, of=of))], TODAY)
    assert seen == [replace(run.options, manifests_only=True, today=TODAY)]


def test_what_is_filled_in_later_is_left_open_rather_than_passed() -> None:
    found = judged((POD % ("x", "y", "${GPUS}")), None, "WORK003")
    (missed,) = found.report.not_evaluated
    assert (missed.rule, missed.path) == ("WORK003", "spec.containers[0].resources.limits.nvidia.com/gpu")
    assert missed.reason == "a placeholder, which somebody fills in later"
