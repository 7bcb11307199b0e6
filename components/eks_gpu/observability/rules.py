"""Alerts and recording rules, rendered for the prometheus-operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eks_gpu.observability.alerts import collection, health, memory, recording, scheduling, thermal, waste
from eks_gpu.observability.alerts.alert import Alert, RecordingRule, Subject
from eks_gpu.settings.monitoring import AlertThresholds, Monitoring

RUNBOOK_CONFIG_MAP = "gpu-runbooks"
"""The ConfigMap beside the rules that holds every runbook, so that they are at hand where the cluster is."""

_INSTANCE_TYPES_INTERVAL = "2m"
"""Prices and GPU counts never change, but a series that is five minutes old is no longer seen."""


def alerts(thresholds: AlertThresholds | None = None) -> tuple[Alert, ...]:
    """Return every alert, in the order of the subjects; with the default thresholds where none are given."""
    thresholds = thresholds or AlertThresholds()
    return (
        *health.alerts(thresholds),
        *thermal.alerts(thresholds),
        *memory.alerts(thresholds),
        *waste.alerts(thresholds),
        *scheduling.alerts(thresholds),
        *collection.alerts(),
    )


ALERTS: tuple[Alert, ...] = alerts()
"""Every alert with the default thresholds: what tests, documentation and runbooks are held against."""


def prometheus_rule_spec(settings: Monitoring, namespace: str) -> dict[str, Any]:
    """Return the ``spec`` of the PrometheusRule: recording rules first, then the alerts by subject.

    ``namespace`` is where the runbooks' ConfigMap is.
    """
    every = alerts(settings.alerts)
    return {
        "groups": [
            {
                "name": "gpu-instance-types",
                "interval": _INSTANCE_TYPES_INTERVAL,
                "rules": _recording(recording.instance_type_rules()),
            },
            # In one group, in order: a rule may read what the one before it has just recorded.
            {"name": "gpu-recording", "rules": _recording((*recording.gpu_rules(), *recording.node_rules()))},
            *(
                {
                    "name": f"gpu-{subject.value}",
                    "rules": [
                        _alert(alert, _runbook(alert.name, namespace, settings.runbook_base_url))
                        for alert in every
                        if alert.subject is subject
                    ],
                }
                for subject in Subject
            ),
        ]
    }


def _recording(rules: Sequence[RecordingRule]) -> list[dict[str, Any]]:
    return [
        {"record": rule.record, "expr": rule.expr, **({"labels": dict(rule.labels)} if rule.labels else {})}
        for rule in rules
    ]


def _alert(alert: Alert, runbook: dict[str, str]) -> dict[str, Any]:
    rendered: dict[str, Any] = {"alert": alert.name, "expr": alert.expr, "for": alert.hold}
    if alert.keep_firing is not None:
        rendered["keep_firing_for"] = alert.keep_firing
    return {
        **rendered,
        "labels": {"severity": alert.severity.value, "subject": f"gpu-{alert.subject.value}"},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            **runbook,
        },
    }


def _runbook(name: str, namespace: str, base_url: str | None) -> dict[str, str]:
    """Return where the alert's runbook is: always a command that prints it, and a link where they are published."""
    command = (
        f"kubectl --namespace {namespace} get configmap {RUNBOOK_CONFIG_MAP} --output jsonpath='{{.data.{name}\\.md}}'"
    )
    return {"runbook": command, **({"runbook_url": f"{base_url}/{name}.md"} if base_url else {})}
