"""COST003: idle environments cost nothing."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu_policies import examples
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from tests.support.judging import changed, complaint, left_open, messages, not_concerned, passes, unknown
from tests.support.judging import judge as judge_in

KEDA = "kubernetes:keda.sh/v1alpha1:ScaledObject"
PAUSING = examples.container(image="registry.k8s.io/pause:3.10", startupProbe=None)
POOL = examples.node_pool(types=("g5.xlarge",))


def judge(*resources_: Resource) -> Report:
    return judge_in("COST003", *resources_, environment=Environment.STAGING)


def group(minimum: int, types: tuple[str, ...] = ("g5.xlarge",), **props: object) -> Resource:
    sizes = {"minSize": minimum, "desiredSize": minimum, "maxSize": 4}
    return examples.node_group(instanceTypes=list(types), scalingConfig=sizes, **props)


def test_m05_a_group_with_a_minimum_keeps_nodes_for_nothing() -> None:
    assert complaint(judge(group(2))) == (
        "keeps 2 nodes whether there is work or not (a minimum size of 2), $1,469 a month"
    )


def test_m05_the_cheapest_type_of_a_pool_is_what_it_costs_at_least() -> None:
    assert "$734 a month" in complaint(judge(group(1, ("g5.2xlarge", "g5.xlarge"))))


def test_m05_a_launch_template_alone_pays_nothing_in_advance() -> None:
    template = examples.launch_template()
    sizes = {"minSize": 1, "desiredSize": 1, "maxSize": 4}
    assert "keeps one node" in complaint(judge(template, examples.node_group(template, scalingConfig=sizes)))


def test_m05_a_group_that_shrinks_to_nothing_passes() -> None:
    assert passes(judge(group(0)))


def test_m05_static_replicas_are_kept_as_well() -> None:
    pool = examples.node_pool(types=("p4d.24xlarge",), limits={"nodes": "2"}, replicas=1)
    report = judge(pool)
    assert complaint(report) == "keeps one node whether there is work or not (replicas of 1), $16,029 a month"
    assert report.findings[0].fix.startswith("leave spec.replicas out")
    assert passes(judge(changed(pool, "spec.replicas", 0)))


def test_m05_a_pool_that_never_consolidates_keeps_what_it_bought() -> None:
    pool = changed(POOL, "spec.disruption", {"consolidateAfter": "Never"})
    assert complaint(judge(pool)).endswith("(consolidateAfter: Never), $734 a month for each")
    assert passes(judge(changed(POOL, "spec.disruption", {"consolidateAfter": "10m"})))


def test_m05_placeholders_keep_nodes_day_and_night() -> None:
    # Four CPUs are more than a g5.xlarge has for pods, so that each pod keeps a g5.2xlarge.
    warm = changed(examples.deployment(PAUSING, name="warm"), "spec.replicas", 2)
    found = messages(judge(examples.node_pool(), examples.node_class(), warm))
    assert found == {"warm": ["keeps 2 nodes ready for nobody, day and night, $1,770 a month"]}


def test_m05_a_placeholder_is_also_known_by_its_priority() -> None:
    low = examples.resource(
        "kubernetes:scheduling.k8s.io/v1:PriorityClass", "low", {"metadata": {"name": "low"}, "value": -10}
    )
    warm = examples.deployment(name="warm", priorityClassName="low")
    assert "warm" in messages(judge(POOL, low, warm))
    assert passes(judge(POOL, changed(low, "value", 10), warm))


@pytest.mark.parametrize(
    "schedule",
    [
        examples.resource(
            KEDA, "hours", {"spec": {"scaleTargetRef": {"name": "warm"}, "triggers": [{"type": "cron"}]}}
        ),
        examples.resource(
            "kubernetes:batch/v1:CronJob",
            "evening",
            {
                "spec": {
                    "jobTemplate": {
                        "spec": {
                            "template": {
                                "spec": {
                                    "containers": [
                                        {
                                            "name": "scale",
                                            "image": "example/kubectl:1.35",
                                            "command": ["kubectl", "scale", "deployment/warm", "--replicas=0"],
                                        }
                                    ]
                                }
                            }
                        }
                    }
                }
            },
        ),
    ],
    ids=["keda", "cron job"],
)
def test_m05_placeholders_with_working_hours_pass(schedule: Resource) -> None:
    assert passes(judge(POOL, schedule, examples.deployment(PAUSING, name="warm")))


@pytest.mark.parametrize(
    ("command", "names_it"),
    [
        (["kubectl", "scale", "deployment/warm", "--replicas=0"], True),
        (["kubectl", "scale", "deployment", "warm", "--replicas=0"], True),
        (["sh", "-c", "kubectl scale deploy/warm --replicas=0"], True),
        (["kubectl", "scale", "deployment/warm-web", "--replicas=0"], False),
        (["kubectl", "scale", "deployment/lukewarm", "--replicas=0"], False),
        (["echo", "swarm"], False),
    ],
)
def test_a_job_that_names_something_else_gives_no_hours(command: list[str], names_it: bool) -> None:
    box = {"name": "scale", "image": "example/kubectl:1.35", "command": command}
    template = {"spec": {"template": {"spec": {"containers": [box]}}}}
    job = examples.resource("kubernetes:batch/v1:CronJob", "evening", {"spec": {"jobTemplate": template}})
    assert passes(judge(POOL, job, examples.deployment(PAUSING, name="warm"))) is names_it


def test_only_what_runs_by_a_clock_gives_hours() -> None:
    talks = examples.deployment(examples.container(name="a", args=["warm"]), name="other")
    assert "warm" in messages(judge(POOL, talks, examples.deployment(PAUSING, name="warm")))


def test_the_words_of_a_job_may_be_arguments() -> None:
    box = {"name": "scale", "image": "example/kubectl:1.35", "args": ["scale", "deployment/warm"]}
    template = {"spec": {"template": {"spec": {"containers": [box]}}}}
    job = examples.resource("kubernetes:batch/v1:CronJob", "evening", {"spec": {"jobTemplate": template}})
    assert passes(judge(POOL, job, examples.deployment(PAUSING, name="warm")))


def test_placeholders_that_pulumi_names_have_hours_where_anything_is_scaled() -> None:
    unnamed = changed(examples.deployment(PAUSING, name="warm"), "metadata", {})
    hours = examples.resource(KEDA, "hours", {"spec": {"scaleTargetRef": {"name": "warm-1a2b3c"}}})
    assert passes(judge(POOL, hours, unnamed))
    assert "warm" in messages(judge(POOL, unnamed))


def test_placeholders_without_a_price_have_no_figure() -> None:
    warm = examples.deployment(PAUSING, name="warm")
    dear = examples.node_pool("p5e", types=("p5e.48xlarge",))
    assert messages(judge(dear, warm)) == {"warm": ["keeps one node ready for nobody, day and night"]}
    both = messages(judge(dear, examples.node_pool(types=("g5.2xlarge",)), examples.node_class(), warm))
    assert both == {"warm": ["keeps one node ready for nobody, day and night, $885 a month"]}
    too_small = examples.node_pool("small", types=("g5.xlarge",))
    among_others = messages(judge(too_small, examples.node_pool(types=("g5.2xlarge",)), examples.node_class(), warm))
    assert among_others == both


def test_what_ends_keeps_no_node_ready() -> None:
    job = examples.resource(
        "kubernetes:batch/v1:Job", "once", {"spec": {"template": {"spec": {"containers": [PAUSING]}}}}
    )
    assert "once" not in messages(judge(POOL, job))
    assert passes(judge(POOL, job))


def test_no_placeholder_no_cost() -> None:
    none = changed(examples.deployment(PAUSING, name="warm"), "spec.replicas", 0)
    assert passes(judge(POOL, none))


def test_m05_what_is_paid_in_advance_is_exempt() -> None:
    block = group(2, ("p5.48xlarge",), capacityType="CAPACITY_BLOCK")
    reserved = changed(
        examples.node_pool(types=("p5.48xlarge",), replicas=2),
        "spec.template.spec.requirements.1.values",
        ["reserved"],
    )
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-0a1b2c3d4e5f60718"}}
    template = examples.launch_template(capacityReservationSpecification=target)
    on_reservation = examples.node_group(template, "reserved")
    assert passes(judge(block, reserved, template, on_reservation))


def test_a_sound_pool_for_training_and_a_server_on_it_pass() -> None:
    pool = changed(POOL, "spec.disruption", {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "15m"})
    server = changed(examples.deployment(name="llm"), "spec.replicas", 3)
    assert passes(judge(pool, server))


def test_in_prod_it_says_nothing() -> None:
    report = judge_in("COST003", group(2))
    assert (report.findings, report.rules) == ((), ())


def test_sizes_that_are_not_known_are_left_open() -> None:
    assert left_open(judge(unknown(group(1), "scalingConfig"))) == ["scalingConfig"]
    assert left_open(judge(unknown(group(1), "capacityType"))) == ["capacityType"]


def test_a_group_without_sizes_passes_and_one_without_price_has_no_figure() -> None:
    assert passes(judge(changed(group(1), "scalingConfig", None)))
    assert complaint(judge(group(1, ("p5e.48xlarge",)))).endswith("(a minimum size of 1)")


def test_nodes_without_gpus_are_not_looked_at() -> None:
    system = group(3, ("m7i.large",), labels={labels.WORKLOAD: labels.WORKLOAD_SYSTEM})
    pause = examples.deployment(examples.container(image="pause:3", resources={"limits": {"cpu": "1"}}))
    assert not_concerned(judge(system, pause))
    assert resources.GPU not in str(pause.props)
