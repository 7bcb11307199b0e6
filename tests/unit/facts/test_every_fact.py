from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from datetime import date
from types import ModuleType

import pytest

from eks_gpu import facts
from eks_gpu.facts import lessons

MODULES = sorted(module.name for module in pkgutil.iter_modules(facts.__path__))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"eks_gpu.facts.{name}")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_facts_says_where_they_are_from_and_when_they_were_checked(name: str) -> None:
    module = _module(name)
    assert date.fromisoformat(module.CHECKED) <= date(2026, 11, 21)
    sources = [module.SOURCE] if hasattr(module, "SOURCE") else _sources(module)
    assert sources
    assert all(sources)


def _sources(module: ModuleType) -> list[str]:
    return [value.source for value in vars(module).values() if not isinstance(value, type) and hasattr(value, "source")]


def test_facts_cost_no_heavy_imports() -> None:
    statements = "; ".join(f"import eks_gpu.facts.{name}" for name in MODULES)
    heavy = "{'pydantic', 'pulumi', 'yaml', 'typing_extensions'}"
    program = f"import sys; {statements}; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_lessons_have_stable_ids_without_gaps() -> None:
    counts = {"N": 12, "G": 9, "W": 14, "S": 3, "M": 12}
    expected = [f"{area}{number:02}" for area, count in counts.items() for number in range(1, count + 1)]
    assert list(lessons.LESSONS) == expected


@pytest.mark.parametrize("lesson", lessons.LESSONS.values(), ids=lessons.LESSONS)
def test_a_lesson_is_one_sentence(lesson: str) -> None:
    assert lesson.endswith(".")
    assert not re.search(r"\. [A-Z]", lesson)
    assert len(lesson) < 120
