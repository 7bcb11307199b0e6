"""COST006: the vCPU quota covers the maximum."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts import resources
from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options, Quotas
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, not_concerned, passes, unknown

G_ON_DEMAND, P_ON_DEMAND, G_SPOT, P5_SPOT = "L-DB2E81BA", "L-417A185B", "L-3819A6DF", "L-C4BD4855"


def pool(*capacity: str, types: tuple[str, ...] = ("g5.xlarge",), **limits: str) -> Resource:
    bound = {resources.GPU: limits.pop("gpus", "8"), **limits}
    return changed(
        examples.node_pool(types=types, limits={key: value for key, value in bound.items() if value}),
        "spec.template.spec.requirements.1.values",
        list(capacity or ("on-demand",)),
    )


def quotas(recorded: str = "2026-11-20", **vcpus: float) -> dict[str, object]:
    codes = {code.replace("_", "-"): value for code, value in vcpus.items()}
    return {"vcpuQuotas": {"recorded": recorded, "vcpus": codes}}


def test_m10_a_limit_above_the_quota_is_told_with_code_and_figures() -> None:
    report = judge("COST006", pool(), options=quotas(L_DB2E81BA=31))
    assert complaint(report) == (
        "may run 32 vCPU of L-DB2E81BA (Running On-Demand G and VT instances), which was 31 on 2026-11-20: g5 32"
    )
    assert report.findings[0].level is Level.ADVISORY


def test_m10_a_limit_of_exactly_the_quota_passes() -> None:
    assert passes(judge("COST006", pool(), options=quotas(L_DB2E81BA=32)))


def test_m10_the_type_with_most_cpus_for_the_gpus_counts() -> None:
    # 8 GPUs: 8 x g5.16xlarge have 512 vCPU, 2 x g5.12xlarge have 96.
    mixed = pool(types=("g5.12xlarge", "g5.16xlarge"))
    assert "may run 512 vCPU" in complaint(judge("COST006", mixed, options=quotas(L_DB2E81BA=511)))
    assert passes(judge("COST006", mixed, options=quotas(L_DB2E81BA=512)))


def test_m10_a_limit_on_cpus_counts_where_it_is_the_smaller() -> None:
    assert passes(judge("COST006", pool(cpu="17"), options=quotas(L_DB2E81BA=16)))
    assert "may run 16 vCPU" in complaint(judge("COST006", pool(cpu="17"), options=quotas(L_DB2E81BA=15)))


def test_m10_a_group_counts_at_its_largest_size() -> None:
    group = examples.node_group(
        instanceTypes=["p4d.24xlarge"], scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 2}
    )
    assert passes(judge("COST006", group, options=quotas(L_417A185B=192)))
    assert "(Running On-Demand P instances)" in complaint(judge("COST006", group, options=quotas(L_417A185B=191)))


def test_m10_spot_has_quotas_of_its_own() -> None:
    both = pool("spot", "on-demand")
    assert passes(judge("COST006", both, options=quotas(L_DB2E81BA=32, L_3819A6DF=32)))
    assert G_SPOT in complaint(judge("COST006", both, options=quotas(L_DB2E81BA=32, L_3819A6DF=0)))
    p5 = pool("spot", types=("p5.48xlarge",))
    assert P5_SPOT in complaint(judge("COST006", p5, options=quotas(L_7212CCBC=999, L_C4BD4855=0)))


def test_m10_pools_of_one_family_add_up() -> None:
    second = examples.node_group(
        instanceTypes=["g6.xlarge"], scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 1}
    )
    message = complaint(judge("COST006", pool(), second, options=quotas(L_DB2E81BA=35)))
    assert message.startswith("may run 36 vCPU")
    assert message.endswith("inference 4, g5 32")
    assert passes(judge("COST006", pool(), second, options=quotas(L_DB2E81BA=36)))


def test_m10_the_remedy_is_the_command_that_asks_for_it() -> None:
    (finding,) = judge("COST006", pool(), options=quotas(L_DB2E81BA=31)).findings
    assert "--service-code ec2 --quota-code L-DB2E81BA --desired-value 32; or lower the limits" in finding.fix


def test_types_that_nobody_knows_are_left_open() -> None:
    new = pool(types=("g5.xlarge", "p9.48xlarge"))
    report = judge("COST006", new, options=quotas(L_DB2E81BA=32))
    assert [missed.reason for missed in report.not_evaluated] == ["how many vCPU p9.48xlarge of g5 have"]
    assert "may run 32 vCPU" in complaint(judge("COST006", new, options=quotas(L_DB2E81BA=31)))


def test_m10_a_pool_on_both_markets_counts_on_both() -> None:
    both = pool("spot", "on-demand")
    assert passes(judge("COST006", both, options=quotas(L_DB2E81BA=32, L_3819A6DF=32)))
    assert "of L-DB2E81BA" in complaint(judge("COST006", both, options=quotas(L_DB2E81BA=31, L_3819A6DF=32)))
    assert "of L-3819A6DF" in complaint(judge("COST006", both, options=quotas(L_DB2E81BA=32, L_3819A6DF=31)))


def test_m10_a_pool_of_several_families_counts_with_each() -> None:
    mixed = pool(types=("g5.xlarge", "p4d.24xlarge"))
    assert passes(judge("COST006", mixed, options=quotas(L_DB2E81BA=32, L_417A185B=96)))
    assert "of L-DB2E81BA" in complaint(judge("COST006", mixed, options=quotas(L_DB2E81BA=31, L_417A185B=96)))
    assert "of L-417A185B" in complaint(judge("COST006", mixed, options=quotas(L_DB2E81BA=32, L_417A185B=95)))


def test_m10_only_whole_nodes_count() -> None:
    large = pool(types=("g5.48xlarge",), gpus="12")
    assert passes(judge("COST006", large, options=quotas(L_DB2E81BA=192)))
    assert "may run 192 vCPU" in complaint(judge("COST006", large, options=quotas(L_DB2E81BA=191)))


def test_a_type_with_parts_of_a_gpu_is_bound_by_cpus_only() -> None:
    limits = {resources.GPU: "8", resources.CPU: "10"}
    parts = examples.node_pool("parts", types=("g6f.xlarge",), limits=limits)
    assert "may run 8 vCPU" in complaint(judge("COST006", parts, options=quotas(L_DB2E81BA=7)))


def test_pools_that_may_buy_gpus_are_left_open() -> None:
    maybe = unknown(examples.node_group(), "instanceTypes")
    assert left_open(judge("COST006", maybe, options=quotas(L_DB2E81BA=1))) == ["instanceTypes"]


def test_what_is_only_reserved_is_not_counted() -> None:
    assert passes(judge("COST006", pool("reserved", types=("p5.48xlarge",)), options=quotas(L_417A185B=0)))


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({}, "vcpuQuotas"),
        (quotas("2026-10-21", L_DB2E81BA=1), "vcpuQuotas.recorded"),
        (quotas("2026-11-22", L_DB2E81BA=1), "vcpuQuotas.recorded"),
        (quotas(L_417A185B=1), "vcpuQuotas.vcpus"),
    ],
    ids=["no record", "old record", "tomorrow's record", "other quotas"],
)
def test_without_a_fresh_record_it_is_left_open(options: dict[str, object], path: str) -> None:
    assert left_open(judge("COST006", pool(), options=options)) == [path]


def test_a_record_of_thirty_days_is_fresh() -> None:
    assert passes(judge("COST006", pool(), options=quotas("2026-10-22", L_DB2E81BA=32)))
    assert passes(judge("COST006", pool(), options=quotas("2026-11-21", L_DB2E81BA=32)))


def test_a_quota_that_is_not_known_is_left_open() -> None:
    p6 = pool("spot", types=("p6-b200.48xlarge",))
    assert left_open(judge("COST006", p6, options=quotas(L_7212CCBC=1, L_C4BD4855=1))) == ["vcpuQuotas"]
    some = pool("spot", types=("p6-b200.48xlarge", "p5.48xlarge"))
    assert passes(judge("COST006", some, options=quotas(L_C4BD4855=192)))


def test_what_is_not_known_is_left_open_and_the_rest_still_counts() -> None:
    group = unknown(examples.node_group(), "scalingConfig")
    assert left_open(judge("COST006", group, options=quotas(L_DB2E81BA=32))) == ["scalingConfig"]
    assert "may run 32 vCPU" in complaint(judge("COST006", group, pool(), options=quotas(L_DB2E81BA=31)))


def test_a_pool_without_limit_is_left_to_the_rule_on_limits() -> None:
    assert passes(judge("COST006", pool(gpus=""), options=quotas(L_DB2E81BA=1)))


def test_a_stack_without_gpu_pools_is_not_concerned() -> None:
    assert not_concerned(judge("COST006", examples.node_group(instanceTypes=["m7i.large"])))


def test_on_manifests_it_speaks_only_with_a_record() -> None:
    options = Options(manifests_only=True)
    report = evaluate([pool()], environment=Environment.PROD, rules=(BY_ID["COST006"],), today=TODAY, options=options)
    assert not_concerned(report)
    said = Options(manifests_only=True, vcpu_quotas=Quotas(TODAY, {"L-DB2E81BA": 31}))
    spoken = evaluate([pool()], environment=Environment.PROD, rules=(BY_ID["COST006"],), today=TODAY, options=said)
    assert "may run 32 vCPU" in complaint(spoken)
    assert dataclasses.asdict(options)["vcpu_quotas"] is None
