from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
import yaml

from eks_gpu.observability.rules import ALERTS
from tests.alerts import cases
from tests.alerts.conftest import Promtool


@pytest.mark.parametrize("subject", cases.SUBJECTS)
def test_alerts_fire_when_they_must_and_are_silent_otherwise(subject: str, promtool: Promtool, tmp_path: Path) -> None:
    done = promtool("test", "rules", cases.write(tmp_path, cases.rendered(), cases.cases(subject)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_accepts_every_rule(promtool: Promtool, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump(cases.rendered()), encoding="utf-8")
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", file)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested_firing_and_silent() -> None:
    tested = set(cases.expectations())
    names = {alert.name for alert in ALERTS}
    assert tested == {(name, fires) for name in names for fires in (True, False)}


def test_every_case_names_the_lesson_that_it_keeps() -> None:
    lessons = {lesson for alert in ALERTS for lesson in alert.lessons}
    for subject in cases.SUBJECTS:
        for case in cases.cases(subject):
            assert case["name"].split()[0] in lessons, case["name"]


def test_no_case_writes_zero_so_that_promtool_reads_a_hexadecimal_number() -> None:
    for subject in cases.SUBJECTS:
        for case in cases.cases(subject):
            for series in case["input_series"]:
                assert re.search(r"(?:^|\s)0x\d", str(series["values"])) is None, series


def test_the_gate_fails_on_an_alert_that_never_fires(promtool: Promtool, tmp_path: Path) -> None:
    rules = copy.deepcopy(cases.rendered())
    broken = next(rule for group in rules["groups"] for rule in group["rules"] if rule.get("alert") == "GpuXidCritical")
    # The mistake that everybody makes once: the count is a window's, so its increase is never what was meant.
    broken["expr"] = broken["expr"].replace("max_over_time", "increase")
    done = promtool("test", "rules", cases.write(tmp_path, rules, cases.cases("health")))
    assert done.returncode != 0
    assert "GpuXidCritical" in done.stdout + done.stderr
