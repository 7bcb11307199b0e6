"""Container images of servers and checks: exact tags, the CUDA they bring, and how much a node must pull."""

from __future__ import annotations

from dataclasses import dataclass

CHECKED = "2026-11-21"

GB = 10**9
"""Bytes of a gigabyte, as image and model sizes are quoted."""


@dataclass(frozen=True, slots=True)
class Image:
    """One container image at an exact tag."""

    repository: str
    tag: str
    cuda: str
    """CUDA release inside, such as ``"12.9"``: the node's driver must support it. Empty where it brings several, and
    takes the one that the driver supports."""
    size_bytes: int
    """Unpacked size on the node's disk, rounded up where only a neighbouring release was measured."""
    source: str
    checked: str

    @property
    def reference(self) -> str:
        """The image as a pod names it: ``repository:tag``."""
        return f"{self.repository}:{self.tag}"


VLLM = Image(
    repository="docker.io/vllm/vllm-openai",
    tag="v0.28.0-cu129",
    cuda="12.9",
    size_bytes=30 * GB,
    source=(
        "vllm-project/vllm release tags (since 0.20 the plain tag is CUDA 13, -cu129 is CUDA 12.9: "
        "NVIDIA/Model-Optimizer PR 2042); size: 28.6 GB measured for 0.12 in vllm-project/vllm PR 22377"
    ),
    checked=CHECKED,
)
"""CUDA 12.9 and not 13, because it runs on every driver from R575 on, the EKS image's R580 included."""

TRITON_FULL = Image(
    repository="nvcr.io/nvidia/tritonserver",
    tag="26.07-py3",
    cuda="13.3",
    size_bytes=16 * GB,
    source=(
        "NGC tags of nvidia/tritonserver up to 26.07; size: 15.5 GB measured for 24.06-py3 in "
        "triton-inference-server/server issue 7474; CUDA 13.3 stated for 26.06, not read for 26.07"
    ),
    checked=CHECKED,
)
"""Triton with every backend. The slim variant, ``py3-min``, has none: an image of one's own copies those it needs."""

CUDA_SAMPLE = Image(
    repository="nvcr.io/nvidia/k8s/cuda-sample",
    tag="vectoradd-cuda12.5.0",
    cuda="12.5",
    size_bytes=1 * GB,
    source=(
        "NVIDIA/k8s-device-plugin README (the tag; /cuda-samples/vectorAdd prints Test PASSED); size: an upper bound, "
        "not measured"
    ),
    checked=CHECKED,
)
"""NVIDIA's vector addition, for amd64 and arm64."""

DCGM = Image(
    repository="nvcr.io/nvidia/cloud-native/dcgm",
    tag="4.6.0-1-ubuntu24.04",
    cuda="",
    size_bytes=5 * GB,
    source="NVIDIA/gpu-operator v26.7.0 values.yaml (dcgm.version); size: an upper bound, not measured",
    checked=CHECKED,
)
"""NVIDIA's Data Center GPU Manager with its diagnostics: the release that the pinned operator names."""

PYTORCH_EFA = Image(
    repository="public.ecr.aws/deep-learning-containers/pytorch-training",
    tag="2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.33",
    cuda="12.9",
    size_bytes=25 * GB,
    source=(
        "aws/deep-learning-containers, ECR public gallery (PyTorch with NCCL, libfabric and aws-ofi-nccl, amd64 only); "
        "size: an upper bound, not measured"
    ),
    checked=CHECKED,
)
"""The only image here with NCCL and what NCCL needs for EFA. Huge: pulled only where several GPUs must talk."""

PYTHON = Image(
    repository="public.ecr.aws/docker/library/python",
    tag="3.13.7-slim",
    cuda="",
    size_bytes=1 * GB,
    source="docker-library/python, mirrored in the ECR public gallery; size: an upper bound, not measured",
    checked=CHECKED,
)
"""Python and its standard library: for programs of ours that talk to the API server. The image of kubectl has no shell
that could decide anything (kubernetes/kubernetes build/, registry.k8s.io/kubectl)."""

PAUSE = Image(
    repository="registry.k8s.io/pause",
    tag="3.10.1",
    cuda="",
    size_bytes=1_000_000,
    source="kubernetes v1.34 and v1.35 cmd/kubeadm/app/constants (PauseVersion); size: an upper bound, not measured",
    checked=CHECKED,
)
"""A program that does nothing, for amd64 and arm64."""
