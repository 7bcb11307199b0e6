"""The root program on a network and a cluster that exist already: nothing of either is made or changed."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from eks_gpu.cli.judge import as_resource
from eks_gpu.recording import Recording, record_directory
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES

ROOT = Path(__file__).parents[2]
PLATFORM = {
    "environment": "prod",
    "owner": "ml-platform",
    "network": {
        "existing": {
            "vpc_id": "vpc-0a1b2c3d4e5f60718",
            "private_subnets": {"us-east-1a": "subnet-0a1b2c3d4e5f60718", "us-east-1b": "subnet-0b1c2d3e4f5061728"},
        }
    },
    "cluster": {"existing": {"name": "research", "version": "1.35"}},
    "node_pools": {"g5": {"instance_types": ["g5.2xlarge"], "capacity": ["on-demand"], "max_gpus": 4}},
    "gpu_software": {"kind": "device_plugin"},
    "monitoring": {"prometheus": {"kind": "existing", "selector_labels": {"release": "prometheus"}}},
}


@pytest.fixture(scope="module")
def recording() -> Recording:
    config = {"aws:region": "us-east-1", "eks-gpu:platform": json.dumps(PLATFORM)}
    return record_directory(ROOT, project="eks-gpu", stack="existing", config=config)


def test_makes_no_network_and_no_cluster(recording: Recording) -> None:
    made = {resource.type for resource in recording.resources}
    assert not made & {"aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "eks:index:Cluster", "aws:eks/addon:Addon"}


def test_nodes_go_into_the_subnets_that_were_given(recording: Recording) -> None:
    (node_class,) = recording.of_type("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
    wanted = [{"id": subnet} for subnet in PLATFORM["network"]["existing"]["private_subnets"].values()]  # type: ignore[index] # plain data
    assert node_class["spec"]["subnetSelectorTerms"] == wanted


def test_obeys_the_rules_of_production(recording: Recording) -> None:
    report = evaluate(
        (as_resource(resource) for resource in recording.resources),
        environment=Environment.PROD,
        rules=RULES,
        today=dt.datetime.now(tz=dt.UTC).date(),
        options=Options(environment_named=True, monthly_budget_usd=10_000),
    )
    assert [finding.text for finding in report.findings] == []
