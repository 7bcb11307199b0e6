"""Which versions work together, and which do not work at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from eks_gpu.facts.versions import GPU_OPERATOR, KARPENTER, KARPENTER_CRD, KUBERNETES_VERSIONS, NVIDIA_DEVICE_PLUGIN

SOURCE = (
    "Karpenter v1.15 upgrading/compatibility page; NVIDIA/cloud-native-docs gpu-operator/platform-support.rst at "
    "61d3f0f9 (24.9), fd20987e (25.3), a5b94d57 (25.10), 9e88c6ce (26.3) and 52dcb7b8 (26.7); release notes of "
    "NVIDIA/k8s-device-plugin 0.17.1 and 0.19.3 and of the GPU Operator 26.3.3; NVIDIA/k8s-dra-driver-gpu and EKS user "
    "guide (DRA from Kubernetes 1.34); awslabs/amazon-eks-ami issue 2768 (g7); CUDA 13 release notes, table of minimum "
    "driver versions"
)
CHECKED = "2026-11-21"

Version = tuple[int, ...]
"""As many numbers as are said."""
Minor = tuple[int, int]
"""A version of Kubernetes: (1, 35)."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Releases of a chart that nobody should install."""

    chart: str
    first: Version
    last: Version
    because: str
    instead: str


BROKEN: tuple[Broken, ...] = (
    Broken(
        NVIDIA_DEVICE_PLUGIN.name,
        (0, 17, 0),
        (0, 17, 0),
        "failOnInitError becomes an environment variable that the API server refuses",
        "0.17.1",
    ),
    Broken(
        NVIDIA_DEVICE_PLUGIN.name,
        (0, 19, 0),
        (0, 19, 2),
        "it injects GDS, MOFED and GDRCopy into every pod, which breaks RDMA and NCCL",
        "0.19.3",
    ),
    Broken(
        GPU_OPERATOR.name,
        (26, 3, 0),
        (26, 3, 2),
        "its device plugin injects GDS, MOFED and GDRCopy into every pod, which breaks RDMA and NCCL",
        "v26.3.3",
    ),
)


def minor(text: str) -> Minor:
    """Return a version of Kubernetes as numbers."""
    first, second = text.split(".")[:2]
    return int(first), int(second)


OLDEST_KUBERNETES: Minor = minor(KUBERNETES_VERSIONS[0])
NEWEST_KUBERNETES: Minor = minor(KUBERNETES_VERSIONS[-1])

KARPENTER_CHARTS: frozenset[str] = frozenset({KARPENTER.name, KARPENTER_CRD.name})
KARPENTER_AT_LEAST: Mapping[Minor, Version] = MappingProxyType(
    {
        (1, 29): (0, 34, 0),
        (1, 30): (0, 37, 0),
        (1, 31): (1, 0, 5),
        (1, 32): (1, 2, 0),
        (1, 33): (1, 5, 0),
        (1, 34): (1, 6, 0),
        (1, 35): (1, 9, 0),
        (1, 36): (1, 13, 0),
        (1, 37): (1, 15, 0),
    }
)
"""The oldest Karpenter for each Kubernetes."""

OPERATOR_ON: Mapping[Version, tuple[Minor, Minor]] = MappingProxyType(
    {
        (24, 9): ((1, 24), (1, 31)),
        (25, 3): ((1, 29), (1, 33)),
        (25, 10): ((1, 30), (1, 35)),
        (26, 3): ((1, 32), (1, 36)),
        (26, 7): ((1, 33), (1, 36)),
    }
)
"""The oldest and the newest Kubernetes that each line of the GPU Operator was validated on."""

DRA_DRIVER_CHARTS: tuple[str, ...] = ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu")
"""The DRA driver's chart, under its first name and its present one."""
DRA_SINCE: Minor = (1, 34)
"""Dynamic resource allocation is on by itself from this version on."""

DRIVER_AT_LEAST: Mapping[str, int] = MappingProxyType({"g7": 595})
"""The oldest branch of NVIDIA's driver that knows the GPUs of an instance family, where not every image's does."""
AL2023_DRIVERS: tuple[tuple[int, int], ...] = ((20260714, 580), (20260917, 595))
"""From which release of the AL2023 images on (by its date) which branch of the driver is there at the most; of older
ones it was not read. The images from the second date on choose the branch by the instance type."""

CUDA_NEEDS_DRIVER: Mapping[int, int] = MappingProxyType({11: 450, 12: 525, 13: 580})
"""The oldest branch of the driver that runs programs of a major version of CUDA."""
