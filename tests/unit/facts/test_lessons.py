"""Each lesson about nodes and GPU software is held by a component, a setting or a fact, and a test bears its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eks_gpu.facts.lessons import LESSONS

TESTS = Path(__file__).parents[2]
NAMED = re.compile(r"^def test_([a-z]\d\d)_", re.MULTILINE)
BUILT = ("unit", "program", "stacks", "e2e")
"""Where what is built is tested; the tests of rules, alerts and the sandbox are elsewhere."""


def named() -> set[str]:
    """Return the lessons that tests of what is built are named after."""
    files = (path for folder in BUILT for path in (TESTS / folder).rglob("test_*.py"))
    return {name.upper() for path in files for name in NAMED.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson[0] in "NG"])
def test_the_lesson_is_held_where_things_are_built(lesson: str) -> None:
    assert lesson in named()


def test_a_test_bears_the_name_of_a_lesson_that_there_is() -> None:
    assert named() <= set(LESSONS)
