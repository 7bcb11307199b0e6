from __future__ import annotations

import pulumi
import pytest

from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.recording import Recording, record
from eks_gpu.settings.workloads import Triton, Vllm, Workloads
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads.model_server import ModelServerArgs
from eks_gpu.workloads.serving import serve
from tests.support.clusters import cluster

VLLM = Vllm(model="Qwen/Qwen2.5-7B-Instruct", gpu_types=("a10g",))
TRITON = Triton(gpu_types=("a10g",), model_size_gb=10, image="mirror.example/triton:26.07")


def build(chosen: Workloads) -> Recording:
    def program() -> None:
        software = GpuSoftware(
            ready=(),
            gpu_resource="nvidia.com/gpu",
            shared=False,
            runtime_class_name=None,
            owns_exporter=True,
            namespace="gpu-operator",
        )
        place = ModelServerArgs(
            cluster=cluster(),
            namespace="inference",
            gpu_software=software,
            cache=CacheClaim(claim_name="cache", read_bytes_per_second=1e9),
        )
        pulumi.export("urls", serve(chosen, place))

    return record(program)


@pytest.mark.parametrize(
    ("chosen", "urls"),
    [
        (Workloads(), {}),
        (Workloads(vllm=VLLM), {"vllm": "http://vllm.inference:8000"}),
        (Workloads(triton=TRITON), {"triton": "http://triton.inference:8000"}),
        (
            Workloads(vllm=VLLM, triton=TRITON),
            {"vllm": "http://vllm.inference:8000", "triton": "http://triton.inference:8000"},
        ),
    ],
    ids=["none", "vllm", "triton", "both"],
)
def test_only_what_is_named_is_built_and_each_has_its_url(chosen: Workloads, urls: dict[str, str]) -> None:
    recording = build(chosen)
    assert recording.exports["urls"] == urls
    deployments = recording.of_type("kubernetes:apps/v1:Deployment")
    assert {deployment["metadata"]["name"] for deployment in deployments} == set(urls)
