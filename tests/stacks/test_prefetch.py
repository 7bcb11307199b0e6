"""Images that are pulled ahead break no rule of any environment."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from eks_gpu.cli.judge import as_resource
from eks_gpu.recording import Recording, record_directory
from eks_gpu.settings.stack_file import load
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def recording() -> Recording:
    platform = load(ROOT / "stacks" / "Pulumi.staging.yaml").platform.model_dump(mode="json", exclude_unset=True)
    platform["workloads"]["vllm"]["prefetch"] = True
    config = {"aws:region": "us-east-1", "eks-gpu:platform": json.dumps(platform)}
    return record_directory(ROOT, project="eks-gpu", stack="prefetch", config=config)


@pytest.mark.parametrize("environment", list(Environment))
def test_n08_pulling_ahead_obeys_the_rules(recording: Recording, environment: Environment) -> None:
    assert recording.named("vllm-image-prefetch").type == "kubernetes:apps/v1:DaemonSet"
    report = evaluate(
        (as_resource(resource) for resource in recording.resources),
        environment=environment,
        rules=RULES,
        today=dt.datetime.now(tz=dt.UTC).date(),
        options=Options(environment_named=True, monthly_budget_usd=100_000),
    )
    assert [finding.text for finding in report.mandatory] == []
    assert [finding.text for finding in report.findings if "prefetch" in finding.text] == []
