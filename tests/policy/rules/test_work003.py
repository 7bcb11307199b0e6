"""WORK003: GPU requests equal limits, whole."""

from __future__ import annotations

import pytest

from eks_gpu.facts import resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes


def server(requests: object = None, limits: object = None, name: str = resources.GPU) -> Resource:
    asked = {
        kind: {name: amount, "memory": "8Gi"}
        for kind, amount in (("requests", requests), ("limits", limits))
        if amount is not None
    }
    return examples.deployment(examples.container(resources=asked))


@pytest.mark.parametrize("limits", ["1", 1, "8", "1k"])
def test_w01_a_whole_limit_alone_passes(limits: object) -> None:
    assert passes(judge("WORK003", server(limits=limits)))


def test_w01_an_equal_request_passes_however_it_is_written() -> None:
    assert passes(judge("WORK003", server(requests="2", limits=2)))


def test_w01_a_request_without_limit_fails() -> None:
    assert complaint(judge("WORK003", server(requests="1"))) == (
        "container server asks nvidia.com/gpu as a request of 1 without a limit"
    )


def test_w01_an_unequal_request_fails() -> None:
    assert "a request of 1 and a limit of 2; they must be equal" in complaint(
        judge("WORK003", server(requests="1", limits="2"))
    )


@pytest.mark.parametrize("amount", ["0.5", "500m", 0.5, "half", "-1"])
def test_w01_what_is_no_whole_number_fails(amount: object) -> None:
    assert "which is no whole number" in complaint(judge("WORK003", server(limits=amount)))


def test_w01_no_gpus_at_all_are_a_whole_number() -> None:
    none = {"name": "proxy", "image": "envoy:1", "resources": {"limits": {resources.GPU: "0"}}}
    assert passes(judge("WORK003", examples.deployment(examples.container(), none)))


@pytest.mark.parametrize("amount", ["NUM_GPUS", "{{workflow.parameters.gpus}}", "${GPUS}", "<gpus>"])
def test_an_amount_that_is_filled_in_later_is_left_open(amount: str) -> None:
    assert left_open(judge("WORK003", server(limits=amount))) == ["resources"]
    assert left_open(judge("WORK003", server(requests=amount))) == ["resources"]


def test_w01_slices_and_network_adapters_count_too() -> None:
    assert "asks nvidia.com/mig-1g.5gb" in complaint(
        judge("WORK003", server(requests="1", name=resources.mig("1g.5gb")))
    )
    container = examples.container(resources={"limits": {resources.GPU: "8"}, "requests": {resources.EFA: "4"}})
    assert "asks vpc.amazonaws.com/efa" in complaint(judge("WORK003", examples.deployment(container)))


def test_w01_init_containers_count_too() -> None:
    warm = examples.container(name="warm", resources={"requests": {resources.GPU: "1"}})
    report = judge("WORK003", examples.deployment(initContainers=[warm]))
    assert messages(report) == {"llm": ["container warm asks nvidia.com/gpu as a request of 1 without a limit"]}


def test_cpu_and_memory_may_differ() -> None:
    container = examples.container(resources={"requests": {"cpu": "1"}, "limits": {resources.GPU: "1", "cpu": "2"}})
    assert passes(judge("WORK003", examples.deployment(container)))


@pytest.mark.parametrize(
    ("token", "template"),
    [
        ("kubernetes:core/v1:Pod", "spec"),
        ("kubernetes:batch/v1:CronJob", "spec.jobTemplate.spec.template.spec"),
        ("kubernetes:kubeflow.org/v1:PyTorchJob", "spec.pytorchReplicaSpecs.Worker.template.spec"),
        ("kubernetes:ray.io/v1:RayCluster", "spec.workerGroupSpecs[0].template.spec"),
        ("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", "spec.replicatedJobs[0].template.spec.template.spec"),
    ],
)
def test_pod_templates_are_found_wherever_they_are(token: str, template: str) -> None:
    props: object = {"containers": [examples.container(resources={"requests": {resources.GPU: "1"}})]}
    for key in reversed(template.split(".")):
        props = {key[:-3]: [props]} if key.endswith("[0]") else {key: props}
    assert isinstance(props, dict)
    report = judge("WORK003", examples.resource(token, "work", props))
    assert [(finding.resource, finding.path) for finding in report.findings] == [("work", template)]


def test_unknown_limits_are_left_open() -> None:
    container = examples.container(resources={"limits": UNKNOWN})
    assert left_open(judge("WORK003", examples.deployment(container))) == [
        "spec.template.spec.containers[0].resources.limits"
    ]


def test_pods_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("WORK003", examples.deployment(examples.container(resources={"limits": {"cpu": "1"}}))))
    assert not_concerned(judge("WORK003", examples.node_group()))


def test_objects_that_only_talk_about_pods_are_not_concerned() -> None:
    pattern = {"spec": {"rules": [{"validate": {"pattern": server(requests="1").props["spec"]}}]}}
    assert not_concerned(judge("WORK003", examples.resource("kubernetes:kyverno.io/v1:ClusterPolicy", "p", pattern)))
