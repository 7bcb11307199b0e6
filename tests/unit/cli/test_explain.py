"""``eks-gpu explain``: the reason and the remedy of a rule, from the rule itself."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from eks_gpu.cli.app import app
from eks_gpu.facts.lessons import LESSONS
from eks_gpu_policies.rules import RULES
from eks_gpu_policies.topics import AREAS, TOPICS


def test_every_rule_is_explained_with_both_examples() -> None:
    for rule in RULES:
        text = CliRunner().invoke(app, ["explain", rule.id.lower()]).output
        assert text.startswith(f"{rule.id}  {rule.title}")
        assert "This fails:" in text
        assert "This passes:" in text


def explain(*words: str) -> str:
    return CliRunner().invoke(app, ["explain", *words]).output


def test_all_rules_are_listed_with_areas_and_topics() -> None:
    rules, rest = explain().split("\n\n")
    assert [line.split()[0] for line in rules.splitlines()] == [rule.id for rule in RULES]
    assert rest.startswith("areas: NODE, ")
    assert "topics: levels, " in rest


def test_an_empty_word_is_none() -> None:
    assert explain("  ") == explain()


def test_every_area_of_a_rule_is_explained() -> None:
    assert {rule.area for rule in RULES} <= AREAS.keys()
    for area in {rule.area for rule in RULES}:
        listed = [line.split()[0] for line in explain(area.lower()).splitlines()[2:]]
        assert listed == [rule.id for rule in RULES if rule.area == area]


def test_n05_a_lesson_lists_the_rules_that_hold_it() -> None:
    head, _, *rules = explain("n05").splitlines()
    assert head == f"N05: {LESSONS['N05']}"
    assert "NODE004" in {line.split()[0] for line in rules}


def test_n06_a_lesson_without_a_rule_says_why() -> None:
    assert "no rule: it cannot be seen before something runs" in explain("N06")


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_explained(topic: str) -> None:
    assert explain(topic.upper()).startswith(TOPICS[topic].title)


def test_a_word_finds_the_rules_that_speak_of_it() -> None:
    found = {line.split()[0] for line in explain("shared memory").splitlines()[2:]}
    assert "WORK005" in found
    assert "NODE001" not in found


def test_what_nobody_knows_names_the_nearest() -> None:
    result = CliRunner().invoke(app, ["explain", "NODE01"])
    assert result.exit_code == 2
    assert result.stderr.startswith("eks-gpu: nothing is known about 'NODE01'; did you mean NODE0")
    assert "did you mean waivers?" in CliRunner().invoke(app, ["explain", "waiver"]).stderr
    assert "topics are levels" in CliRunner().invoke(app, ["explain", "qwertyuiop"]).stderr
