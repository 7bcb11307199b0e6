"""A broken stack is refused in production and only warned about in dev."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.engine import Bench

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policies"

POOL_WITHOUT_TAINT = """
import pulumi
import pulumi_kubernetes as k8s

pulumi.Config("app").require("stack")
k8s.apiextensions.CustomResource(
    "g5",
    api_version="karpenter.sh/v1",
    kind="NodePool",
    metadata={"name": "g5"},
    spec={
        "limits": {"nvidia.com/gpu": "4"},
        "template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "g5"},
            "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g5.xlarge"]}],
        }},
    },
)
"""


@pytest.mark.parametrize(
    ("environment", "level", "refused"),
    [("prod", "mandatory", True), ("staging", "mandatory", True), ("dev", "advisory", False)],
)
def test_node004_an_untainted_pool(engine: Bench, environment: str, level: str, refused: bool) -> None:
    program = engine.program(POOL_WITHOUT_TAINT)

    result = engine.preview(
        program,
        config={"app:stack": "x"},
        policy_pack=PACK,
        policy_config={"eks-gpu": {"environment": environment, "monthlyBudgetUsd": 100000}},
    )

    (violation,) = [found for found in result.violations if found.policy == "NODE004"]
    assert violation.level == level
    assert "g5" in violation.message
    assert (result.returncode != 0) is refused, result.output


def test_node004_can_be_waived_until_a_day(engine: Bench) -> None:
    program = engine.program(POOL_WITHOUT_TAINT)
    waiver = {"rule": "NODE004", "resource": "g5", "owner": "ml", "reason": "single tenant", "until": "2999-12-31"}

    result = engine.preview(
        program,
        config={"app:stack": "x"},
        policy_pack=PACK,
        policy_config={"eks-gpu": {"environment": "prod", "monthlyBudgetUsd": 100000, "waivers": [waiver]}},
    )

    assert [found for found in result.violations if found.policy == "NODE004"] == []
    assert "1 waived" in result.output


def test_mistakes_in_settings_are_sentences_for_whoever_runs_pulumi_itself(engine: Bench) -> None:
    platform = {"environment": "live", "owner": "ml", "network": {"cidr": "10.0.0.0/8", "zones": ["us-east-1a"]}}

    result = engine.preview(ROOT, "dev", config={"aws:region": "us-east-1", "eks-gpu:platform": platform})

    assert result.returncode != 0
    assert 'environment: is "live"; allowed are dev, staging, prod' in result.output
    assert "network.cidr: " in result.output
    assert "Traceback" not in result.output
