"""Golden files: text that people review as a diff. ``pytest --update-golden`` rewrites them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Golden = Callable[[Path, str], bool]
"""Tells whether a file holds a text; rewrites the file first when pytest runs with ``--update-golden``."""


def matches(path: Path, text: str, *, update: bool) -> bool:
    """Return whether ``path`` holds ``text``; with ``update`` write it first."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.is_file() and path.read_text(encoding="utf-8") == text
