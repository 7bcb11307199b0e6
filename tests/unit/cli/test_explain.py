"""``eks-gpu explain``: the reason and the remedy of a rule, from the rule itself."""

from __future__ import annotations

from typer.testing import CliRunner

from eks_gpu.cli.app import app
from eks_gpu_policies.rules import RULES


def test_every_rule_is_explained_with_both_examples() -> None:
    for rule in RULES:
        text = CliRunner().invoke(app, ["explain", rule.id.lower()]).output
        assert text.startswith(f"{rule.id}  {rule.title}")
        assert "This fails:" in text
        assert "This passes:" in text


def test_all_rules_are_listed() -> None:
    lines = CliRunner().invoke(app, ["explain"]).output.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]


def test_an_unknown_rule_names_the_nearest() -> None:
    result = CliRunner().invoke(app, ["explain", "NODE01"])
    assert result.exit_code == 2
    assert result.stderr.startswith("eks-gpu: no rule 'NODE01'; did you mean NODE00")
