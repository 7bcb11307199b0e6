"""Shapes of public manifests that compute nothing for anybody, or claim devices that are no GPUs."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes

JOB = "kubernetes:batch/v1:Job"
TEMPLATE = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"
ONE_GPU = {"limits": {resources.GPU: 1}}


def job(image: str, *args: str, owner: str = JOB) -> Resource:
    box = {"name": "main", "image": image, "args": list(args), "resources": ONE_GPU}
    pod = {"spec": {"containers": [box], "restartPolicy": "Never"}}
    spec: dict[str, object] = {"template": pod}
    if owner != JOB:
        spec = {"mpiReplicaSpecs": {"Worker": {"replicas": 2, "template": pod}}}
    return examples.resource(owner, "dummy", {"metadata": {"name": "dummy"}, "spec": spec})


@pytest.mark.parametrize("rule", ["WORK005", "WORK009", "WORK010"])
@pytest.mark.parametrize(
    ("image", "args"),
    [
        ("registry.k8s.io/e2e-test-images/agnhost:2.53", ["pause"]),
        ("gcr.io/k8s-staging-perf-tests/sleep:v1", ["60s"]),
        ("busybox:1.36", ["/bin/sh", "-c", "sleep infinity"]),
        ("ubuntu:22.04", ["bash", "-c", "export; trap 'exit 0' TERM; sleep 9999 & wait"]),
        ("registry.example.com/gpu-burn:v2", ["./gpu_burn", "600"]),
    ],
)
def test_a_job_that_only_takes_a_gpu_needs_no_memory_checkpoint_or_feeding(
    rule: str, image: str, args: list[str]
) -> None:
    report = judge(rule, job(image, *args))
    assert not report.findings
    assert not report.not_evaluated


def test_a_test_of_the_network_between_gpus_is_not_fed_like_training() -> None:
    shape = job(
        "public.ecr.aws/hpc-cloud/nccl-tests:v2.17",
        "mpirun",
        "all_reduce_perf",
        owner="kubernetes:kubeflow.org/v2beta1:MPIJob",
    )
    assert not_concerned(judge("WORK010", shape))


def test_a_trainer_beside_an_idle_container_is_still_a_trainer() -> None:
    found = job("registry.example.com/llm/finetune:1.0")
    idle = {"name": "wait", "image": "busybox:1.36", "args": ["sleep", "infinity"]}
    trainer = {"name": "main", "image": "registry.example.com/llm/finetune:1.0", "resources": ONE_GPU}
    assert judge("WORK009", changed(found, "spec.template.spec.containers", [trainer, idle])).findings


def test_a_deployment_of_the_pause_image_without_a_tag_needs_no_probe() -> None:
    pause = {"name": "pause", "image": "gcr.io/google_containers/pause", "resources": ONE_GPU}
    assert passes(judge("WORK006", examples.deployment(pause)))


# --- claims on devices -----------------------------------------------------------------------------------------------


def claiming(template: object, claim: str = "device", **container: object) -> Resource:
    box = {"name": "main", "image": "registry.example.com/server", "resources": {"claims": [{"name": claim}]}}
    return examples.deployment(
        {**box, **container}, resourceClaims=[{"name": claim, "resourceClaimTemplateName": template}]
    )


def template_of(device_class: str, version: str = "v1") -> Resource:
    exactly = {"deviceClassName": device_class}
    request = {"name": "one", "exactly": exactly} if version == "v1" else {"name": "one", **exactly}
    props = {"metadata": {"name": "one"}, "spec": {"spec": {"devices": {"requests": [request]}}}}
    return examples.resource(TEMPLATE.replace("/v1:", f"/{version}:"), "one", props)


@pytest.mark.parametrize("device_class", ["gpu.example.com", "netdev.google.com", "efa.networking.k8s.aws"])
@pytest.mark.parametrize("rule", ["WORK006", "WORK013", "SHARE005", "WORK001"])
def test_a_claim_on_another_vendors_device_is_no_gpu(rule: str, device_class: str) -> None:
    assert not_concerned(judge(rule, claiming("one"), template_of(device_class)))


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize("device_class", ["gpu.nvidia.com", "mig.nvidia.com", "fast-gpus"])
def test_a_claim_on_a_device_of_nvidias_is_a_gpu(device_class: str, version: str) -> None:
    assert "registry.example.com/server" in complaint(
        judge("WORK013", claiming("one"), template_of(device_class, version))
    )


def test_a_class_of_ones_own_is_what_its_selector_says() -> None:
    pods, claim = claiming("one"), template_of("large")
    for driver, is_gpu in (("gpu.nvidia.com", True), ("dra.net", False)):
        selectors = [{"cel": {"expression": f"device.driver == '{driver}'"}}]
        own = examples.resource(
            "kubernetes:resource.k8s.io/v1:DeviceClass",
            "large",
            {"metadata": {"name": "large"}, "spec": {"selectors": selectors}},
        )
        assert bool(judge("WORK013", pods, claim, own).findings) is is_gpu


@pytest.mark.parametrize(("template", "is_gpu"), [("two-netdev", False), ("single-gpu", True), (UNKNOWN, True)])
def test_a_claim_that_is_not_in_the_stack_is_told_by_its_names(template: object, is_gpu: bool) -> None:
    assert bool(judge("WORK013", claiming(template)).findings) is is_gpu


# --- names in the place of values ------------------------------------------------------------------------------------


def test_a_name_in_the_place_of_an_amount_is_filled_in_later() -> None:
    asks = {"limits": {resources.GPU: "PLACEHOLDER_NUM_GPU_PER_NODE"}}
    assert left_open(judge("WORK003", examples.deployment(examples.container(resources=asks)))) == ["resources"]


@pytest.mark.parametrize("image", ["IMAGE_NAME", "registry.example.com/IMAGE_NAME:TAG"])
def test_a_name_in_capitals_in_the_place_of_an_image_is_filled_in_later(image: str) -> None:
    assert len(left_open(judge("WORK013", examples.deployment(examples.container(image=image))))) == 1


def test_n04_a_pool_of_auto_mode_needs_no_label_for_software_that_aws_runs() -> None:
    auto = changed(
        examples.node_pool("auto"),
        "spec.template.spec.nodeClassRef",
        {"group": labels.EKS_AUTO_DOMAIN, "kind": "NodeClass", "name": "default"},
    )
    carried = labels.pool_labels("a10g", "inference")
    del carried[labels.GPU_PRESENT]
    auto = changed(auto, "spec.template.metadata.labels", carried)
    assert passes(judge("NODE005", auto, examples.node_pool("other")))
