"""NODE011: spot never holds training that cannot resume."""

from __future__ import annotations

import pytest

from eks_gpu.facts import declarations, labels
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

SPOT = examples.training_pool(capacity=("spot", "on-demand"))
SAVES = examples.training_job()
LOSES = examples.training_job(emptyDir={})
POD = "spec.template.spec"
TEMPLATE = examples.launch_template()
GROUP = examples.node_group(TEMPLATE, "p4d", instanceTypes=["p4d.24xlarge"], capacityType="SPOT")


def test_n09_training_that_resumes_may_run_on_spot() -> None:
    assert passes(judge("NODE011", SPOT, SAVES))


def test_n09_training_that_loses_everything_may_not_and_it_is_said_what_is_at_risk() -> None:
    message = complaint(judge("NODE011", SPOT, LOSES))
    assert message.startswith(
        "may run on spot instances of p4d and cannot go on after one is taken back (saves to /che"
    )
    assert message.endswith("costs up to 72 h of work on one pod at $21.96/h together: $1,581")


def test_n09_a_pool_that_does_not_say_may_buy_spot() -> None:
    silent = changed(SPOT, "spec.template.spec.requirements.1", {"key": labels.ARCH, "operator": "Exists"})
    assert "may run on spot" in complaint(judge("NODE011", silent, LOSES))


def test_n09_a_node_group_on_spot_counts_as_well() -> None:
    assert messages(judge("NODE011", TEMPLATE, GROUP, LOSES)).keys() == {"finetune"}
    assert passes(judge("NODE011", TEMPLATE, examples.node_group(TEMPLATE, instanceTypes=["p4d.24xlarge"]), LOSES))


def test_n09_on_demand_pools_hold_anything() -> None:
    assert passes(judge("NODE011", examples.training_pool(), LOSES))
    assert passes(judge("NODE011", examples.training_pool(capacity=("reserved", "on-demand")), LOSES))


@pytest.mark.parametrize(
    "wish",
    [
        {"nodeSelector": {labels.CAPACITY_TYPE: "on-demand"}},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": labels.CAPACITY_TYPE, "operator": "NotIn", "values": ["spot"]}
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ],
)
def test_n09_a_pod_that_requires_on_demand_never_gets_spot(wish: dict[str, object]) -> None:
    job = LOSES
    for key, value in wish.items():
        job = changed(job, f"{POD}.{key}", value)
    assert passes(judge("NODE011", SPOT, job))


def test_n09_a_pool_that_keeps_the_pod_off_or_is_too_small_is_none_of_its_business() -> None:
    kept_off = changed(SPOT, "spec.template.spec.taints", [{"key": "team", "value": "a", "effect": "NoSchedule"}])
    assert passes(judge("NODE011", kept_off, LOSES))
    small = changed(examples.node_pool(), "spec.template.spec.requirements.1.values", ["spot"])
    assert passes(judge("NODE011", examples.node_class(), small, LOSES))


def test_a_job_that_may_be_anything_gets_advice() -> None:
    job = changed(LOSES, f"{POD}.containers.0.command", ["python", "run.py", "--checkpoint-dir", "/checkpoints"])
    job = changed(changed(job, f"{POD}.containers.0.image", "registry.example.com/b:1"), "metadata.name", "nightly")
    (finding,) = judge("NODE011", SPOT, examples.resource(job.type, "nightly", job.props)).findings
    assert finding.level is Level.ADVISORY


def test_servers_and_short_jobs_are_not_concerned() -> None:
    assert not_concerned(judge("NODE011", SPOT, examples.deployment()))
    assert not_concerned(judge("NODE011", SPOT, changed(LOSES, "spec.activeDeadlineSeconds", 1800)))


def test_whether_it_resumes_may_have_to_be_left_open() -> None:
    job = examples.training_job("finetune", {declarations.RESUMES: ""})
    assert left_open(judge("NODE011", SPOT, job)) == [declarations.RESUMES]
    place = "spec.template.metadata.annotations"
    assert left_open(judge("NODE011", SPOT, unknown(SAVES, place))) == [place]


def test_what_the_pool_may_buy_may_have_to_be_left_open() -> None:
    place = "spec.template.spec.requirements"
    assert left_open(judge("NODE011", unknown(SPOT, place), LOSES)) == [place]
    assert left_open(judge("NODE011", TEMPLATE, unknown(GROUP, "capacityType"), LOSES)) == ["capacityType"]
