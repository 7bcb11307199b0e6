"""When objects came to be and were told to go, by what the API server was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sandbox.kubernetes.audit import AuditEvent


class Audited(Protocol):
    """What a stack lived through."""

    @property
    def events(self) -> Sequence[AuditEvent]:
        """Every change that the API server was asked for."""
        ...


def created(life: Audited, resource: str, name: str = "") -> list[AuditEvent]:
    """Return when objects of a kind came to be, in order."""
    found = [event for event in life.events if event.created and _is(event, resource, name)]
    assert found, f"no {resource} {name} was ever created"
    return found


def told_to_go(life: Audited, resource: str, name: str = "") -> list[AuditEvent]:
    """Return when objects of a kind were told to go, in order."""
    found = [event for event in life.events if event.deleted and _is(event, resource, name)]
    assert found, f"no {resource} {name} was ever deleted"
    return found


def first(events: Sequence[AuditEvent]) -> datetime:
    """Return when the first of them was answered."""
    return min(event.answered for event in events)


def last(events: Sequence[AuditEvent]) -> datetime:
    """Return when the last of them was answered."""
    return max(event.answered for event in events)


def _is(event: AuditEvent, resource: str, name: str) -> bool:
    return event.resource == resource and (not name or event.name.startswith(name))
