"""WORK012: replicas and gangs have a working PodDisruptionBudget."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, messages, not_concerned, passes, unknown


def servers(count: object = 2, **metadata: object) -> Resource:
    made = changed(examples.deployment(), "spec.replicas", count)
    return changed(made, "metadata", {"name": "llm", **metadata})


def budget(selector: object = None, namespace: str | None = None, /, **limits: object) -> Resource:
    wanted = {"matchLabels": {"app": "llm"}} if selector is None else selector
    where = {} if namespace is None else {"namespace": namespace}
    spec = {**(limits or {"maxUnavailable": 1}), "selector": wanted}
    return examples.resource(
        tokens.POD_DISRUPTION_BUDGET, "budget", {"metadata": {"name": "budget", **where}, "spec": spec}
    )


def gang(workers: int = 4) -> Resource:
    box = {"name": "p", "image": "registry.example.com/llama:2", "resources": {"limits": {resources.GPU: 8}}}
    worker = {
        "replicas": workers,
        "template": {"metadata": {"labels": {"job": "llama"}}, "spec": {"containers": [box]}},
    }
    props = {"metadata": {"name": "llama"}, "spec": {"pytorchReplicaSpecs": {"Worker": worker}}}
    return examples.resource("kubernetes:kubeflow.org/v1:PyTorchJob", "llama", props)


def test_w09_two_replicas_with_a_budget_pass() -> None:
    assert passes(judge("WORK012", servers(), budget()))


def test_w09_two_replicas_without_one_fail_and_the_fix_says_what_to_select() -> None:
    (finding,) = judge("WORK012", servers(2)).findings
    assert finding.message.startswith("has 2 replicas and no PodDisruptionBudget")
    assert finding.fix == "make a PodDisruptionBudget with maxUnavailable 1 in the pods' namespace: select app: llm"
    assert finding.level is Level.MANDATORY
    (mild,) = judge("WORK012", servers(2), environment=Environment.STAGING).findings
    assert mild.level is Level.ADVISORY


@pytest.mark.parametrize("count", [0, 1, None])
def test_one_replica_needs_none(count: int | None) -> None:
    assert not_concerned(judge("WORK012", servers(count)))


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "llm"}, "matchExpressions": [{"key": "app", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["llm", "other"]}]},
        {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]},
        {},
    ],
)
def test_w09_selectors_are_read_as_kubernetes_reads_them(selector: dict[str, object]) -> None:
    assert passes(judge("WORK012", servers(), budget(selector)))


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "web"}},
        {"matchLabels": {"app": "llm", "team": "a"}},
        {"matchLabels": {"app": "llm"}, "matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["llm"]}]},
        {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
    ],
)
def test_w09_a_budget_that_selects_something_else_is_none(selector: dict[str, object]) -> None:
    assert "has 2 replicas and no PodDisruptionBudget" in complaint(judge("WORK012", servers(), budget(selector)))


def test_w09_a_budget_without_a_selector_selects_nothing() -> None:
    assert "no PodDisruptionBudget" in complaint(judge("WORK012", servers(), changed(budget(), "spec.selector", None)))


def test_w09_a_budget_of_another_namespace_is_none() -> None:
    assert "no PodDisruptionBudget" in complaint(judge("WORK012", servers(namespace="serving"), budget(None, "web")))
    assert passes(judge("WORK012", servers(namespace="serving"), budget(None, "serving")))
    assert passes(judge("WORK012", servers(), budget(None, "default")))


@pytest.mark.parametrize(
    ("limits", "count", "works"),
    [
        ({"maxUnavailable": 0}, 2, False),
        ({"maxUnavailable": "0%"}, 2, False),
        ({"maxUnavailable": "1%"}, 2, True),
        ({"minAvailable": 2}, 2, False),
        ({"minAvailable": 1}, 2, True),
        ({"minAvailable": 1}, 1, False),
        ({"minAvailable": "100%"}, 3, False),
        ({"minAvailable": "50%"}, 2, True),
        ({"minAvailable": "51%"}, 2, False),
        ({"minAvailable": "67%"}, 3, False),
        ({"minAvailable": "66%"}, 3, True),
    ],
)
def test_w09_a_budget_that_never_lets_a_server_go_fails(limits: dict[str, object], count: int, works: bool) -> None:
    report = judge("WORK012", servers(count), budget(**limits))
    if works:
        assert passes(report)
    else:
        assert messages(report).keys() == {"budget"}
        assert f"never lets one of {count} replica" in complaint(report)


@pytest.mark.parametrize("limits", [{}, {"minAvailable": "many"}])
def test_w09_a_budget_that_says_nothing_of_use_holds_nobody(limits: dict[str, object]) -> None:
    made = budget()
    spec = {"selector": {"matchLabels": {"app": "llm"}}, **limits}
    assert passes(judge("WORK012", servers(), dataclasses.replace(made, props={**made.props, "spec": spec})))


def test_w09_a_namespace_that_has_no_name_yet_is_the_same_for_both() -> None:
    home = examples.resource(tokens.NAMESPACE, "serving", {})
    inside = {"metadata": frozenset({home.urn})}
    server = dataclasses.replace(servers(namespace=UNKNOWN), property_dependencies=inside)
    there = changed(budget(), "metadata.namespace", UNKNOWN)
    assert passes(judge("WORK012", home, server, dataclasses.replace(there, property_dependencies=inside)))
    assert "no PodDisruptionBudget" in complaint(judge("WORK012", home, server, budget()))


def test_w09_what_scales_a_server_says_how_many_there_are() -> None:
    target = {"kind": "Deployment", "name": "llm"}
    scaler = examples.resource(
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
        "llm",
        {"spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 6}},
    )
    assert "has 2 replicas" in complaint(judge("WORK012", servers(None), scaler))
    assert passes(judge("WORK012", servers(None), scaler, budget(minAvailable=2)))
    assert "never lets one of 6" in complaint(judge("WORK012", servers(None), scaler, budget(minAvailable=6)))
    keda = examples.resource(
        "kubernetes:keda.sh/v1alpha1:ScaledObject", "llm", {"spec": {"scaleTargetRef": {"name": "llm"}}}
    )
    assert not_concerned(judge("WORK012", servers(None), keda))


def test_w09_what_scales_a_server_whose_name_is_not_known_yet_is_joined_by_what_it_was_computed_from() -> None:
    target = {"kind": "Deployment", "name": UNKNOWN}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 6}
    unnamed = changed(servers(None), "metadata.name", UNKNOWN)
    scaler = examples.resource("kubernetes:autoscaling/v2:HorizontalPodAutoscaler", "x", {"spec": spec})
    assert not_concerned(judge("WORK012", unnamed, scaler))
    joined = dataclasses.replace(scaler, property_dependencies={"spec": frozenset({unnamed.urn})})
    assert "has 2 replicas" in complaint(judge("WORK012", unnamed, joined))
    assert left_open(judge("WORK012", unnamed, unknown(joined, "spec.minReplicas"))) == ["spec.minReplicas"]


def scaler(kind: str, minimum: str, target: dict[str, str], least: int | None = 2) -> Resource:
    spec = {"scaleTargetRef": target, **({} if least is None else {minimum: least})}
    return examples.resource(f"kubernetes:{kind}", "scaler", {"spec": spec})


@pytest.mark.parametrize(
    ("kind", "minimum"),
    [("autoscaling/v2:HorizontalPodAutoscaler", "minReplicas"), ("keda.sh/v1alpha1:ScaledObject", "minReplicaCount")],
)
def test_w09_scalers_name_their_target_as_the_cluster_does(kind: str, minimum: str) -> None:
    named = changed(servers(None), "metadata.name", "llm-server")
    assert "has 2 replicas" in complaint(
        judge("WORK012", named, scaler(kind, minimum, {"kind": "Deployment", "name": "llm-server"}))
    )
    assert not_concerned(judge("WORK012", named, scaler(kind, minimum, {"kind": "Deployment", "name": "llm"})))
    left_to_pulumi = changed(servers(None), "metadata", {})
    assert "has 2 replicas" in complaint(judge("WORK012", left_to_pulumi, scaler(kind, minimum, {"name": "llm"})))
    stateful = dataclasses.replace(servers(None), type="kubernetes:apps/v1:StatefulSet")
    target = {"kind": "StatefulSet", "name": "llm"}
    assert "has 2 replicas" in complaint(judge("WORK012", stateful, scaler(kind, minimum, target)))
    assert not_concerned(judge("WORK012", servers(3), scaler(kind, minimum, {"name": "llm"}, None)))


def test_w09_groups_that_serve_together_count_as_one_replica() -> None:
    pods = {"size": 4, "workerTemplate": {"spec": {"containers": [examples.container()]}}}
    group = examples.resource(
        "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
        "llm",
        {"metadata": {"name": "llm"}, "spec": {"replicas": 1, "leaderWorkerTemplate": pods}},
    )
    assert not_concerned(judge("WORK012", group))
    assert not_concerned(judge("WORK012", changed(group, "spec.replicas", None)))
    assert "has 2 replicas" in complaint(judge("WORK012", changed(group, "spec.replicas", 2)))
    own = {"matchLabels": {labels.OWNER_NAME["LeaderWorkerSet"][0]: "llm"}}
    assert passes(judge("WORK012", changed(group, "spec.replicas", 2), budget(own)))


def test_w09_leader_and_workers_of_a_group_are_judged_once() -> None:
    pods = {"spec": {"containers": [examples.container()]}}
    parts = {"size": 2, "leaderTemplate": pods, "workerTemplate": pods}
    group = examples.resource(
        "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
        "llm",
        {"metadata": {"name": "llm"}, "spec": {"replicas": 2, "leaderWorkerTemplate": parts}},
    )
    assert "has 2 replicas and no PodDisruptionBudget" in complaint(judge("WORK012", group))
    place = "spec.leaderWorkerTemplate.leaderTemplate"
    led = changed(group, f"{place}.metadata", {"labels": {"role": "leader"}})
    assert passes(judge("WORK012", led, budget({"matchLabels": {"role": "leader"}})))
    alone = changed(group, place, {})
    assert "has 2 replicas and no PodDisruptionBudget" in complaint(judge("WORK012", alone))


def test_w09_pods_of_ray_have_no_scale_so_that_a_budget_says_how_many_stay() -> None:
    group = {"groupName": "gpu", "replicas": 3, "template": {"spec": {"containers": [examples.container()]}}}
    service = examples.resource(
        "kubernetes:ray.io/v1:RayService", "llm", {"spec": {"rayClusterConfig": {"workerGroupSpecs": [group]}}}
    )
    (finding,) = judge("WORK012", service).findings
    assert finding.fix.startswith("make a PodDisruptionBudget with minAvailable 2 in the pods' namespace")


# --- gangs ------------------------------------------------------------------------------------------------------------


def test_w09_a_gang_has_a_budget_or_refuses_to_go() -> None:
    (finding,) = judge("WORK012", gang()).findings
    assert "trains with 4 pods and has no PodDisruptionBudget" in finding.message
    assert finding.fix.startswith("make a PodDisruptionBudget with minAvailable 4 in the pods' namespace")
    assert passes(judge("WORK012", gang(), budget({"matchLabels": {"job": "llama"}}, minAvailable=4)))
    place = "spec.pytorchReplicaSpecs.Worker.template.metadata.annotations"
    assert passes(judge("WORK012", changed(gang(), place, {labels.DO_NOT_DISRUPT: "true"})))
    assert passes(judge("WORK012", changed(gang(), place, {labels.DO_NOT_DISRUPT: "24h"})))
    assert "no PodDisruptionBudget" in complaint(
        judge("WORK012", changed(gang(), place, {labels.DO_NOT_DISRUPT: "false"}))
    )


def test_w09_a_budget_may_select_a_gang_by_the_label_that_its_controller_sets() -> None:
    key = labels.OWNER_NAME["PyTorchJob"][0]
    assert passes(judge("WORK012", gang(), budget({"matchLabels": {key: "llama"}}, minAvailable=4)))
    assert "no PodDisruptionBudget" in complaint(judge("WORK012", gang(), budget({"matchLabels": {key: "bert"}})))
    role = budget({"matchLabels": {"training.kubeflow.org/replica-type": "worker"}})
    assert left_open(judge("WORK012", gang(), role)) != []
    unnamed = changed(gang(), "metadata.name", UNKNOWN)
    assert left_open(judge("WORK012", unnamed, budget({"matchLabels": {key: "llama"}}))) != []
    assert "no PodDisruptionBudget" in complaint(
        judge("WORK012", unnamed, budget({"matchLabels": {key: "llama"}}, "elsewhere"))
    )
    job = changed(changed(examples.training_job(), "spec.parallelism", 4), "metadata.name", UNKNOWN)
    assert left_open(judge("WORK012", job, budget({"matchLabels": {labels.OWNER_NAME["Job"][1]: "finetune"}}))) != []


@pytest.mark.parametrize(("completions", "together"), [(None, True), (4, True), (5, False), (UNKNOWN, True)])
def test_pods_of_a_job_that_come_one_after_the_other_are_no_gang(completions: object, *, together: bool) -> None:
    sweep = changed(examples.training_job("finetune"), "spec.parallelism", 4)
    sweep = changed(sweep, "spec.completions", completions)
    report = judge("WORK012", sweep)
    assert ("trains with 4 pods" in str(messages(report))) is together
    assert not_concerned(report) is not together


def test_w09_pods_are_counted_on_the_way_from_the_object_to_the_template() -> None:
    box = {"name": "t", "image": "registry.example.com/llama:2", "resources": {"limits": {resources.GPU: 8}}}
    inner = {"parallelism": 4, "template": {"spec": {"containers": [box]}}}
    jobs = {"replicatedJobs": [{"name": "workers", "replicas": 2, "template": {"spec": inner}}]}
    job_set = examples.resource("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", "llama", {"spec": jobs})
    assert "trains with 8 pods" in complaint(judge("WORK012", job_set))


def test_one_pod_is_no_gang_and_tests_and_jobs_that_may_be_anything_are_not_concerned() -> None:
    assert not_concerned(judge("WORK012", gang(workers=1)))
    image = "spec.pytorchReplicaSpecs.Worker.template.spec.containers.0.image"
    assert not_concerned(judge("WORK012", changed(gang(), image, "nccl-tests:1")))
    batch = changed(examples.training_job("nightly"), "spec.parallelism", 4)
    batch = changed(batch, "spec.template.spec.containers.0.command", ["python", "run.py"])
    assert not_concerned(judge("WORK012", changed(batch, "spec.template.spec.containers.0.image", "x:1")))


def test_servers_without_gpus_are_not_concerned() -> None:
    web = changed(servers(), "spec.template.spec.containers.0.resources", {})
    assert not_concerned(judge("WORK012", web))


# --- what is not known ----------------------------------------------------------------------------------------------


def test_what_is_not_known_leaves_it_open() -> None:
    assert left_open(judge("WORK012", unknown(servers(), "spec.replicas"), budget())) == ["spec.replicas"]
    place = "spec.template.metadata.labels"
    assert place in left_open(judge("WORK012", unknown(servers(), place), budget()))
    assert left_open(judge("WORK012", servers(), unknown(budget(), "spec.selector"))) == ["spec.selector"]
    assert left_open(judge("WORK012", servers(), unknown(budget(), "spec.maxUnavailable"))) == ["spec.maxUnavailable"]


def test_manifests_alone_do_not_tell_that_there_is_none() -> None:
    report = evaluate(
        (servers(),),
        environment=Environment.PROD,
        rules=(BY_ID["WORK012"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert left_open(report) == ["spec.selector"]
