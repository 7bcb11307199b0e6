from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.settings.between_blocks import problems_between_blocks
from eks_gpu.settings.platform import Platform
from eks_gpu.settings.problems import Problem

KEYS = st.sampled_from(
    [
        *Platform.model_fields,
        "existing",
        "zones",
        "private_subnets",
        "previously",
        "instance_types",
        "gpu_types",
        "vllm",
    ]
) | st.text(max_size=3)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["us-east-1a", "g5.xlarge", "a10g", "NODE006", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)

NOBODY_VALIDATES = (
    "keeps workloads off new nodes until they are validated, and nothing validates them; add validation: {} under "
    "gpu_software"
)
NOTHING_IS_PROVEN = (
    "proves nothing, because there is no node group and Karpenter's pools are left out; set node_pools: true, which "
    "buys a node of each, or validate_new_nodes: true on a pool, or remove validation"
)


@given(ANYTHING, st.none() | st.just("us-east-1"))
def test_checks_between_blocks_bear_any_data(data: object, region: str | None) -> None:
    assert all(isinstance(problem, Problem) for problem in problems_between_blocks(data, region))


@pytest.mark.parametrize(
    "network",
    [
        {"zones": ["us-west-2a", "us-west-2b"]},
        {"existing": {"private_subnets": {"us-west-2a": "subnet-0a1b2c3d", "us-west-2b": "subnet-1a1b2c3d"}}},
    ],
    ids=["new", "existing"],
)
def test_zones_of_another_region_are_a_problem_only_if_the_region_is_known(network: dict[str, object]) -> None:
    (problem,) = problems_between_blocks({"network": network}, "us-east-1")
    assert problem.message == (
        "has us-west-2a, us-west-2b, but aws:region is us-east-1; give zones of it, or another region"
    )
    assert list(problems_between_blocks({"network": network}, "us-west-2")) == []
    assert list(problems_between_blocks({"network": network})) == []


def test_n07_new_nodes_are_kept_closed_only_where_something_opens_them() -> None:
    closed = {"node_pools": {"g5": {"validate_new_nodes": True}}}
    found = [
        problem
        for problem in problems_between_blocks({**closed, "gpu_software": {"kind": "operator"}})
        if problem.location == ("node_pools", "g5", "validate_new_nodes")
    ]
    assert [problem.message for problem in found] == [NOBODY_VALIDATES]
    opened = problems_between_blocks({**closed, "gpu_software": {"kind": "operator", "validation": {}}})
    assert not [problem for problem in opened if "validate_new_nodes" in problem.location]


def _validation(**platform: object) -> list[str]:
    found = problems_between_blocks({"gpu_software": {"kind": "operator", "validation": {}}, **platform})
    return [problem.message for problem in found if problem.location == ("gpu_software", "validation")]


def test_g08_a_validation_that_proves_nothing_is_refused_with_what_would() -> None:
    assert _validation(node_pools={"g5": {}}) == [NOTHING_IS_PROVEN]


def test_g08_a_validation_that_proves_something_is_not() -> None:
    pools: dict[str, object] = {"g5": {}}
    bought = {"kind": "operator", "validation": {"node_pools": True}}
    assert _validation(node_pools=pools, node_groups={"inference": {}}) == []
    assert _validation(node_pools={"g5": {"validate_new_nodes": True}}) == []
    assert _validation(node_pools=pools, gpu_software=bought) == []
