"""COST002: the stack cannot outspend its budget."""

from __future__ import annotations

from typing import Any

import pytest

from eks_gpu.facts import resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

G5 = examples.node_pool(types=("g5.xlarge", "g5.12xlarge"))
G5_WITH_ONE_GPU_OF_MANY_CPUS = examples.node_pool(types=("g5.xlarge", "g5.12xlarge", "g5.16xlarge"))
P4D = examples.node_pool("p4d", types=("p4d.24xlarge",))
BUDGET = {"monthlyBudgetUsd": 30_000}


def test_m05_pools_within_the_budget_pass() -> None:
    # 8 x 1.418 + 21.96 = 33.30 an hour, 24,310 a month.
    assert passes(judge("COST002", G5, P4D, options=BUDGET))


def test_m05_the_dearest_gpu_of_a_pool_counts() -> None:
    # 8 x 4.096 + 21.96 = 54.73 an hour.
    message = complaint(judge("COST002", G5_WITH_ONE_GPU_OF_MANY_CPUS, P4D, options=BUDGET))
    assert message.startswith("its GPU pools may cost $39,950 a month, the budget is $30,000: ")
    assert message.endswith("g5 $23,921 (8 GPUs x $4.096/h); p4d $16,029 (8 GPUs x $2.745/h)")


def test_m05_a_limit_on_cpus_counts_where_it_is_the_smaller() -> None:
    pool = examples.node_pool(types=("g5.xlarge",), limits={resources.GPU: "8", "cpu": "8"})
    # 8 vCPU x 1.006 / 4 = 2.012 an hour.
    assert passes(judge("COST002", pool, options={"monthlyBudgetUsd": 1_469}))
    assert "8 vCPU x $0.252/h" in complaint(judge("COST002", pool, options={"monthlyBudgetUsd": 1_468}))
    two = examples.node_pool(types=("g5.12xlarge", "g5.xlarge"), limits={resources.GPU: "8", "cpu": "8"})
    assert "8 vCPU x $0.252/h" in complaint(judge("COST002", two, options={"monthlyBudgetUsd": 1_468}))


def test_m05_a_node_group_counts_at_its_largest_size() -> None:
    group = examples.node_group(
        instanceTypes=["g5.xlarge"], scalingConfig={"minSize": 0, "desiredSize": 1, "maxSize": 3}
    )
    assert passes(judge("COST002", group, options={"monthlyBudgetUsd": 2_204}))
    assert "3 x g5.xlarge at $1.006/h" in complaint(judge("COST002", group, options={"monthlyBudgetUsd": 2_203}))


def test_m05_a_static_pool_counts_the_larger_of_replicas_and_node_limit() -> None:
    pool = examples.node_pool(types=("g5.xlarge",), limits={"nodes": "4"}, replicas=2)
    assert "4 x g5.xlarge" in complaint(judge("COST002", pool, options={"monthlyBudgetUsd": 1}))


@pytest.mark.parametrize(
    ("pool", "says", "fix"),
    [
        (
            examples.node_pool("p5e", types=("p5e.48xlarge",)),
            "p5e may buy p5e.48xlarge, whose price is not known",
            "leave out the types without a price on demand",
        ),
        (
            examples.node_pool("new", types=("p9.48xlarge",)),
            "new may buy p9.48xlarge, whose price is not known",
            "leave out the types without a price on demand",
        ),
        (
            examples.node_pool("free", limits={}),
            "free has no limit on its GPUs",
            'set limits: {"nvidia.com/gpu": "<n>"} on the pool',
        ),
        (
            examples.node_group(scalingConfig={"desiredSize": 1}),
            "inference has no largest size",
            "set the group's largest size",
        ),
        (
            examples.node_pool("parts", types=("g6.xlarge", "g6f.large")),
            "parts has no limit on its GPUs",
            'set limits: {"cpu": "<n>"} on the pool: it may buy types that have parts of a GPU',
        ),
    ],
)
def test_m05_what_has_no_ceiling_fails_and_says_what_bounds_it(pool: Resource, says: str, fix: str) -> None:
    report = judge("COST002", pool, options=BUDGET)
    assert complaint(report) == f"{says}, so that the stack's spend has no ceiling"
    assert report.findings[0].fix.startswith(fix)


def test_without_a_budget_it_fails_only_where_the_environment_is_named() -> None:
    assert left_open(judge("COST002", P4D)) == ["monthlyBudgetUsd"]
    named = judge("COST002", P4D, options={"environment": "dev"})
    assert complaint(named) == "has no budget; its GPU pools may cost $16,029 a month"
    assert named.findings[0].fix.startswith("set the budget: budget.monthly_usd in a stack file, monthlyBudgetUsd in")


def test_without_a_budget_a_pool_without_ceiling_is_not_called_free() -> None:
    new = examples.node_pool("new", types=("p9.48xlarge",))
    message = complaint(judge("COST002", P4D, new, options={"environment": "prod"}))
    assert message == (
        "has no budget; its GPU pools have no ceiling: new may buy p9.48xlarge, whose price is not known"
    )


def test_unknown_sizes_are_left_open_and_what_is_known_still_counts() -> None:
    group = unknown(examples.node_group(), "scalingConfig")
    assert left_open(judge("COST002", group, options=BUDGET)) == ["scalingConfig"]
    report = judge("COST002", group, P4D, options={"monthlyBudgetUsd": 1_000})
    assert "may cost $16,029" in messages(report)["the stack"][0]


def test_unknown_instance_types_are_left_open() -> None:
    report = judge("COST002", unknown(examples.node_group(), "instanceTypes"), options=BUDGET)
    assert left_open(report) == ["instanceTypes"]


def test_a_stack_without_gpu_pools_is_not_concerned() -> None:
    assert not_concerned(judge("COST002", examples.node_group(instanceTypes=["m7i.large"]), options=BUDGET))


def test_a_limit_on_gpus_does_not_bound_types_with_parts_of_one() -> None:
    pool = examples.node_pool("parts", types=("g6.xlarge", "g6f.large"))
    assert complaint(judge("COST002", pool, options=BUDGET)).startswith("parts has no limit on its GPUs")


def test_what_is_sold_in_advance_only_is_left_open_where_nothing_else_is_bought() -> None:
    block = examples.node_group(
        instanceTypes=["p5e.48xlarge"],
        capacityType="CAPACITY_BLOCK",
        scalingConfig={"minSize": 0, "desiredSize": 1, "maxSize": 1},
    )
    assert left_open(judge("COST002", block, options=BUDGET)) == ["capacityType"]


def test_m05_a_budget_that_is_just_enough_is_enough() -> None:
    usd = CATALOGUE["p4d.24xlarge"].usd_per_hour
    assert usd is not None
    assert passes(judge("COST002", P4D, options={"monthlyBudgetUsd": usd * 730}))
    assert "may cost $16,029" in complaint(judge("COST002", P4D, options={"monthlyBudgetUsd": usd * 730 - 0.01}))


def reserved(name: str, instance_type: str, **given: Any) -> Resource:  # noqa: ANN401 - as the example takes it
    pool = examples.node_pool(name, types=(instance_type,), **given)
    return changed(pool, "spec.template.spec.requirements.1.values", ["reserved"])


def test_what_is_only_reserved_is_left_open_where_its_price_is_one_of_its_own() -> None:
    assert left_open(judge("COST002", reserved("p5e", "p5e.48xlarge"), options=BUDGET)) == ["spec"]
    free = reserved("free", "p4d.24xlarge", limits={})
    assert complaint(judge("COST002", free, options=BUDGET)).startswith("free has no limit on its GPUs")
    new = reserved("new", "p9.48xlarge")
    assert complaint(judge("COST002", new, options=BUDGET)).startswith("new may buy p9.48xlarge")


def test_on_manifests_it_speaks_only_with_a_budget() -> None:
    def on_manifests(budget: float | None) -> Report:
        options = Options(manifests_only=True, environment_named=True, monthly_budget_usd=budget)
        rules = (BY_ID["COST002"],)
        return evaluate([P4D], environment=Environment.PROD, rules=rules, today=TODAY, options=options)

    assert not_concerned(on_manifests(None))
    assert "may cost $16,029 a month" in complaint(on_manifests(16_028))
