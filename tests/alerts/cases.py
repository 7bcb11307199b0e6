"""The cases of promtool, one file a subject, and the rules they are run against.

A case file is promtool's list of ``tests``. The rules are rendered as they are deployed, but for the annotations that
are the same whatever happens: expected alerts name labels and description only.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from eks_gpu.observability.alerts.alert import Subject
from eks_gpu.observability.rules import prometheus_rule_spec
from eks_gpu.settings.monitoring import Monitoring

FOLDER = Path(__file__).parent
SUBJECTS = [subject.value for subject in Subject]
EVALUATION_INTERVAL = "1m"


def cases(subject: str) -> list[dict[str, Any]]:
    """Return the cases of one subject."""
    loaded: list[dict[str, Any]] = yaml.safe_load((FOLDER / f"{subject}.yaml").read_text(encoding="utf-8"))
    return loaded


def expectations() -> Iterator[tuple[str, bool]]:
    """Return, for each expectation of each case, the alert's name and whether it fires."""
    for subject in SUBJECTS:
        for case in cases(subject):
            for expectation in case["alert_rule_test"]:
                yield expectation["alertname"], bool(expectation["exp_alerts"])


def rendered() -> dict[str, Any]:
    """Return the rules as they are deployed."""
    return prometheus_rule_spec(Monitoring(), "nvidia")


def write(folder: Path, rules: Mapping[str, Any], tests: list[dict[str, Any]]) -> Path:
    """Write rules and cases to ``folder`` and return the file for ``promtool test rules``.

    Instance types that no case mentions are left out: a hundred constants, which would be evaluated every minute.
    """
    kept = copy.deepcopy(dict(rules))
    mentioned = str(tests)
    for group in kept["groups"]:
        group["rules"] = [
            rule for rule in group["rules"] if rule.get("labels", {}).get("instance_type", mentioned) in mentioned
        ]
        for rule in group["rules"]:
            if "alert" in rule:
                rule["annotations"] = {"description": rule["annotations"]["description"]}
    (folder / "rules.yaml").write_text(yaml.safe_dump(kept), encoding="utf-8")
    file = folder / "tests.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "rule_files": ["rules.yaml"],
                "evaluation_interval": EVALUATION_INTERVAL,
                "group_eval_order": [group["name"] for group in kept["groups"]],
                "tests": tests,
            }
        ),
        encoding="utf-8",
    )
    return file
