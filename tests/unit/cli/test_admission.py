"""``eks-gpu policies admission``: YAML for ``kubectl apply``, files for a repository, a list with reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner, Result

from eks_gpu.cli.app import app
from eks_gpu_policies.admission.manifests import SAID, manifests
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES


def admission(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["policies", "admission", *map(str, args)])


def documents(result: Result) -> list[Any]:
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def test_everything_for_production_is_printed_as_yaml() -> None:
    assert documents(admission()) == manifests(Environment.PROD)


def test_the_environment_and_the_wanted_rules_decide() -> None:
    found = documents(admission("--environment", "dev", "--rules", "work006, COST005"))
    assert found == manifests(Environment.DEV, rules={"WORK006", "COST005"})


def test_levels_come_from_the_configuration_of_the_pack(tmp_path: Path) -> None:
    (tmp_path / "pack.json").write_text(json.dumps({"WORK006": "advisory"}))
    found = documents(admission("--rules", "WORK006", "--policy-pack-config", tmp_path / "pack.json"))
    assert found[1]["spec"]["validationActions"] == ["Warn", "Audit"]


def test_exempt_namespaces_are_those_that_were_named() -> None:
    found = documents(admission("--rules", "WORK006", "--exempt-namespace", "b", "--exempt-namespace", "a"))
    (expression,) = found[1]["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert expression["values"] == ["a", "b"]


def test_a_folder_gets_a_file_for_each_policy_and_keeps_what_it_has(tmp_path: Path) -> None:
    assert admission("--output", tmp_path).exit_code == 0
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(said.name for said in SAID)
    found = list(yaml.safe_load_all((tmp_path / "eks-gpu-work006.yaml").read_text()))
    assert [item["kind"] for item in found] == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]

    again = admission("--output", tmp_path)
    assert again.exit_code == 2
    assert "would be written over; choose another folder or --force" in again.stderr
    assert admission("--output", tmp_path, "--force").exit_code == 0


def test_every_rule_is_listed_with_yes_or_the_reason_why_not() -> None:
    lines = admission("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]
    assert "WORK003  no: the API server refuses it by itself, in pods and in the templates of its own kinds" in lines
    assert "COST004  yes, but for what the namespace's pods ask and no quota counts" in lines
    assert "WORK006  yes" in lines


def test_a_rule_that_needs_more_than_one_object_is_refused_with_its_reason() -> None:
    result = admission("--rules", "WORK003")
    assert result.exit_code == 2
    assert result.stderr.startswith("eks-gpu: WORK003 cannot be an admission policy: the API server refuses it")


def test_a_list_without_a_rule_in_it_is_refused() -> None:
    result = admission("--rules", " , ")
    assert result.exit_code == 2
    assert result.stderr == ("eks-gpu: --rules names no rule; give ids with commas between: --rules WORK005,WORK013\n")


def test_what_cannot_be_a_namespace_is_refused() -> None:
    for name in ("Bad_NS", "", "x" * 64, "-a"):
        result = admission("--exempt-namespace", name)
        assert result.exit_code == 2
        assert "is no name of a namespace; it has a-z, 0-9 and hyphens" in result.stderr


def test_a_rule_that_is_none_is_refused_with_the_nearest() -> None:
    result = admission("--rules", "WORK06")
    assert result.exit_code == 2
    assert result.stderr == "eks-gpu: no rule 'WORK06'; did you mean WORK006?\n"
