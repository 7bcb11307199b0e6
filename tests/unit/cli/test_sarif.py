"""SARIF: what the standard demands of a log, as far as we write it, and what code scanning makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from typer.testing import CliRunner

from eks_gpu.cli.app import app
from eks_gpu_policies.rules import BY_ID, RULES

HALF = """\
apiVersion: v1
kind: Pod
metadata: {name: half, namespace: ml}
spec:
  containers:
    - name: a
      image: nvidia/cuda:12.8.1-base-ubi9
      resources: {limits: {nvidia.com/gpu: "0.5", nvidia.com/mig-1g.5gb: "0.5"}}
"""

_TEXT: Final = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}
_ARTIFACT: Final = {
    "type": "object",
    "required": ["uri"],
    "additionalProperties": False,
    "properties": {"uri": {"type": "string", "format": "uri-reference"}, "uriBaseId": {"type": "string"}},
}
_LOCATION: Final = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "additionalProperties": False,
            "properties": {
                "artifactLocation": _ARTIFACT,
                "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
        },
        "logicalLocations": {"type": "array", "uniqueItems": True},
    },
    "additionalProperties": False,
}
_RULE: Final = {
    "type": "object",
    "required": ["id", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "shortDescription": _TEXT,
        "fullDescription": _TEXT,
        "helpUri": {"type": "string", "format": "uri"},
        "help": {**_TEXT, "required": ["text", "markdown"]},
        "defaultConfiguration": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"enabled": {"type": "boolean"}, "level": _LEVEL},
        },
        "properties": {
            "type": "object",
            "properties": {"tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}},
        },
    },
}
_RESULT: Final = {
    "type": "object",
    "required": ["message", "ruleId", "level", "locations", "partialFingerprints"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "suppressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "additionalProperties": False,
                "properties": {
                    "kind": {"enum": ["inSource", "external"]},
                    "status": {"enum": ["accepted", "underReview", "rejected"]},
                    "justification": {"type": "string"},
                },
            },
        },
    },
}
_NOTIFICATION: Final = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {"level": _LEVEL, "message": _TEXT, "locations": {"type": "array", "items": _LOCATION}},
}
_RUN: Final = {
    "type": "object",
    "required": ["tool", "results"],
    "additionalProperties": False,
    "properties": {
        "tool": {
            "type": "object",
            "required": ["driver"],
            "properties": {
                "driver": {
                    "type": "object",
                    "required": ["name"],
                    "additionalProperties": False,
                    "properties": {
                        "name": {"type": "string"},
                        "version": {"type": "string"},
                        "semanticVersion": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
                    },
                }
            },
        },
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {
            "type": "object",
            "additionalProperties": {
                **_ARTIFACT,
                "properties": {"uri": {"type": "string", "pattern": "^file:///.*/$"}},
            },
        },
        "invocations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["executionSuccessful"],
                "additionalProperties": False,
                "properties": {
                    "executionSuccessful": {"type": "boolean"},
                    "toolExecutionNotifications": {"type": "array", "items": _NOTIFICATION},
                },
            },
        },
        "results": {"type": "array", "items": _RESULT},
    },
}
LOG: Final = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": _RUN},
    },
}
"""The part of the SARIF 2.1.0 schema (OASIS, errata 01) that our logs use, closed: what is not here may not be written
without being looked up."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test a folder of its own to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def log(*args: str) -> Any:  # noqa: ANN401 - JSON
    result = CliRunner().invoke(app, ["lint", ".", "--format", "sarif", *args])
    document = json.loads(result.stdout)
    jsonschema.Draft202012Validator(LOG).validate(document)
    (run,) = document["runs"]
    return run


def work003(run: Any) -> list[Any]:  # noqa: ANN401 - JSON
    return [result for result in run["results"] if result["ruleId"] == "WORK003"]


def test_the_log_has_what_the_standard_demands_and_the_rule_a_result_names(folder: Path) -> None:
    (folder / "a pod.yaml").write_text(HALF)
    run = log()
    result = work003(run)[0]
    rules = run["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == "WORK003"
    assert [(rule["id"], rule.get("helpUri")) for rule in rules] == [
        *((rule.id, rule.link) for rule in RULES),
        ("eks-gpu", None),
    ]
    assert result["level"] == "error"
    assert BY_ID["WORK003"].fix in result["message"]["text"]
    (location,) = result["locations"]
    place = location["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a%20pod.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 4},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "ml/Pod/half"
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_advice_is_a_warning_and_so_is_the_rule_by_default(folder: Path) -> None:
    (folder / "a.yaml").write_text(HALF)
    (folder / "pack.txt").write_text(json.dumps({"all": "disabled", "WORK003": "advisory"}))
    run = log("--policy-pack-config", "pack.txt")
    assert {result["level"] for result in run["results"]} == {"warning"}
    levels = {rule["id"]: rule["defaultConfiguration"] for rule in run["tool"]["driver"]["rules"]}
    assert levels["WORK003"] == {"enabled": True, "level": "warning"}


def test_a_fingerprint_stays_when_lines_move_and_tells_findings_apart(folder: Path) -> None:
    (folder / "a.yaml").write_text(HALF)
    before = [result["partialFingerprints"] for result in work003(log())]
    (folder / "a.yaml").write_text(f"# moved\n\n{HALF}")
    after = work003(log())
    assert [result["partialFingerprints"] for result in after] == before
    assert after[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 6
    assert len({json.dumps(item) for item in before}) == len(before) == 2


def test_what_could_not_be_read_or_was_skipped_is_a_notification(folder: Path) -> None:
    (folder / "broken.yaml").write_text("apiVersion: v1\nkind: Pod\nkind: Job\n")
    (folder / "values.yaml").write_text("a: b\n")
    run = log()
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [(item["level"], item["message"]["text"]) for item in invocation["toolExecutionNotifications"]] == [
        ("error", "the key kind is there twice, first in line 2; Kubernetes refuses that"),
        ("note", "skipped: no Kubernetes object in it"),
    ]


def test_a_waived_finding_is_suppressed_and_says_by_whom(folder: Path) -> None:
    (folder / "a.yaml").write_text(HALF)
    waiver = {"rule": "WORK003", "resource": "half", "owner": "ml", "reason": "a trial", "until": "9999-12-31"}
    (folder / "pack.txt").write_text(json.dumps({"eks-gpu": {"waivers": [waiver]}}))
    results = work003(log("--policy-pack-config", "pack.txt"))
    assert len(results) == 2
    for result in results:
        assert result["suppressions"] == [
            {"kind": "external", "status": "accepted", "justification": "ml, until 9999-12-31: a trial"}
        ]


def test_a_finding_about_the_run_names_a_rule_as_well(folder: Path) -> None:
    (folder / "a.yaml").write_text(HALF)
    waiver = {"rule": "COST001", "resource": "half", "owner": "ml", "reason": "a trial", "until": "9999-12-31"}
    (folder / "pack.txt").write_text(json.dumps({"eks-gpu": {"waivers": [waiver]}}))
    run = log("--policy-pack-config", "pack.txt")
    (about,) = [result for result in run["results"] if result["ruleId"] == "eks-gpu"]
    assert run["tool"]["driver"]["rules"][about["ruleIndex"]]["id"] == "eks-gpu"
    assert "matches no finding" in about["message"]["text"]


def test_texts_are_as_short_as_code_scanning_demands() -> None:
    assert max(len(rule.why) for rule in RULES) <= 1024
    assert max(len(rule.title) for rule in RULES) <= 255


def test_a_log_is_valid_for_the_schema_only_if_nothing_is_missing() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(LOG).validate({"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]})
