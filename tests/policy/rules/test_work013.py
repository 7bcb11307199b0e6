"""WORK013: images are pinned."""

from __future__ import annotations

import pytest

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes

DIGEST = "sha256:" + "0a" * 32


def server(image: object, *init: object) -> Resource:
    return examples.deployment(examples.container(image=image), initContainers=list(init))


@pytest.mark.parametrize("image", ["vllm/vllm-openai", "registry.example.com:5000/team/server", "ubuntu"])
def test_w10_an_image_without_tag_or_digest_fails(image: str) -> None:
    assert complaint(judge("WORK013", server(image))) == (
        f"container server runs {image}: it has neither tag nor digest, which means latest"
    )


@pytest.mark.parametrize(
    "tag", ["latest", "main", "nightly", "26.07-nightly", "latest-gpu", "nightly-py311-gpu", "main-cuda", "py3_latest"]
)
def test_w10_a_tag_that_moves_fails(tag: str) -> None:
    assert f"its tag {tag} is moved with each build" in complaint(judge("WORK013", server(f"x/y:{tag}")))


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai:v0.11.0",
        "nvcr.io/nvidia/tritonserver:26.07-py3",
        "registry.example.com:5000/team/server:1.2",
        f"registry.example.com:5000/team/server@{DIGEST}",
        f"vllm/vllm-openai:latest@{DIGEST}",
        "vllm/vllm-openai:nightly-8d75fe48ca5f46b7af0f5201d8500b9604eed769",
        "rocm/pytorch:main-20260801",
        "pytorch/pytorch:2.9.0.dev20260801-cuda12.9-nightly",
        "docker.io/domain/maintainer:1.0-remain",
    ],
)
def test_w10_a_release_a_digest_and_one_build_pass(image: str) -> None:
    assert passes(judge("WORK013", server(image)))


def test_w10_init_containers_are_asked_too() -> None:
    pod = server("x:1", {"name": "fetch", "image": "busybox"})
    assert "container fetch runs busybox" in complaint(judge("WORK013", pod))


def test_a_container_that_names_no_image_is_left_to_whoever_fills_it_in() -> None:
    assert passes(judge("WORK013", server(None)))


@pytest.mark.parametrize("image", ["{{inputs.parameters.image}}", "registry/${IMAGE}", "$(IMAGE)", "<image>"])
def test_a_placeholder_is_left_open(image: str) -> None:
    assert left_open(judge("WORK013", server(image))) == ["spec.template.spec.containers[0].image"]


def test_an_unknown_image_is_left_open_and_does_not_silence_others() -> None:
    assert left_open(judge("WORK013", server(UNKNOWN))) == ["spec.template.spec.containers[0].image"]
    report = judge("WORK013", server(UNKNOWN, {"name": "fetch", "image": "busybox:latest"}))
    assert list(messages(report)) == ["llm"]
    assert len(report.not_evaluated) == 1


def test_pods_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("WORK013", examples.deployment(examples.container(image="nginx", resources={}))))
