"""NODE013: training outlives disruption."""

from __future__ import annotations

import pytest

from eks_gpu.facts import declarations, labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

POOL = examples.training_pool()
SPEC = "spec.template.spec"
ANNOTATIONS = "spec.template.metadata.annotations"


def clauses(*program: Resource) -> set[str]:
    """Return the letters of the clauses that are broken."""
    report = judge("NODE013", *program)
    return {message.removeprefix("clause ")[0] for found in messages(report).values() for message in found}


def refusing(job: Resource, value: str = "true") -> Resource:
    own = job.props["spec"]["template"]["metadata"]["annotations"]  # type: ignore[index]  # an example's own shape
    return changed(job, ANNOTATIONS, {**own, labels.DO_NOT_DISRUPT: value})


JOB = examples.training_job()
STEADFAST = refusing(JOB)
GANG = changed(JOB, "spec.parallelism", 4)
GENERAL = changed(
    changed(examples.node_pool("any", types=("g5.2xlarge", "p4d.24xlarge")), "spec.template.metadata", None),
    f"{SPEC}.taints",
    [{"key": resources.GPU, "effect": "NoSchedule"}],
)


def test_n10_the_contract_for_training_passes_by_itself_and_with_a_job() -> None:
    assert passes(judge("NODE013", POOL))
    assert passes(judge("NODE013", POOL, GANG))


def test_n10_worked_example_when_empty_fifteen_minutes_no_drift_never_passes() -> None:
    budget = {"nodes": "0", "reasons": ["Drifted"]}
    assert passes(judge("NODE013", examples.training_pool(budgets=[budget])))


def test_n10_worked_example_consolidating_and_thirty_days_fails_a_and_d() -> None:
    pool = examples.training_pool(
        consolidationPolicy="WhenEmptyOrUnderutilized", budgets=[{"nodes": "0", "reasons": ["Drifted"]}]
    )
    pool = changed(pool, f"{SPEC}.expireAfter", "720h")
    assert clauses(pool) == {"a", "d"}


def test_n10_worked_example_half_an_hour_of_grace_fails_c_although_pods_refuse() -> None:
    pool = examples.training_pool(budgets=[], node={"terminationGracePeriod": "30m"})
    assert clauses(pool, STEADFAST) == {"c"}
    assert "drift waits only terminationGracePeriod = 30 min" in complaint(judge("NODE013", pool, STEADFAST))


def test_n10_worked_example_the_default_expiry_hits_one_long_job_in_ten() -> None:
    pool = changed(POOL, f"{SPEC}.expireAfter", None)
    message = complaint(judge("NODE013", pool))
    assert message.startswith("clause d (expiry): expireAfter is unset, which means 720 h and ignores budgets")
    assert "about 10 % of jobs of 72 h lose their node" in message


def test_n10_nodes_of_auto_mode_expire_sooner_by_default() -> None:
    reference = {"group": labels.EKS_AUTO_DOMAIN, "kind": "NodeClass", "name": "default"}
    pool = changed(changed(POOL, f"{SPEC}.nodeClassRef", reference), f"{SPEC}.expireAfter", None)
    message = complaint(judge("NODE013", pool))
    assert "expireAfter is unset, which means 336 h" in message
    assert "about 21 % of jobs of 72 h lose their node" in message


# --- a: consolidation ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["WhenEmptyOrUnderutilized", "Balanced", None])
def test_n10_a_busy_nodes_may_not_be_emptied(policy: str | None) -> None:
    pool = changed(
        examples.training_pool(budgets=[{"nodes": "0", "reasons": ["Drifted"]}]),
        "spec.disruption.consolidationPolicy",
        policy,
    )
    assert clauses(pool) == {"a"}
    said = policy or "unset, which means WhenEmptyOrUnderutilized"
    assert f"consolidationPolicy is {said} and no always-on budget" in complaint(judge("NODE013", pool))
    assert clauses(pool, STEADFAST) == set()


@pytest.mark.parametrize(
    ("budget", "holds"),
    [
        ({"nodes": "0"}, True),
        ({"nodes": 0}, True),
        ({"nodes": "0%"}, True),
        ({"nodes": "0", "reasons": ["Underutilized", "Drifted"]}, True),
        ({"nodes": "0", "schedule": "0 0 * * *", "duration": "24h"}, True),
        ({"nodes": "0", "schedule": "@daily", "duration": "24h"}, True),
        ({"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}, False),
        ({"nodes": "0", "schedule": "@daily", "duration": "23h59m"}, False),
        ({"nodes": "0", "reasons": ["Empty"]}, False),
        ({"nodes": "0", "reasons": []}, False),
        ({"nodes": "1"}, False),
        ({"nodes": "10%"}, False),
    ],
)
def test_n10_a_only_a_budget_of_none_that_always_holds_keeps_busy_nodes(budget: dict[str, object], holds: bool) -> None:
    pool = examples.training_pool(consolidationPolicy="WhenEmptyOrUnderutilized", budgets=[{"nodes": "50%"}, budget])
    assert clauses(pool) == (set() if holds else {"a", "c"})


def test_n10_c_a_scheduled_budget_is_named_with_its_window() -> None:
    budget = {"nodes": "0", "reasons": ["Drifted"], "schedule": "0 9 * * mon-fri", "duration": "8h"}
    message = complaint(judge("NODE013", examples.training_pool(budgets=[budget])))
    assert "the budget of 0 for Drifted holds only from 0 9 * * mon-fri for 8 h" in message


def test_n10_a_consolidation_that_is_off_empties_nothing() -> None:
    pool = examples.training_pool(consolidationPolicy="WhenEmptyOrUnderutilized", consolidateAfter="Never")
    assert passes(judge("NODE013", changed(pool, "spec.disruption.budgets", [{"nodes": "0", "reasons": ["Drifted"]}])))


def test_n10_a_static_pool_is_not_consolidated() -> None:
    pool = changed(
        examples.training_pool(consolidationPolicy="WhenEmptyOrUnderutilized", consolidateAfter="0s"),
        "spec.replicas",
        2,
    )
    assert passes(judge("NODE013", pool))


def test_n10_nodes_that_carry_the_annotation_are_left_alone_but_expire() -> None:
    pool = changed(
        examples.training_pool(consolidationPolicy="WhenEmptyOrUnderutilized", consolidateAfter="0s", budgets=[]),
        "spec.template.metadata.annotations",
        {labels.DO_NOT_DISRUPT: "true"},
    )
    assert passes(judge("NODE013", pool))
    assert clauses(changed(pool, f"{SPEC}.expireAfter", "720h")) == {"d"}


# --- b: restart of a gang ---------------------------------------------------------------------------------------------


def test_n10_b_ten_minutes_are_enough_for_a_gang_to_restart_and_less_are_not() -> None:
    assert passes(judge("NODE013", examples.training_pool(consolidateAfter="10m"), GANG))
    report = judge("NODE013", examples.training_pool(consolidateAfter="9m59s"), GANG)
    assert complaint(report).startswith("clause b (restart): consolidateAfter is ")
    assert report.findings[0].level is Level.MANDATORY


def test_n10_b_a_budget_that_keeps_empty_nodes_keeps_those_of_a_gang_that_restarts() -> None:
    kept = [{"nodes": "0", "reasons": ["Empty", "Drifted"]}]
    assert passes(judge("NODE013", examples.training_pool(consolidateAfter="0s", budgets=kept), GANG))
    other = [{"nodes": "0", "reasons": ["Underutilized", "Drifted"]}]
    assert clauses(examples.training_pool(consolidateAfter="0s", budgets=other), GANG) == {"b"}


def test_n10_b_for_jobs_of_one_pod_it_is_advice() -> None:
    (finding,) = judge("NODE013", examples.training_pool(consolidateAfter="1m"), JOB).findings
    assert finding.level is Level.ADVISORY


def test_n10_b_left_out_it_is_at_once_and_never_is_never() -> None:
    assert "unset, which means 0 s" in complaint(
        judge("NODE013", changed(POOL, "spec.disruption.consolidateAfter", None), GANG)
    )
    assert passes(judge("NODE013", examples.training_pool(consolidateAfter="Never"), GANG))


# --- c and d: drift and expiry -------------------------------------------------------------------------------------


def test_n10_c_without_budgets_the_default_lets_one_node_go() -> None:
    pool = changed(POOL, "spec.disruption.budgets", None)
    assert "default of 10% rounds up to one node" in complaint(judge("NODE013", pool))
    assert passes(judge("NODE013", pool, STEADFAST))


@pytest.mark.parametrize(("grace", "holds"), [("72h", True), ("71h59m", False), (None, True)])
def test_n10_c_pods_that_refuse_hold_drift_back_for_the_grace_period(grace: str | None, holds: bool) -> None:
    node = {} if grace is None else {"terminationGracePeriod": grace}
    pool = examples.training_pool(budgets=[], node=node)
    assert clauses(pool, STEADFAST) == (set() if holds else {"c"})


def test_n10_d_pods_that_refuse_hold_expiry_back_for_the_grace_period() -> None:
    node = {"expireAfter": "24h", "terminationGracePeriod": "72h"}
    assert passes(judge("NODE013", examples.training_pool(node=node), STEADFAST))
    short = examples.training_pool(node={**node, "terminationGracePeriod": "1h"})
    assert "are waited for 1 h, a job runs 72 h" in complaint(judge("NODE013", short, STEADFAST))


@pytest.mark.parametrize(("age", "holds"), [("72h", True), ("71h", False)])
def test_n10_d_a_job_that_resumes_outlives_an_age_that_is_longer_than_itself(age: str, holds: bool) -> None:
    pool = examples.training_pool(node={"expireAfter": age})
    assert clauses(pool, JOB) == (set() if holds else {"d"})


def test_n10_d_a_job_that_does_not_resume_does_not() -> None:
    pool = examples.training_pool(node={"expireAfter": "720h"})
    assert clauses(pool, examples.training_job(emptyDir={})) == {"d"}


def test_n10_d_before_karpenter_1_the_age_was_said_beside_the_budgets() -> None:
    beta = examples.resource("kubernetes:karpenter.sh/v1beta1:NodePool", "p4d", POOL.props)
    beta = changed(changed(beta, f"{SPEC}.expireAfter", None), "spec.disruption.expireAfter", "24h")
    assert "expireAfter is 24 h and ignores budgets" in complaint(judge("NODE013", beta))


def test_n10_d_whether_it_resumes_may_have_to_be_left_open() -> None:
    pool = examples.training_pool(node={"expireAfter": "720h"})
    job = examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: ""})
    assert left_open(judge("NODE013", pool, job)) == [declarations.CHECKPOINT_MINUTES]


def test_n10_the_longest_job_is_what_it_declares_or_its_deadline() -> None:
    pool = examples.training_pool(node={"expireAfter": "24h"})
    declared = examples.training_job("finetune", {declarations.LONGEST_JOB_HOURS: "24"})
    assert passes(judge("NODE013", pool, declared))
    assert passes(judge("NODE013", pool, changed(JOB, "spec.activeDeadlineSeconds", 86400)))
    assert clauses(pool, changed(JOB, "spec.activeDeadlineSeconds", 86401)) == {"d"}


@pytest.mark.parametrize(("value", "refuses"), [("72h", True), ("71h", False), ("never", False)])
def test_n10_a_refusal_for_a_while_counts_if_it_is_as_long_as_the_job(value: str, refuses: bool) -> None:
    pool = examples.training_pool(budgets=[])
    assert clauses(pool, refusing(JOB, value)) == (set() if refuses else {"c"})


def test_n10_pods_without_gpus_refuse_for_nobody() -> None:
    launcher = {"containers": [{"name": "mpi", "image": "registry.example.com/x:1", "command": ["mpirun", "train.py"]}]}
    roles = {"Launcher": {"template": {"spec": launcher}}, "Worker": JOB.props["spec"]}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "bert", {"spec": {"mpiReplicaSpecs": roles}})
    assert clauses(examples.training_pool(budgets=[]), job) == {"c"}


def test_n10_a_pod_disruption_budget_that_lets_none_go_is_a_refusal() -> None:
    job = changed(GANG, "spec.template.metadata.labels", {"app": "finetune"})
    spec = {"minAvailable": 4, "selector": {"matchLabels": {"app": "finetune"}}}
    budget = examples.resource(tokens.POD_DISRUPTION_BUDGET, "gang", {"metadata": {"name": "gang"}, "spec": spec})
    pool = examples.training_pool(budgets=[])
    assert clauses(pool, job) == {"c"}
    assert clauses(pool, job, budget) == set()
    assert clauses(pool, job, changed(budget, "spec.minAvailable", 3)) == {"c"}


# --- e: time to save -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("grace", "save", "broken"), [(None, "30", False), (None, "31", True), (120, "120", False)])
def test_n10_e_a_pod_has_the_time_that_saving_takes(grace: int | None, save: str, broken: bool) -> None:
    job = examples.training_job("finetune", {declarations.CHECKPOINT_SAVE_SECONDS: save})
    job = changed(job, f"{SPEC}.terminationGracePeriodSeconds", grace)
    assert clauses(POOL, job) == ({"e"} if broken else set())


@pytest.mark.parametrize(("grace", "broken"), [(120, False), (121, True)])
def test_n10_e_a_spot_instance_gives_two_minutes(grace: int, broken: bool) -> None:
    job = changed(JOB, f"{SPEC}.terminationGracePeriodSeconds", grace)
    assert clauses(examples.training_pool(capacity=("spot", "on-demand")), job) == ({"e"} if broken else set())
    assert clauses(POOL, job) == set()


# --- which pools ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["training", "gpu-train", "fine-tuning"])
def test_a_pool_that_calls_itself_one_for_training_is_concerned(name: str) -> None:
    named = examples.resource(GENERAL.type, name, GENERAL.props)
    assert {"a", "c", "d"} <= clauses(named)


@pytest.mark.parametrize(
    "own",
    [
        {"workload": "inference"},
        {"workload": "inference", "team": "training-platform"},
        {"purpose": "serving"},
        {"workload": "development"},
    ],
)
def test_pools_for_something_else_may_consolidate(own: dict[str, str]) -> None:
    pool = changed(GENERAL, "spec.template.metadata", {"labels": own})
    assert not_concerned(judge("NODE013", pool))
    assert not_concerned(judge("NODE013", examples.node_pool(disruption={"consolidateAfter": "1m"})))


def test_a_pool_that_servers_use_and_nobody_trains_on_may_consolidate() -> None:
    server = examples.deployment(tolerations=[{"operator": "Exists"}])
    assert not_concerned(judge("NODE013", GENERAL, server))


def test_n10_unlabelled_pools_of_eight_gpu_nodes_are_concerned() -> None:
    only = changed(GENERAL, f"{SPEC}.requirements.0.values", ["p4d.24xlarge", "p5.48xlarge"])
    assert {"a", "b", "c", "d"} == clauses(only)
    said = judge("NODE013", only).findings[0].fix
    assert "if nothing trains there, say what the pool is for" in said


def test_n10_unlabelled_pools_of_eight_gpu_nodes_are_held_to_all_of_it_however_polite() -> None:
    only = changed(GENERAL, f"{SPEC}.requirements.0.values", ["p4d.24xlarge"])
    polite = changed(only, "spec.disruption", {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "15m"})
    report = judge("NODE013", polite)
    assert clauses(polite) == {"c", "d"}
    assert {finding.level for finding in report.findings} == {Level.MANDATORY}


def test_a_pool_of_all_sizes_that_gives_back_empty_nodes_only_is_not_concerned_like_karpenters_blueprint() -> None:
    polite = changed(GENERAL, "spec.disruption", {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "5m"})
    polite = changed(polite, f"{SPEC}.expireAfter", "720h")
    assert not_concerned(judge("NODE013", polite))


def test_n10_a_pool_that_empties_busy_nodes_and_buys_eight_gpus_gets_advice_like_a_public_one() -> None:
    report = judge("NODE013", GENERAL)
    patient = judge("NODE013", changed(GENERAL, f"{SPEC}.terminationGracePeriod", "72h"))
    assert {finding.level for finding in patient.findings} == {Level.ADVISORY}
    assert {"a", "d"} <= clauses(GENERAL)
    assert {finding.level for finding in report.findings} == {Level.ADVISORY}


def test_n10_a_pool_that_empties_busy_nodes_and_waits_half_an_hour_is_concerned_like_a_public_one() -> None:
    small = changed(GENERAL, f"{SPEC}.requirements.0.values", ["g5.xlarge"])
    assert not_concerned(judge("NODE013", small))
    assert not_concerned(judge("NODE013", changed(small, f"{SPEC}.terminationGracePeriod", "72h")))
    hasty = changed(small, f"{SPEC}.terminationGracePeriod", "30m")
    assert {"a", "c", "d"} <= clauses(hasty)
    assert {finding.level for finding in judge("NODE013", hasty).findings} == {Level.MANDATORY}


def test_n10_a_job_makes_its_pool_one_for_training_and_the_fix_says_how_to_keep_it_off() -> None:
    pool = examples.node_pool(types=("p4d.24xlarge",), disruption={"consolidateAfter": "1m"})
    report = judge("NODE013", pool, GANG)
    assert clauses(pool, GANG) == {"a", "b", "c"}
    assert "or keep finetune off this pool" in report.findings[0].fix


def test_n10_each_job_makes_those_pools_concerned_that_it_lands_on() -> None:
    servers = examples.node_pool(types=("g5.2xlarge",), disruption={"consolidateAfter": "1m"}), examples.node_class()
    assert messages(judge("NODE013", POOL, *servers, JOB)) == {}
    small = changed(examples.training_job("small"), f"{SPEC}.containers.0.resources.limits", {resources.GPU: "1"})
    assert messages(judge("NODE013", POOL, *servers, JOB, small)).keys() == {"g5"}


def test_a_pool_that_is_too_small_for_the_job_is_not_concerned() -> None:
    assert not_concerned(judge("NODE013", examples.node_pool(), examples.node_class(), JOB))


def test_a_job_that_does_not_say_what_it_does_gets_advice() -> None:
    batch = changed(JOB, f"{SPEC}.containers.0.command", ["python", "run.py"])
    batch = changed(batch, f"{SPEC}.containers.0.image", "registry.example.com/team/batch:1")
    batch = examples.resource(batch.type, "nightly", changed(batch, "metadata.name", "nightly").props)
    pool = examples.node_pool(types=("p4d.24xlarge",), disruption={"consolidateAfter": "1m"})
    report = judge("NODE013", pool, batch)
    assert report.findings
    assert {finding.level for finding in report.findings} == {Level.ADVISORY}


@pytest.mark.parametrize(
    ("image", "deadline"), [("public.ecr.aws/hpc-cloud/nccl-tests:1", None), ("registry.example.com/finetune:1", 3600)]
)
def test_tests_of_the_network_and_short_jobs_leave_a_pool_what_it_is(image: str, deadline: int | None) -> None:
    job = changed(changed(JOB, f"{SPEC}.containers.0.image", image), "spec.activeDeadlineSeconds", deadline)
    job = changed(job, f"{SPEC}.containers.0.command", ["all_reduce_perf", "-b", "8"])
    job = examples.resource(job.type, "probe", changed(job, "metadata.name", "probe").props)
    pool = examples.node_pool(types=("p4d.24xlarge",), disruption={"consolidateAfter": "1m"})
    assert not_concerned(judge("NODE013", pool, job))


def test_pools_without_gpus_are_not_concerned() -> None:
    cpu = changed(POOL, f"{SPEC}.requirements.0.values", ["m7i.large"])
    assert not_concerned(judge("NODE013", cpu))


# --- what is not known ----------------------------------------------------------------------------------------------


def test_each_clause_is_left_open_by_itself() -> None:
    assert left_open(judge("NODE013", unknown(POOL, f"{SPEC}.expireAfter"))) == [f"{SPEC}.expireAfter"]
    assert left_open(judge("NODE013", unknown(POOL, "spec.disruption.consolidateAfter"))) == [
        "spec.disruption.consolidateAfter"
    ]
    report = judge("NODE013", unknown(changed(POOL, f"{SPEC}.expireAfter", "720h"), "spec.disruption.budgets"))
    assert complaint(report).startswith("clause d")
    assert report.not_evaluated


def test_a_budget_that_is_known_to_hold_holds_beside_one_that_is_not_known() -> None:
    assert passes(judge("NODE013", examples.training_pool(budgets=[UNKNOWN, {"nodes": "0"}])))
