"""WORK014: Triton carries only its backends."""

from __future__ import annotations

import pytest

from eks_gpu.facts.declarations import FULL_IMAGE_REASON
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes

UPSTREAM = "nvcr.io/nvidia/tritonserver"


def triton(image: object, **settings: object) -> Resource:
    return examples.deployment(examples.container(image=image, **settings))


@pytest.mark.parametrize("tag", ["24.06-py3", "26.07-py3", "26.07-py3-igpu"])
def test_w10_the_full_image_is_advice_in_every_environment(tag: str) -> None:
    for environment in Environment:
        report = judge("WORK014", triton(f"{UPSTREAM}:{tag}"), environment=environment)
        assert "16 GB on each node before the first answer" in complaint(report)
        assert report.findings[0].level is Level.ADVISORY


def test_containers_beside_triton_are_left_alone() -> None:
    beside = [examples.container(name="proxy", image="envoy:1.36.0"), examples.container(image=f"{UPSTREAM}:26.07-py3")]
    assert complaint(judge("WORK014", examples.deployment(*beside))).startswith("container server runs 26.07-py3")
    assert passes(judge("WORK014", triton(UPSTREAM)))


def test_w10_a_mirror_holds_the_same_image() -> None:
    mirror = "123456789012.dkr.ecr.us-east-1.amazonaws.com/ngc/nvidia/tritonserver:26.07-py3"
    assert "26.07-py3 with every backend" in complaint(judge("WORK014", triton(mirror)))


def test_w10_a_reason_passes() -> None:
    annotated = changed(
        triton(f"{UPSTREAM}:26.07-py3"), "spec.template.metadata.annotations", {FULL_IMAGE_REASON: "five frameworks"}
    )
    assert passes(judge("WORK014", annotated))


@pytest.mark.parametrize(
    "tag", ["26.07-vllm-python-py3", "26.07-trtllm-python-py3", "26.07-pyt-python-py3", "24.06-py3-sdk"]
)
def test_w10_images_for_one_purpose_pass(tag: str) -> None:
    assert passes(judge("WORK014", triton(f"{UPSTREAM}:{tag}")))


def test_w10_the_slim_image_as_it_is_has_no_backend() -> None:
    message = complaint(judge("WORK014", triton(f"{UPSTREAM}:26.07-py3-min")))
    assert message.endswith("runs 26.07-py3-min as it is, which has no backend: no model can be loaded")


def test_w10_the_slim_image_with_backends_passes() -> None:
    mounted = {"volumeMounts": [{"name": "backends", "mountPath": "/opt/tritonserver/backends/onnxruntime"}]}
    assert passes(judge("WORK014", triton(f"{UPSTREAM}:26.07-py3-min", **mounted)))
    for args in (["--backend-directory", "/models/backends"], ["--backend-directory=/models/backends"]):
        assert passes(judge("WORK014", triton(f"{UPSTREAM}:26.07-py3-min", args=args)))
        assert passes(judge("WORK014", triton(f"{UPSTREAM}:26.07-py3-min", command=["tritonserver", *args])))
    other = triton(f"{UPSTREAM}:26.07-py3-min", args=["--model-repository=/models"])
    assert "has no backend" in complaint(judge("WORK014", other))


def test_a_runtime_of_kserve_serves_every_format_that_it_lists() -> None:
    container = {"name": "kserve-container", "image": f"{UPSTREAM}:23.05-py3"}
    runtime = examples.resource(
        "kubernetes:serving.kserve.io/v1alpha1:ClusterServingRuntime",
        "kserve-tritonserver",
        {"spec": {"supportedModelFormats": [{"name": "onnx"}, {"name": "tensorrt"}], "containers": [container]}},
    )
    assert passes(judge("WORK014", runtime))


def test_ones_own_image_and_other_servers_are_not_concerned() -> None:
    assert not_concerned(judge("WORK014", triton("registry.example.com/team/tritonserver:26.07-py3")))
    assert not_concerned(judge("WORK014", triton("vllm/vllm-openai:v0.11.0")))
    assert passes(judge("WORK014", triton(f"{UPSTREAM}@sha256:00")))


def test_unknown_images_and_annotations_are_left_open() -> None:
    assert left_open(judge("WORK014", triton(UNKNOWN))) == ["spec.template.spec.containers[0].image"]
    pod = changed(triton(f"{UPSTREAM}:26.07-py3"), "spec.template.metadata.annotations", UNKNOWN)
    assert left_open(judge("WORK014", pod)) == ["spec.template.metadata.annotations"]
