"""The checks: which image runs which script, and what it is told to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eks_gpu.facts import gpu_links, images
from eks_gpu.facts.images import Image
from eks_gpu.facts.instances import InstanceType
from eks_gpu.gpu.sharing import NamedFiles

SCRIPTS: Final = Path(__file__).with_name("scripts")

FOLDER: Final = "/checks"
"""Where the containers see the scripts."""

WHOLE_GPU: Final = "GPU"
PARTITION: Final = "MIG"
"""How ``nvidia-smi -L`` begins the line of a device."""

_SAMPLE: Final = "/cuda-samples/vectorAdd"
"""The program in NVIDIA's image (its Dockerfile in NVIDIA/k8s-samples, checked 2026-11-21)."""

_SHARING_SECONDS: Final = 60
"""Long enough for pods that share a GPU to start one after the other and still work at the same time."""

_HOST_TEST: Final = "pcie"
_HOST_PARAMETER: Final = "pcie.h2d_d2h_single_pinned.min_bandwidth"
"""GB/s, in each direction and in both at once (NVIDIA/DCGM nvvs/include/PluginStrings.h, PCIE_STR_MIN_BANDWIDTH)."""

_ALLOWED: Final = "pcie.is_allowed=true"
"""Without, DCGM skips the test on every GPU model that its list of models (nvvs/diag-skus.yaml) has not yet, and a test
that was skipped proves nothing (NVIDIA/DCGM nvvs/plugin_src/pcie: the parameter is false by default)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One container that proves one thing, and fails if it is not so."""

    name: str
    image: Image
    script: str
    variables: Mapping[str, str] = field(default_factory=dict)
    root: bool = False
    """Whether it runs as root. Only DCGM's engine does, which refuses to start otherwise; without privileges."""
    meets: bool = False
    """Whether the pods of a Job do it together."""
    memory_gib: int = 2
    """Of the host's memory."""
    shared_memory: bool = False
    """Whether it needs more of ``/dev/shm`` than Kubernetes gives. What needs no more leaves it alone: where GPUs are
    shared by MPS, the device plugin mounts there what a client and the MPS server share (NVIDIA/k8s-device-plugin
    v0.20.0, ShmDir in the MPS daemon), and a volume of the pod would hide it."""


def script_files() -> NamedFiles:
    """Return the scripts as a ConfigMap holds them."""
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.iterdir()) if path.is_file()}
    return NamedFiles(stem="gpu-validation", files=files)


def device_count(expected: int, device: str) -> Check:
    """Return the check that a container sees ``expected`` devices of a kind."""
    variables = {"EXPECTED": str(expected), "DEVICE": device}
    return Check(name="device-count", image=images.CUDA_SAMPLE, script="device-count.sh", variables=variables)


def vector_add(*, shared: bool) -> Check:
    """Return the check that a GPU computes; for a while, if others share it."""
    seconds = _SHARING_SECONDS if shared else 0
    variables = {"SAMPLE": _SAMPLE, "SECONDS_LONG": str(seconds)}
    return Check(name="vector-add", image=images.CUDA_SAMPLE, script="vector-add.sh", variables=variables)


def diagnostic(level: int) -> Check:
    """Return DCGM's own diagnostics at a level of 1 to 3."""
    return _dcgm("diagnostic", test=str(level), parameters="")


def host_bandwidth(kind: InstanceType) -> Check:
    """Return the check of the way between host and GPU, against what the catalogue expects of the type."""
    least = gpu_links.least_host_bandwidth(kind)
    return _dcgm("host-bandwidth", test=_HOST_TEST, parameters=f"{_HOST_PARAMETER}={least:g};{_ALLOWED}")


def all_reduce(kind: InstanceType) -> Check:
    """Return the all-reduce over the GPUs of one node."""
    variables = {"NODES": "1", "RANK": "0", "MEETING": "127.0.0.1"}
    return _collective("all-reduce-node", kind, gpu_links.least_all_reduce_within(kind), variables)


def all_reduce_across(kind: InstanceType, *, nodes: int) -> Check:
    """Return the all-reduce over the GPUs of several nodes, through their Elastic Fabric Adapters.

    Rank and meeting point are those of the pod, and not known here.
    """
    # Huge pages would have to be asked for, and be there; without them EFA takes ordinary memory.
    variables = {"NODES": str(nodes), "FI_EFA_USE_HUGE_PAGE": "0"}
    return _collective("all-reduce-nodes", kind, gpu_links.least_all_reduce_across(kind), variables, meets=True)


def _dcgm(name: str, *, test: str, parameters: str) -> Check:
    variables = {"NAME": name, "TEST": test, "PARAMETERS": parameters}
    return Check(
        name=name,
        image=images.DCGM,
        script="diagnostic.sh",
        variables=variables,
        root=True,
        memory_gib=4,
        # Its tests run CUDA on all GPUs at once. They have them whole, so nothing of MPS is hidden.
        shared_memory=True,
    )


def _collective(
    name: str, kind: InstanceType, least: float, variables: Mapping[str, str], *, meets: bool = False
) -> Check:
    told = {"NAME": name, "EXPECTED_GB_PER_SECOND": f"{least:g}", "GPUS": str(kind.gpu_count), **variables}
    # Each process holds CUDA, PyTorch and its buffers: about 3 GiB.
    return Check(
        name=name,
        image=images.PYTORCH_EFA,
        script="all-reduce.sh",
        variables=told,
        meets=meets,
        memory_gib=4 * kind.gpu_count,
        shared_memory=True,
    )
