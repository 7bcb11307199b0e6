"""WORK005: shared memory is there and fits."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

PLAIN = "nginx:1.29.0"


def shared(size: str | None = "8Gi", **settings: object) -> Resource:
    limit = {} if size is None else {"sizeLimit": size}
    volume = {"name": "shm", "emptyDir": {"medium": "Memory", **limit}}
    return examples.deployment(examples.container(**settings), volumes=[volume])


def limits(**amounts: str) -> dict[str, object]:
    return {"limits": {resources.GPU: "1", **amounts}}


def test_w03_memory_on_dev_shm_below_the_limit_passes() -> None:
    assert passes(judge("WORK005", shared()))


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai:v0.11.0",
        "lmsysorg/sglang:v0.5.0",
        "nvcr.io/nvidia/tritonserver:25.10-trtllm-python-py3",
        "nvcr.io/nvidia/tensorrt-llm/release:1.0.0",
        "123456789012.dkr.ecr.us-east-1.amazonaws.com/PyTorch-inference:2.6",
    ],
)
def test_w03_images_that_pass_batches_through_shared_memory_need_it(image: str) -> None:
    bare = examples.container(image=image, volumeMounts=None)
    assert complaint(judge("WORK005", examples.deployment(bare))) == (
        "container server has the default 64 MiB on /dev/shm"
    )


def test_w03_training_needs_it_whatever_the_image() -> None:
    pod = changed(
        examples.deployment(examples.container(image=PLAIN, volumeMounts=None)),
        "spec.template.metadata.labels",
        {labels.WORKLOAD: "training"},
    )
    assert "64 MiB" in complaint(judge("WORK005", pod))


def test_w03_other_servers_need_none() -> None:
    assert passes(judge("WORK005", examples.deployment(examples.container(image=PLAIN, volumeMounts=None))))


def test_w03_the_hosts_shared_memory_passes() -> None:
    bare = examples.container(volumeMounts=None)
    assert passes(judge("WORK005", examples.deployment(bare, hostIPC=True)))
    host = {"name": "shm", "hostPath": {"path": "/dev/shm"}}  # noqa: S108 - a path inside a node
    assert passes(judge("WORK005", examples.deployment(volumes=[host])))


def test_w03_a_volume_that_is_not_in_memory_fails() -> None:
    assert "that is not in memory" in complaint(
        judge("WORK005", examples.deployment(volumes=[{"name": "shm", "emptyDir": {}}]))
    )


def test_w03_less_than_one_gib_fails() -> None:
    assert "has 0.5 GiB on /dev/shm; it needs 1 GiB" in complaint(judge("WORK005", shared("512Mi")))


def test_w03_a_volume_as_large_as_the_memory_limit_fails() -> None:
    message = complaint(judge("WORK005", shared("8Gi", resources=limits(memory="8Gi"))))
    assert message == "container server may fill shm with 8 GiB but has a memory limit of 8 GiB, the volume included"


def test_w03_no_limit_on_either_fails_and_on_one_passes() -> None:
    assert "neither has a limit" in complaint(judge("WORK005", shared(None, resources=limits())))
    assert passes(judge("WORK005", shared(None, resources=limits(memory="24Gi"))))
    assert passes(judge("WORK005", shared("8Gi", resources=limits())))


@pytest.mark.parametrize(
    ("volume", "most", "complains"),
    [({}, "24Gi", None), ({}, None, "neither has a limit"), ({"sizeLimit": "8Gi"}, "8Gi", "a memory limit of 8 GiB")],
)
def test_w03_the_limit_of_the_pod_as_a_whole_is_one_of_its_containers(
    volume: dict[str, str], most: str | None, complains: str | None
) -> None:
    whole = None if most is None else {"limits": {"memory": most}}
    shared = [{"name": "shm", "emptyDir": {"medium": "Memory", **volume}}]
    box = examples.container(resources={"limits": {resources.GPU: "1"}})
    report = judge("WORK005", changed(examples.deployment(box, volumes=shared), "spec.template.spec.resources", whole))
    assert passes(report) if complains is None else complains in complaint(report)


def test_w03_one_gib_is_enough() -> None:
    assert passes(judge("WORK005", shared("1Gi")))


def test_w03_every_volume_in_memory_is_judged_and_no_other() -> None:
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("claimed", "disk", "scratch")]
    volumes = [{"name": "disk", "emptyDir": {}}, {"name": "scratch", "emptyDir": {"medium": "Memory"}}]
    box = examples.container(image=PLAIN, resources={"limits": {resources.GPU: "1"}}, volumeMounts=mounts)
    message = complaint(judge("WORK005", examples.deployment(box, volumes=volumes)))
    assert message.startswith("container server mounts scratch from memory and neither has a limit")
    assert passes(judge("WORK005", examples.deployment(box, volumes=volumes[:1])))


def test_a_mount_with_a_slash_at_its_end_is_the_same_mount() -> None:
    mount = {"name": "shm", "mountPath": "/dev/shm/"}  # noqa: S108 - a path inside a container
    assert passes(judge("WORK005", shared(volumeMounts=[mount])))


def test_an_unknown_size_is_left_open_and_an_unknown_image_too() -> None:
    pod = changed(shared(), "spec.template.spec.volumes.0.emptyDir.sizeLimit", UNKNOWN)
    assert set(left_open(judge("WORK005", pod))) == {"spec.template.spec.volumes[0].emptyDir.sizeLimit"}
    assert left_open(judge("WORK005", shared(image=UNKNOWN))) == ["spec.template.spec.containers[0].image"]


def test_a_clause_known_to_fail_fails_beside_an_unknown_one() -> None:
    report = judge("WORK005", shared("8Gi", image=UNKNOWN, resources=limits(memory="4Gi")))
    assert "may fill shm" in messages(report)["llm"][0]
    assert len(report.not_evaluated) == 1


def test_pods_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("WORK005", examples.deployment(examples.container(resources={}, volumeMounts=None))))


def job(image: str, **labels_of_pod: str) -> Resource:
    spec = {"containers": [examples.container(image=image, volumeMounts=None)]}
    template = {"metadata": {"labels": labels_of_pod}, "spec": spec}
    return examples.resource("kubernetes:batch/v1:Job", "run", {"spec": {"template": template}})


def test_w03_a_job_that_does_not_say_what_it_is_gets_advice() -> None:
    (finding,) = judge("WORK005", job("registry.example.com/team/finetune:1.2")).findings
    assert finding.level is Level.ADVISORY
    assert finding.message.endswith("on /dev/shm, and it may be training")
    (finding,) = judge("WORK005", job("registry.example.com/team/finetune:1.2", workload="training")).findings
    assert finding.level is Level.MANDATORY


@pytest.mark.parametrize(
    "image", ["nvidia/cuda:12.4.1-base-ubuntu22.04", "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"]
)
def test_w03_a_job_that_tries_a_gpu_needs_none(image: str) -> None:
    assert passes(judge("WORK005", job(image)))


def test_w03_zero_gpus_are_none() -> None:
    pod = examples.container(volumeMounts=None, resources={"limits": {resources.GPU: "0"}})
    assert not_concerned(judge("WORK005", examples.deployment(pod)))
