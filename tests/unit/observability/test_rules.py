from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from eks_gpu.facts import kubernetes_metrics, metrics
from eks_gpu.facts.lessons import LESSONS
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, RecordingRule
from eks_gpu.observability.rules import ALERTS, alerts, prometheus_rule_spec
from eks_gpu.settings.monitoring import AlertThresholds, Monitoring

NAMESPACE = "nvidia"
RECORDING = (*recording.gpu_rules(), *recording.node_rules(), *recording.instance_type_rules())
EXPRESSIONS = [*(rule.expr for rule in RECORDING), *(alert.expr for alert in ALERTS)]
KEYWORDS = {"and", "or", "unless", "by", "on", "without", "ignoring", "group_left", "group_right", "bool", "offset"}


def series(expression: str) -> set[str]:
    """Return the names of the series that an expression reads."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", "", bare)
    bare = re.sub(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)", "", bare)
    names = re.findall(r"(?<![\w.:])[A-Za-z_:][\w:]*(?!\s*\(|[\w:])", bare)
    return set(names) - KEYWORDS


def rules(spec: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    return (rule for group in spec["groups"] for rule in group["rules"] if kind in rule)


def test_the_reader_of_series_sees_what_a_query_reads_and_nothing_else() -> None:
    query = 'sum by (node) (rate(a_total{b="c or d"}[5m])) > 0 unless on (node) (level:e:sum == 1) or absent(f{g!="h"})'
    assert series(query) == {"a_total", "level:e:sum", "f"}


def test_m07_every_recording_rule_reads_what_is_exported() -> None:
    recorded = {rule.record for rule in RECORDING}
    known = metrics.EXPORTED | set(metrics.RENAMED.values()) | kubernetes_metrics.KNOWN | recorded
    assert {name for rule in RECORDING for name in series(rule.expr)} - known == set()


@pytest.mark.parametrize("rule", recording.gpu_rules(), ids=lambda rule: rule.record)
def test_m07_a_new_name_is_read_only_beside_the_old_one(rule: RecordingRule) -> None:
    read = series(rule.expr)
    assert {old for old, new in metrics.RENAMED.items() if new in read} <= read


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_m07_every_alert_reads_recorded_or_known_series(alert: Alert) -> None:
    recorded = {rule.record for rule in RECORDING}
    assert series(alert.expr) - recorded - kubernetes_metrics.KNOWN == set()


def test_every_recorded_series_is_read_by_somebody() -> None:
    read = {name for expression in EXPRESSIONS for name in series(expression)}
    assert {rule.record for rule in RECORDING} - read == set()


def test_every_recording_rule_comes_after_those_that_it_reads() -> None:
    recorded: set[str] = set()
    for rule in (*recording.instance_type_rules(), *recording.gpu_rules(), *recording.node_rules()):
        later = {other.record for other in RECORDING} - recorded
        assert not series(rule.expr) & later, rule.record
        recorded.add(rule.record)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_every_alert_cites_lessons_that_exist(alert: Alert) -> None:
    assert alert.lessons
    assert set(alert.lessons) <= set(LESSONS)


@pytest.mark.parametrize("lesson", ["M01", "M02", "M03", "M04", "M05", "M06", "M07"])
def test_every_lesson_of_monitoring_is_kept_by_an_alert(lesson: str) -> None:
    assert any(lesson in alert.lessons for alert in ALERTS)


def test_m01_nothing_takes_a_rate_of_a_gauge_that_sticks() -> None:
    sticky = re.compile(r"\b(?:increase|rate|irate|changes|delta|idelta|absent)\(\s*\(?DCGM_(?:FI_DEV|EXP)_XID")
    assert [expression for expression in EXPRESSIONS if sticky.search(expression)] == []


def test_no_query_asks_for_the_label_that_changes_its_case() -> None:
    texts = EXPRESSIONS + [alert.description for alert in ALERTS]
    assert [text for text in texts if "hostname" in text.lower()] == []


def test_names_are_unique_and_begin_with_what_they_are_about() -> None:
    names = [alert.name for alert in ALERTS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"Gpu([A-Z][a-z]+)+", name) for name in names)


def test_every_alert_has_severity_subject_and_all_annotations() -> None:
    for rule in rules(prometheus_rule_spec(Monitoring(), NAMESPACE), "alert"):
        assert set(rule["labels"]) == {"severity", "subject"}
        assert set(rule["annotations"]) == {"summary", "description", "runbook"}


def test_every_alert_says_how_to_print_its_runbook() -> None:
    for rule in rules(prometheus_rule_spec(Monitoring(), NAMESPACE), "alert"):
        assert rule["annotations"]["runbook"] == (
            f"kubectl --namespace nvidia get configmap gpu-runbooks --output jsonpath='{{.data.{rule['alert']}\\.md}}'"
        )


def test_published_runbooks_are_linked() -> None:
    settings = Monitoring(runbook_base_url="https://runbooks.example/gpu")
    for rule in rules(prometheus_rule_spec(settings, NAMESPACE), "alert"):
        assert rule["annotations"]["runbook_url"] == f"https://runbooks.example/gpu/{rule['alert']}.md"


@pytest.mark.parametrize(
    ("change", "name", "part"),
    [
        ({"temperature_warning_celsius": 75}, "GpuTemperatureHigh", "> 75"),
        ({"temperature_critical_celsius": 95}, "GpuTemperatureCritical", "> 95"),
        ({"memory_used_ratio": 0.8}, "GpuMemoryNearlyFull", "> 0.8"),
        ({"preallocating_containers": ("tgi", "vllm")}, "GpuMemoryPreallocated", '=~"tgi.*|vllm.*"'),
        ({"idle_utilisation_ratio": 0.02}, "GpuAllocatedIdle", "< 0.02"),
        ({"low_utilisation_ratio": 0.3}, "GpuUnderused", ">= 0.05 < 0.3"),
        ({"single_bit_errors_per_hour": 7}, "GpuEccSingleBitRate", "> 7"),
    ],
)
def test_a_threshold_reaches_its_alert(change: dict[str, object], name: str, part: str) -> None:
    changed = {alert.name: alert for alert in alerts(AlertThresholds.model_validate(change))}
    assert part in changed[name].expr


@pytest.mark.parametrize(
    ("change", "name", "hold"),
    [
        ({"temperature_warning_minutes": 9}, "GpuTemperatureHigh", "9m"),
        ({"memory_minutes": 20}, "GpuMemoryNearlyFull", "20m"),
        ({"idle_after_minutes": 30}, "GpuIdle", "30m"),
        ({"pod_pending_minutes": 5}, "GpuPodPending", "5m"),
    ],
)
def test_a_duration_reaches_its_alert(change: dict[str, object], name: str, hold: str) -> None:
    changed = {alert.name: alert for alert in alerts(AlertThresholds.model_validate(change))}
    assert changed[name].hold == hold


def test_m04_without_preallocating_containers_every_full_memory_warns() -> None:
    expressions = {one.name: one.expr for one in alerts(AlertThresholds(preallocating_containers=()))}
    assert expressions["GpuMemoryNearlyFull"] == "gpu:memory_used:ratio > 0.95"
    assert "GpuMemoryPreallocated" not in expressions


def test_m05_a_price_is_that_of_one_gpu() -> None:
    prices = {rule.labels["instance_type"]: rule.expr for rule in RECORDING if rule.record == recording.TYPE_PRICE}
    assert prices["g5.xlarge"] == "vector(1.006)"
    assert prices["g5.12xlarge"] == "vector(1.418)"
