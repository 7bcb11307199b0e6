"""The reference of alerts and metrics, as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eks_gpu.facts import metrics
from eks_gpu.observability import runbook
from eks_gpu.observability.alerts.alert import Alert, Subject
from eks_gpu.observability.rules import ALERTS

_INTRODUCTION = """\
# Alerts

Generated from the alerts; do not edit. Thresholds and times are the defaults; `monitoring.alerts` changes them.

Each alert has a runbook with four headings: Meaning, Impact, Diagnosis, Mitigation. The runbooks are in the cluster as
well: the annotation `runbook` of an alert is the command that prints its own.
"""

_METRICS = """\
## Metrics

The exporter loads exactly these. Every alert and every dashboard reads nothing else of it.
"""


def alerts_page(runbooks: str) -> str:
    """Return the page, in Markdown. ``runbooks`` is the path from the page to the folder of the runbooks."""
    parts = [_INTRODUCTION]
    parts += [_subject(subject, runbooks) for subject in Subject]
    parts += [_METRICS, _table(("metric", "type", "in the default list", "needed for"), _metric_rows())]
    return "\n".join(parts)


def _subject(subject: Subject, runbooks: str) -> str:
    chosen = (alert for alert in ALERTS if alert.subject is subject)
    rows = _table(("alert", "severity", "after", "says", "lessons"), (_alert_row(alert, runbooks) for alert in chosen))
    return f"## {subject.value.capitalize()}\n\n{rows}"


def _alert_row(alert: Alert, runbooks: str) -> Sequence[str]:
    return (
        f"[{alert.name}]({runbooks}/{runbook.file_name(alert.name)})",
        alert.severity.value,
        "at once" if alert.hold == "0m" else alert.hold,
        alert.summary,
        ", ".join(alert.lessons),
    )


def _metric_rows() -> Iterable[Sequence[str]]:
    return (
        (f"`{metric.field}`", metric.type.value, "yes" if metric.by_default else "no", metric.needed_for)
        for metric in metrics.METRICS
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["-"] * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
