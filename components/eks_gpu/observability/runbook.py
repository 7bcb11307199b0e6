"""The runbooks: one for each alert, read from the package."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).with_name("runbooks")

HEADINGS: tuple[str, ...] = ("Meaning", "Impact", "Diagnosis", "Mitigation")
"""The headings of a runbook, all of them and in this order."""


def file_name(alert: str) -> str:
    """Return the name of the runbook of the alert called ``alert``."""
    return f"{alert}.md"


def read(alert: str) -> str:
    """Return the text of an alert's runbook; raise ``FileNotFoundError`` if it has none."""
    return (FOLDER / file_name(alert)).read_text(encoding="utf-8")
