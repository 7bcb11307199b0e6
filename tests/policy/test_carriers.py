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
    (pod,) = Stack((train_job(**{spelling: [change, elsewhere]}),)).pods
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
