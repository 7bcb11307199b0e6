"""Pod templates in whatever carries one: the same mistake is found in each."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from eks_gpu.facts import resources
from eks_gpu.planning.pod_template import WorkloadKind
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import complaint, judge, left_open, not_concerned, passes

HALF = {"limits": {resources.GPU: "0.5"}}
POD = {"containers": [{"name": "main", "image": "x:1", "resources": HALF}]}
TEMPLATE = {"template": {"spec": POD}}
IN_JOB = {"spec": TEMPLATE}

CARRIERS: dict[str, tuple[Mapping[str, object], WorkloadKind]] = {
    "core/v1:Pod": (POD, WorkloadKind.OTHER),
    "apps/v1:Deployment": (TEMPLATE, WorkloadKind.INFERENCE),
    "apps/v1:StatefulSet": (TEMPLATE, WorkloadKind.INFERENCE),
    "apps/v1:DaemonSet": (TEMPLATE, WorkloadKind.OTHER),
    "apps/v1:ReplicaSet": (TEMPLATE, WorkloadKind.OTHER),
    "batch/v1:Job": (TEMPLATE, WorkloadKind.TRAINING),
    "batch/v1:CronJob": ({"schedule": "@daily", "jobTemplate": IN_JOB}, WorkloadKind.OTHER),
    "jobset.x-k8s.io/v1alpha2:JobSet": (
        {"replicatedJobs": [{"name": "workers", "template": IN_JOB}]},
        WorkloadKind.TRAINING,
    ),
    "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet": (
        {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": POD}}},
        WorkloadKind.INFERENCE,
    ),
    "ray.io/v1:RayCluster": ({"workerGroupSpecs": [{"groupName": "gpu", **TEMPLATE}]}, WorkloadKind.OTHER),
    "ray.io/v1:RayJob": ({"rayClusterSpec": {"headGroupSpec": TEMPLATE}}, WorkloadKind.OTHER),
    "ray.io/v1:RayService": (
        {"rayClusterConfig": {"workerGroupSpecs": [{"groupName": "gpu", **TEMPLATE}]}},
        WorkloadKind.INFERENCE,
    ),
    "kubeflow.org/v1:PyTorchJob": ({"pytorchReplicaSpecs": {"Worker": TEMPLATE}}, WorkloadKind.TRAINING),
    "kubeflow.org/v2beta1:MPIJob": ({"mpiReplicaSpecs": {"Worker": TEMPLATE}}, WorkloadKind.TRAINING),
    "trainer.kubeflow.org/v1alpha1:TrainJob": (
        {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"image": "x:1", "resourcesPerNode": HALF}},
        WorkloadKind.TRAINING,
    ),
    "serving.kserve.io/v1beta1:InferenceService": (
        {"predictor": {"model": {"modelFormat": {"name": "huggingface"}, "resources": HALF}}},
        WorkloadKind.INFERENCE,
    ),
    "serving.kserve.io/v1alpha1:ServingRuntime": (POD, WorkloadKind.INFERENCE),
    "argoproj.io/v1alpha1:Workflow": (
        {"templates": [{"name": "train", "container": {"image": "x:1", "resources": HALF}}]},
        WorkloadKind.OTHER,
    ),
    "argoproj.io/v1alpha1:WorkflowTemplate": (
        {"templates": [{"name": "train", "script": {"image": "x:1", "resources": HALF}}]},
        WorkloadKind.OTHER,
    ),
    "example.com/v1:SomethingNew": ({"roles": {"worker": {"podTemplate": {"spec": POD}}}}, WorkloadKind.OTHER),
}


def carrier(token: str, spec: object) -> Resource:
    return examples.resource(f"kubernetes:{token}", "work", {"metadata": {"name": "work"}, "spec": spec})


@pytest.mark.parametrize("token", CARRIERS)
def test_w01_half_a_gpu_is_found_in_every_kind(token: str) -> None:
    spec, kind = CARRIERS[token]
    assert "which is no whole number" in complaint(judge("WORK003", carrier(token, spec)))
    (pod,) = Stack((carrier(token, spec),)).pods
    assert pod.kind is kind


@pytest.mark.parametrize("token", CARRIERS)
def test_a_spec_that_is_not_known_yet_is_never_a_pass(token: str) -> None:
    if token.endswith("SomethingNew"):
        assert not_concerned(judge("WORK003", carrier(token, UNKNOWN)))
    else:
        assert left_open(judge("WORK003", carrier(token, UNKNOWN)))


@pytest.mark.parametrize(
    ("token", "spec", "path"),
    [
        ("apps/v1:Deployment", {"replicas": 2, "template": UNKNOWN}, "spec.template"),
        ("apps/v1:Deployment", {"template": {"metadata": {}, "spec": UNKNOWN}}, "spec.template.spec"),
        ("apps/v1:Deployment", {"template": {"spec": {"containers": UNKNOWN}}}, "spec.template.spec"),
        ("batch/v1:CronJob", {"jobTemplate": {"spec": UNKNOWN}}, "spec.jobTemplate.spec"),
        ("core/v1:Pod", UNKNOWN, "spec"),
        ("serving.kserve.io/v1beta1:InferenceService", {"predictor": UNKNOWN}, "spec.predictor"),
        ("trainer.kubeflow.org/v1alpha1:TrainJob", {"trainer": UNKNOWN}, "spec.trainer"),
        ("trainer.kubeflow.org/v1alpha1:TrainJob", UNKNOWN, "spec"),
        ("argoproj.io/v1alpha1:Workflow", {"templates": UNKNOWN}, "spec.templates"),
    ],
)
def test_where_something_is_not_known_a_pod_is_there_of_which_nothing_is_known(
    token: str, spec: object, path: str
) -> None:
    (pod,) = Stack((carrier(token, spec),)).pods
    assert pod.path == path
    assert isinstance(pod.containers, NotKnown)
    assert pod.containers.source == pod.urn


@pytest.mark.parametrize(
    ("token", "spec"),
    [
        ("apps/v1:Deployment", 7),
        ("apps/v1:Deployment", {"template": 7}),
        ("apps/v1:Deployment", {"template": {"spec": {"containers": []}}}),
        ("serving.kserve.io/v1beta1:InferenceService", {"predictor": 7}),
        ("serving.kserve.io/v1beta1:InferenceService", {"predictor": {}}),
        ("trainer.kubeflow.org/v1alpha1:TrainJob", {"trainer": 7}),
        ("argoproj.io/v1alpha1:Workflow", {"templates": [7, {"container": "x"}]}),
    ],
)
def test_what_is_no_pod_is_none(token: str, spec: object) -> None:
    stack = Stack((carrier(token, spec),))
    assert stack.pods == ()
    assert stack.unreadable == []


NAMED = {"metadata": {"name": "work", "labels": {"team": "a"}}}
STEP = {"name": "s", "metadata": {"labels": {"team": "a"}}, "container": {"image": "x:1"}}


@pytest.mark.parametrize(
    ("token", "props", "path", "container"),
    [
        ("argoproj.io/v1alpha1:Workflow", {"spec": {"templates": [STEP]}}, "spec.templates[0]", "container"),
        (
            "serving.kserve.io/v1beta1:InferenceService",
            {**NAMED, "spec": {"predictor": {"model": {"resources": {}}}}},
            "spec.predictor",
            "kserve-container",
        ),
        (
            "trainer.kubeflow.org/v1alpha1:TrainJob",
            {**NAMED, "spec": {"trainer": {"image": "x:1", "resourcesPerNode": {}}}},
            "spec",
            "node",
        ),
    ],
)
def test_pods_in_words_of_their_own_have_labels_a_place_and_a_container(
    token: str, props: Mapping[str, object], path: str, container: str
) -> None:
    work = examples.resource(f"kubernetes:{token}", "work", props)
    (pod,) = Stack((work,)).pods
    assert need(pod.labels) == {"team": "a"}
    assert (pod.spec.source, pod.spec.path) == (work.urn, path)
    assert [box.name for box in need(pod.containers)] == [container]


@pytest.mark.parametrize(
    "token", ["serving.kserve.io/v1beta1:InferenceService", "trainer.kubeflow.org/v1alpha1:TrainJob"]
)
def test_labels_are_known_of_a_pod_of_which_nothing_else_is(token: str) -> None:
    key = "predictor" if "kserve" in token else "trainer"
    (pod,) = Stack((examples.resource(f"kubernetes:{token}", "work", {**NAMED, "spec": {key: UNKNOWN}}),)).pods
    assert need(pod.labels) == {"team": "a"}


def test_volumes_of_a_workflow_that_are_not_known_hide_no_step() -> None:
    spec = {"volumes": UNKNOWN, "templates": [{**STEP, "volumes": [{"name": "a"}], "sidecars": UNKNOWN}]}
    (pod,) = Stack((carrier("argoproj.io/v1alpha1:Workflow", spec),)).pods
    assert [volume.name for volume in need(pod.volumes)] == ["a"]


# --- what is left to a runtime --------------------------------------------------------------------------------------


def service(**predictor: object) -> Resource:
    return carrier("serving.kserve.io/v1beta1:InferenceService", {"predictor": predictor})


def test_a_predictor_with_containers_is_a_pod_and_nothing_is_left_to_a_runtime() -> None:
    (pod,) = Stack((service(**POD),)).pods
    assert need(pod.tolerations) == ()


def test_what_a_runtime_may_set_is_not_known() -> None:
    limits = {"limits": {resources.GPU: "1"}}
    wanted = {"kubernetes.io/arch": "amd64"}
    (pod,) = Stack((service(nodeSelector=wanted, model={"modelFormat": {"name": "x"}, "resources": limits}),)).pods
    assert pod.asks_gpu
    assert [item.key for item in need(pod.selector)] == list(wanted)
    assert isinstance(pod.tolerations, NotKnown)
    assert isinstance(need(pod.containers)[0].image, NotKnown)
    assert passes(judge("WORK003", service(model={"modelFormat": {"name": "x"}, "resources": limits})))


def train_job(**spec: object) -> Resource:
    limits = {"limits": {resources.GPU: "8"}}
    return carrier(
        "trainer.kubeflow.org/v1alpha1:TrainJob",
        {"trainer": {"image": "x:1", "numNodes": 2, "resourcesPerNode": limits}, **spec},
    )


@pytest.mark.parametrize("spelling", ["podTemplateOverrides", "podSpecOverrides"])
def test_what_a_train_job_changes_in_its_pods_is_read_and_is_no_pod_of_its_own(spelling: str) -> None:
    pod_spec = {
        "tolerations": [{"key": "team", "operator": "Exists"}],
        "containers": [{"name": "node", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
    }
    change = {"targetJobs": [{"name": "node"}], **({"spec": pod_spec} if "Template" in spelling else pod_spec)}
    elsewhere = {"targetJobs": [{"name": "dataset-initializer"}], "spec": {"tolerations": [{"operator": "Exists"}]}}
    (pod,) = Stack((train_job(**{spelling: [elsewhere, change, elsewhere]}),)).pods
    assert [item.key for item in need(pod.tolerations)] == ["team"]
    (container,) = need(pod.containers)
    assert [mount.path for mount in need(container.mounts)] == ["/data"]
    assert container.asks_gpu


# --- workflows ------------------------------------------------------------------------------------------------------


def test_what_a_workflow_says_of_all_its_pods_holds_for_each_step() -> None:
    spec = {
        "nodeSelector": {"workload": "training"},
        "tolerations": [{"key": "team", "operator": "Exists"}],
        "volumeClaimTemplates": [{"metadata": {"name": "out"}}],
        "templates": [
            {"name": "train", "container": {"image": "x:1"}, "nodeSelector": {"workload": "development"}},
            {"name": "test", "container": {"image": "x:1"}},
            {"name": "all", "dag": {}},
        ],
    }
    first, second = Stack((carrier("argoproj.io/v1alpha1:Workflow", spec),)).pods
    assert [item.values for item in need(first.selector)] == [("development",)]
    assert [item.values for item in need(second.selector)] == [("training",)]
    assert [item.key for item in need(second.tolerations)] == ["team"]
    (volume,) = need(second.volumes)
    assert volume.claim == "out"


def test_the_sidecars_of_a_step_are_containers_of_its_pod() -> None:
    step = {"name": "train", "container": {"image": "x:1"}, "sidecars": [{"name": "db", "image": "y:1"}]}
    (pod,) = Stack((carrier("argoproj.io/v1alpha1:Workflow", {"templates": [step]}),)).pods
    assert [container.name for container in need(pod.containers)] == ["container", "db"]
