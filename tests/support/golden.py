"""Golden files: text that people review as a diff. ``pytest --update-golden`` rewrites them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Golden = Callable[[Path, str], None]
"""Compares a text with a file; rewrites the file when pytest runs with ``--update-golden``."""


def compare(path: Path, text: str, *, update: bool) -> None:
    """Fail unless ``path`` holds ``text``; with ``update`` write it instead."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path.name} is missing; run pytest --update-golden and review it"
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; review, then run pytest --update-golden"
