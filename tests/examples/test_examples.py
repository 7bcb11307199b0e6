"""Every example runs, and production would accept it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eks_gpu.cli.judge import judge
from eks_gpu.cli.program import record_stack
from eks_gpu.cli.project import Project

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/Pulumi.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_production_accepts_the_example(name: str) -> None:
    recorded = record_stack(Project.find(EXAMPLES / name), "dev")
    report = judge(recorded)  # nobody names an environment, so the levels of production hold
    assert recorded.recording.exports
    assert [finding.text for finding in report.findings] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_example_is_listed(name: str) -> None:
    assert f"({name}/__main__.py)" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
