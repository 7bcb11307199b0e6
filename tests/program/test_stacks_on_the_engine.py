"""Each stack through the real engine and the policy pack: what the recorder says is what the engine sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from eks_gpu.cli.program import record_stack
from eks_gpu.cli.project import Project
from tests.support.engine import Bench, Step

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
PROJECT = Project.find(ROOT)


@pytest.mark.parametrize("stack", PROJECT.stacks)
def test_previews_with_its_policies(engine: Bench, stack: str) -> None:
    before = PROJECT.stack_file(stack).read_bytes()

    result = engine.preview(ROOT, stack, config_file=PROJECT.stack_file(stack), policy_pack=ROOT / "policies")

    assert result.returncode == 0, result.output
    assert [violation for violation in result.violations if violation.level == "mandatory"] == []
    assert {step.operation for step in result.steps} == {"create"}
    assert " rules (" in result.output
    assert "warning" not in result.output.lower()
    assert PROJECT.stack_file(stack).read_bytes() == before

    recorded = {resource.urn for resource in record_stack(PROJECT, stack).recording.resources}
    seen = {step.urn for step in result.steps}
    assert recorded <= seen
    # The engine alone sees the children of the remote cluster component, and the providers that it starts by itself.
    ours = {step.urn for step in result.steps if "eks:index:Cluster$" not in step.urn and not _is_default(step)}
    assert ours <= recorded


def _is_default(step: Step) -> bool:
    return step.type.startswith("pulumi:providers:") and step.name.startswith("default")
