"""Waivers: one finding, of one rule, on one resource, accepted by somebody until a day.

This is the only parser of a waiver's plain form ``{rule, resource, owner, reason, until}``, in which it arrives from
the pack's configuration, the stack's own configuration and the command line. The stack file's settings describe the
same five fields to editors and report mistakes in their own words; they make no decision about what a waiver does.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

FIELDS: Final = ("rule", "resource", "owner", "reason", "until")
"""All five are needed."""

_RULE_ID: Final = re.compile(r"[A-Z]{2,6}\d{3}")


class WaiverError(ValueError):
    """One or more waivers cannot be understood, so nothing can be judged."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Carry one sentence for each mistake."""
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Waiver:
    """Somebody's promise to live with a finding until a day."""

    rule: str
    resource: str
    """Logical name or URN, exactly."""
    owner: str
    reason: str
    until: dt.date
    """The last day on which it holds."""

    def expired(self, today: dt.date) -> bool:
        """Return whether its last day has passed."""
        return today > self.until

    def covers(self, rule: str, resource: str, urn: str) -> bool:
        """Return whether it speaks of this rule on this resource."""
        return self.rule == rule and self.resource in {resource, urn}


def parse_waivers(value: object, path: str = "waivers") -> tuple[Waiver, ...]:
    """Return the waivers of a list of mappings; raise :class:`WaiverError` with every mistake and its path."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise WaiverError((f"{path} is {_shown(value)}; it must be a list of {{{', '.join(FIELDS)}}}",))
    problems: list[str] = []
    waivers = [_waiver(item, f"{path}[{number}]", problems) for number, item in enumerate(value)]
    if problems:
        raise WaiverError(tuple(problems))
    return tuple(waiver for waiver in waivers if waiver is not None)


def _waiver(item: object, path: str, problems: list[str]) -> Waiver | None:
    if not isinstance(item, Mapping):
        problems.append(f"{path} is {_shown(item)}; it must be a mapping with {', '.join(FIELDS)}")
        return None
    found = list(_mistakes(item, path))
    problems.extend(found)
    if found:
        return None
    texts = {name: str(item[name]).strip() for name in FIELDS}
    return Waiver(
        rule=texts["rule"],
        resource=texts["resource"],
        owner=texts["owner"],
        reason=texts["reason"],
        until=dt.date.fromisoformat(texts["until"]),
    )


def _mistakes(item: Mapping[object, object], path: str) -> list[str]:
    unknown = sorted(str(key) for key in item if key not in FIELDS)
    mistakes = [f"{path}.{key} is not a field of a waiver; they are {', '.join(FIELDS)}" for key in unknown]
    for name in FIELDS:
        value = item.get(name)
        if value is None:
            mistakes.append(f"{path}.{name} is missing; a waiver needs {', '.join(FIELDS)}")
        elif not isinstance(value, str) or not value.strip():
            mistakes.append(f"{path}.{name} is {_shown(value)}; it must be a text in quotes that is not empty")
    rule, until = item.get("rule"), item.get("until")
    if isinstance(rule, str) and rule.strip() and not _RULE_ID.fullmatch(rule.strip()):
        mistakes.append(f"{path}.rule is {_shown(rule)}; it must be one rule's id, such as NODE006")
    if isinstance(until, str) and until.strip() and _day(until) is None:
        mistakes.append(f'{path}.until is {_shown(until)}; it must be a day such as "2026-12-31"')
    return mistakes


def _day(text: str) -> dt.date | None:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()) is None:
        return None
    try:
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST: Final = 60
