from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi_kubernetes as k8s

from eks_gpu.facts import images
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.recording import Recording, record
from eks_gpu.settings.workloads import Triton
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads.triton_server import TritonServer, TritonServerArgs
from tests.support.clusters import cluster

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
OWN = "mirror.example/triton-slim:26.07"
BLOCK: dict[str, object] = {"gpu_types": ("a10g",), "model_size_gb": 10.0, "image": OWN}


def server(**block: object) -> Triton:
    return Triton.model_validate({**BLOCK, **block})


def build(settings: Triton | None = None) -> Recording:
    def program() -> None:
        plugin, claim = (k8s.core.v1.ConfigMap(name) for name in ("plugin", "claim"))
        software = GpuSoftware(
            ready=(plugin,),
            gpu_resource="nvidia.com/gpu",
            shared=False,
            runtime_class_name=None,
            owns_exporter=True,
            namespace="gpu-operator",
        )
        args = TritonServerArgs(
            settings=settings or server(),
            cluster=cluster(),
            namespace="inference",
            gpu_software=software,
            cache=CacheClaim(claim_name="cache", read_bytes_per_second=500 * 2**20, ready=(claim,)),
        )
        TritonServer("vision", args)

    return record(program)


def container(recording: Recording) -> Mapping[str, Any]:
    [only] = recording.one(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    found: Mapping[str, Any] = only
    return found


def test_s02_triton_comes_after_the_bound_claim_and_the_gpu_software() -> None:
    recording = build()
    assert {recording.named("plugin").urn, recording.named("claim").urn} <= recording.one(DEPLOYMENT).dependencies


def test_triton_loads_its_repository_from_the_cache() -> None:
    assert container(build(server(model_repository="teams/search")))["args"] == [
        "--model-repository=/models/teams/search",
        "--http-port=8000",
        "--grpc-port=8001",
        "--metrics-port=8002",
        "--exit-on-error=true",
        "--exit-timeout-secs=60",
    ]


def test_w05_triton_cannot_write_to_the_cache() -> None:
    [mount] = [mount for mount in container(build())["volumeMounts"] if mount["mountPath"] == "/models"]
    assert mount["readOnly"] is True


def test_w04_the_startup_probe_covers_reading_all_models_and_asks_for_readiness() -> None:
    probe = container(build(server(model_size_gb=100.0)))["startupProbe"]
    allowed = probe["initialDelaySeconds"] + probe["periodSeconds"] * (probe["failureThreshold"] - 1)
    assert allowed >= 2 * 100e9 / (500 * 2**20) + 60
    assert probe["httpGet"]["path"] == "/v2/health/ready"
    assert container(build())["livenessProbe"]["httpGet"]["path"] == "/v2/health/live"


def test_w14_the_service_has_every_port_and_is_reachable_from_inside_only() -> None:
    spec = build().one("kubernetes:core/v1:Service")["spec"]
    assert spec["type"] == "ClusterIP"
    assert {port["name"]: port["port"] for port in spec["ports"]} == {"http": 8000, "grpc": 8001, "metrics": 8002}
    assert {port["name"] for port in container(build())["ports"]} == {"http", "grpc", "metrics"}


def test_w10_an_image_of_ones_own_needs_no_reason() -> None:
    recording = build()
    assert container(recording)["image"] == OWN
    annotations = recording.one(DEPLOYMENT)["spec"]["template"]["metadata"]["annotations"]
    assert "eks-gpu.io/full-image-reason" not in annotations


def test_w10_the_full_image_carries_its_reason() -> None:
    recording = build(server(image=None, full_image_reason="three teams share it"))
    assert container(recording)["image"] == images.TRITON_FULL.reference
    annotations = recording.one(DEPLOYMENT)["spec"]["template"]["metadata"]["annotations"]
    assert annotations["eks-gpu.io/full-image-reason"] == "three teams share it"


def test_triton_ends_within_its_grace_period() -> None:
    recording = build()
    grace = recording.one(DEPLOYMENT)["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    drain = container(recording)["lifecycle"]["preStop"]["sleep"]["seconds"]
    [exit_timeout] = [word for word in container(recording)["args"] if word.startswith("--exit-timeout-secs=")]
    assert drain + int(exit_timeout.partition("=")[2]) < grace


def test_names_and_parents_are_stable() -> None:
    recording = build()
    component = recording.one("eks-gpu:index:TritonServer")
    assert {child.name for child in recording.children(component)} == {"vision-deployment", "vision-service"}
