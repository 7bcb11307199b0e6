"""What an alert and a recording rule are, before anything is rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """Who must act, and when."""

    CRITICAL = "critical"
    """Somebody, now."""
    WARNING = "warning"
    """Somebody, this working day."""
    INFO = "info"
    """The owner of the workload, when they next look."""


class Subject(StrEnum):
    """What an alert is about: the name of its file, of its rule group, and a label to route it by."""

    HEALTH = "health"
    THERMAL = "thermal"
    MEMORY = "memory"
    WASTE = "waste"
    SCHEDULING = "scheduling"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert. Its runbook is ``runbooks/<name>.md``; the renderer links it, so that no alert can go without."""

    name: str
    """PascalCase, the subject first: ``GpuTemperatureHigh``."""

    subject: Subject

    expr: str
    """PromQL over recording rules and listed metrics only. Its value is what the description shows."""

    hold: str
    """How long it must be true before it fires: ``5m``; ``0m`` where the query has its window already."""

    severity: Severity

    summary: str
    """Fixed text: what is wrong."""

    description: str
    """With labels and value: where, and how much."""

    lessons: tuple[str, ...]
    """The lessons that it keeps."""

    keep_firing: str | None = None
    """How long it goes on after the query is empty again: for events that are over before anyone looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRule:
    """A query that is evaluated once and read by name: ``level:metric:unit``."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)
