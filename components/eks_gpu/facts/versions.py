"""Exact versions of everything that is installed, each with its source and the date it was checked.

Nothing is ever ``latest``. A pin says what it must stay compatible with where that is not plain. Add-on versions
are AWS's own builds; where no document of AWS that names one could be read, ``source`` says whose record it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

CHECKED = "2026-11-21"


@dataclass(frozen=True, slots=True)
class Chart:
    """A Helm chart at one exact version."""

    name: str
    repository: str
    """An HTTPS chart repository, or an ``oci://`` registry path without the chart's name."""
    version: str
    source: str
    checked: str

    @property
    def is_oci(self) -> bool:
        """Whether the chart is pulled from an OCI registry; then Helm takes one reference instead of repo and name."""
        return self.repository.startswith("oci://")

    @property
    def reference(self) -> str:
        """What Helm is asked for: the full OCI reference, or the chart's name in its repository."""
        return f"{self.repository}/{self.name}" if self.is_oci else self.name


@dataclass(frozen=True, slots=True)
class AddOn:
    """An EKS add-on at one exact version for one Kubernetes version."""

    name: str
    version: str
    kubernetes: str
    source: str
    checked: str


@dataclass(frozen=True, slots=True)
class Image:
    """A container image at one exact tag."""

    repository: str
    tag: str
    source: str
    checked: str

    @property
    def reference(self) -> str:
        """The image as a pod names it."""
        return f"{self.repository}:{self.tag}"


KUBERNETES_VERSIONS: tuple[str, ...] = ("1.33", "1.34", "1.35", "1.36")
"""What a new cluster may run, oldest first: what EKS supports and the GPU Operator 26.7 supports (1.33 to 1.36).

Source: NVIDIA GPU Operator 26.7 platform support page; Karpenter compatibility matrix (1.36 needs 1.13 or newer).
"""

# --- charts ------------------------------------------------------------------------------------------------------

_KARPENTER_REPOSITORY = "oci://public.ecr.aws/karpenter"
_KARPENTER_VERSION = "1.14.1"
_KARPENTER_SOURCE = (
    "aws/karpenter-provider-aws tag v1.14.1 (2026-08-20): the newest whose CRDs could be read and checked against; "
    "1.15.1 (2026-10-23) exists"
)

KARPENTER = Chart("karpenter", _KARPENTER_REPOSITORY, _KARPENTER_VERSION, _KARPENTER_SOURCE, CHECKED)
KARPENTER_CRD = Chart("karpenter-crd", _KARPENTER_REPOSITORY, _KARPENTER_VERSION, _KARPENTER_SOURCE, CHECKED)
"""Karpenter's CRDs as a chart of their own: Helm never upgrades the ``crds/`` folder of the main chart."""

NVIDIA_DEVICE_PLUGIN = Chart(
    "nvidia-device-plugin",
    "https://nvidia.github.io/k8s-device-plugin",
    "0.20.0",
    "NVIDIA/k8s-device-plugin v0.20.0 (2026-08-19); 0.17.0 renders an invalid env, 0.19.0 to 0.19.2 break RDMA",
    CHECKED,
)
GPU_OPERATOR = Chart(
    "gpu-operator",
    "https://helm.ngc.nvidia.com/nvidia",
    "v26.7.0",
    "NVIDIA/gpu-operator v26.7.0 (2026-08-20); 26.3.0 to 26.3.2 break RDMA",
    CHECKED,
)
DCGM_EXPORTER = Chart(
    "dcgm-exporter",
    "https://nvidia.github.io/dcgm-exporter/helm-charts",
    "4.8.2",
    "NVIDIA/dcgm-exporter 4.5.3-4.8.2 (2026-05-06): the newest whose counters could be read; 4.9.0 renames every metric",
    CHECKED,
)
KUBE_PROMETHEUS_STACK = Chart(
    "kube-prometheus-stack",
    "https://prometheus-community.github.io/helm-charts",
    "91.6.0",
    "newreleases.io/project/github/prometheus-community/helm-charts: kube-prometheus-stack-91.6.0, operator v0.94",
    CHECKED,
)

CHARTS: Mapping[str, Chart] = MappingProxyType(
    {
        chart.name: chart
        for chart in (
            KARPENTER,
            KARPENTER_CRD,
            NVIDIA_DEVICE_PLUGIN,
            GPU_OPERATOR,
            DCGM_EXPORTER,
            KUBE_PROMETHEUS_STACK,
        )
    }
)
"""Every chart that may be installed, by name."""

# --- EKS add-ons, by Kubernetes version --------------------------------------------------------------------------


def _each(name: str, versions: Mapping[str, tuple[str, str]]) -> Mapping[str, AddOn]:
    """Return an add-on per Kubernetes version from (version, source) pairs."""
    return MappingProxyType(
        {
            kubernetes: AddOn(name, version, kubernetes, source, CHECKED)
            for kubernetes, (version, source) in versions.items()
        }
    )


def _same(name: str, version: str, source: str) -> Mapping[str, AddOn]:
    """Return an add-on whose version does not follow Kubernetes'."""
    return _each(name, dict.fromkeys(KUBERNETES_VERSIONS, (version, source)))


VPC_CNI = _same("vpc-cni", "v1.21.2-eksbuild.2", "recorded for Kubernetes 1.36 in public Terraform code, mid 2026")
COREDNS = _each(
    "coredns",
    {
        "1.33": ("v1.13.2-eksbuild.11", "ministryofjustice/cloud-platform-infrastructure #4675 (2026-07-06)"),
        "1.34": ("v1.13.2-eksbuild.11", "not verified for 1.34; the build verified for 1.33"),
        "1.35": ("v1.14.2-eksbuild.4", "not verified for 1.35; the build recorded for 1.36"),
        "1.36": ("v1.14.2-eksbuild.4", "recorded for Kubernetes 1.36 in public Terraform code, mid 2026"),
    },
)
KUBE_PROXY = _each(
    "kube-proxy",
    {
        "1.33": ("v1.33.10-eksbuild.13", "ministryofjustice/cloud-platform-infrastructure #4676 (2026-07-07)"),
        "1.34": ("v1.34.6-eksbuild.13", "not verified"),
        "1.35": ("v1.35.3-eksbuild.13", "zalando-incubator/kubernetes-on-aws #11668 (2026-07-15)"),
        "1.36": ("v1.36.2-eksbuild.7", "recorded for Kubernetes 1.36 in public Terraform code, mid 2026"),
    },
)
POD_IDENTITY_AGENT = _same("eks-pod-identity-agent", "v1.3.10-eksbuild.2", "not verified")
EBS_CSI = _same(
    "aws-ebs-csi-driver",
    "v1.66.0-eksbuild.1",
    "mitodl/ol-infrastructure #5959 (2026-09-21): AWS's default version for Kubernetes 1.36; others not verified",
)
EFS_CSI = _same(
    "aws-efs-csi-driver",
    "v3.4.1-eksbuild.1",
    "ministryofjustice/modernisation-platform-environments #18211 (2026-08-14), for 1.36; others not verified",
)
NODE_MONITORING_AGENT = _same(
    "eks-node-monitoring-agent", "v1.7.0-eksbuild.1", "aws/eks-node-monitoring-agent CHANGELOG.md v1.7.0 (2026-08-04)"
)

ADD_ONS: Mapping[str, Mapping[str, AddOn]] = MappingProxyType(
    {
        versions[KUBERNETES_VERSIONS[0]].name: versions
        for versions in (
            VPC_CNI,
            COREDNS,
            KUBE_PROXY,
            POD_IDENTITY_AGENT,
            EBS_CSI,
            EFS_CSI,
            NODE_MONITORING_AGENT,
        )
    }
)
"""Every add-on that may be installed: name to Kubernetes version to exact version."""

# --- container images that workloads run -------------------------------------------------------------------------

TRITON_MIN = Image(
    "nvcr.io/nvidia/tritonserver",
    "26.06-py3-min",
    "NVIDIA Triton Inference Server release 26.06 (CUDA 13.3); py3-min has no backends",
    CHECKED,
)
TRITON = Image(
    "nvcr.io/nvidia/tritonserver",
    "26.06-py3",
    "NVIDIA Triton Inference Server release 26.06 (CUDA 13.3): all backends, about 15 GB",
    CHECKED,
)
