"""COST001: GPU NodePools have a GPU limit."""

from __future__ import annotations

import pytest

from eks_gpu.facts import resources
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Environment, Level
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown


def test_m05_a_limit_on_gpus_passes() -> None:
    assert passes(judge("COST001", examples.node_pool(limits={resources.GPU: "8"})))
    assert passes(judge("COST001", examples.node_pool(limits={"cpu": "1000", resources.GPU: 8})))


def test_m05_no_limit_fails_with_what_the_next_node_costs() -> None:
    message = complaint(judge("COST001", examples.node_pool(types=("p4d.24xlarge",), limits={"cpu": "1000"})))
    assert message == "has no limit on nvidia.com/gpu; each further node may cost $21.96/h (p4d.24xlarge)"


def test_m05_no_limits_at_all_fail() -> None:
    assert "has no limit" in complaint(judge("COST001", changed(examples.node_pool(), "spec.limits", None)))


def test_m05_a_limit_of_zero_keeps_nothing_away() -> None:
    assert "keeps no node away" in complaint(judge("COST001", examples.node_pool(limits={resources.GPU: "0"})))


def test_m05_nested_limits_are_not_looked_at_by_karpenter() -> None:
    nested = examples.node_pool(limits={"resources": {resources.GPU: "8"}})
    assert "nests its limits under limits.resources" in complaint(judge("COST001", nested))


def test_m05_a_static_pool_limits_its_nodes() -> None:
    assert passes(judge("COST001", examples.node_pool(limits={"nodes": "2"}, replicas=2)))
    assert "is static and limits no nodes" in complaint(judge("COST001", examples.node_pool(limits={}, replicas=2)))


@pytest.mark.parametrize("environment", Environment)
def test_m05_it_binds_everywhere(environment: Environment) -> None:
    report = judge("COST001", examples.node_pool(limits={}), environment=environment)
    assert report.findings[0].level is Level.MANDATORY


def test_a_price_that_nobody_knows_is_said() -> None:
    pool = examples.node_pool(types=("g99.xlarge",), limits={"cpu": "1000"})
    assert complaint(judge("COST001", pool)).endswith("the price of what it may buy is not known")


def test_an_unknown_limit_is_left_open() -> None:
    pool = unknown(examples.node_pool(), "spec.limits")
    assert left_open(judge("COST001", pool)) == ["spec.limits"]


def test_node_groups_and_pools_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("COST001", examples.node_group()))
    assert not_concerned(judge("COST001", examples.node_pool(types=("m7i.large",), limits={}, taints=())))
