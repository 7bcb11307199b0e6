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
EFA_DEVICE_PLUGIN = Chart(
    "aws-efa-k8s-device-plugin",
    "https://aws.github.io/eks-charts",
    "v0.5.30",
    "aws/eks-charts @bfe91c4 (2026-07-21), aws-efa-k8s-device-plugin/Chart.yaml: 0.5.30, plugin v0.5.20",
    CHECKED,
)
DCGM_EXPORTER = Chart(
    "dcgm-exporter",
    "https://nvidia.github.io/dcgm-exporter/helm-charts",
    "4.8.2",
    "NVIDIA/dcgm-exporter 4.5.3-4.8.2 (2026-05-06): newest whose counters could be read; 4.9.0 renames its metrics",
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
            EFA_DEVICE_PLUGIN,
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


_GUIDE = "read from `aws eks describe-addon-versions` by a public guide for upgrades from 1.33 to 1.35, mid 2026"
_RUNNING_1_36 = "recorded on a running Kubernetes 1.36 cluster in public notes, August 2026"
_DEFAULT_1_35 = "AWS's default for Kubernetes 1.35 in ap-northeast-2, read on 2026-08-04 in public Terraform code"

VPC_CNI = _each(
    "vpc-cni",
    {
        "1.33": ("v1.22.2-eksbuild.1", _GUIDE),
        "1.34": ("v1.22.2-eksbuild.1", _GUIDE),
        "1.35": ("v1.22.3-eksbuild.1", _DEFAULT_1_35),
        "1.36": ("v1.22.3-eksbuild.1", _RUNNING_1_36),
    },
)
COREDNS = _each(
    "coredns",
    {
        "1.33": ("v1.13.2-eksbuild.11", "ministryofjustice/cloud-platform-infrastructure PR 4675 (2026-07-06)"),
        "1.34": ("v1.13.2-eksbuild.10", _GUIDE),
        "1.35": ("v1.13.2-eksbuild.11", _DEFAULT_1_35),
        "1.36": ("v1.14.3-eksbuild.3", _RUNNING_1_36),
    },
)
KUBE_PROXY = _each(
    "kube-proxy",
    {
        "1.33": ("v1.33.10-eksbuild.13", "ministryofjustice/cloud-platform-infrastructure PR 4676 (2026-07-07)"),
        "1.34": ("v1.34.6-eksbuild.13", _GUIDE),
        "1.35": ("v1.35.3-eksbuild.13", "zalando-incubator/kubernetes-on-aws PR 11668 (2026-07-15)"),
        "1.36": ("v1.36.0-eksbuild.13", _RUNNING_1_36),
    },
)
POD_IDENTITY_AGENT = _same("eks-pod-identity-agent", "v1.3.10-eksbuild.3", f"{_GUIDE}; the same for 1.36 elsewhere")
EBS_CSI = _each(
    "aws-ebs-csi-driver",
    {
        "1.33": ("v1.61.1-eksbuild.1", _GUIDE),
        "1.34": ("v1.61.1-eksbuild.1", _GUIDE),
        "1.35": ("v1.61.1-eksbuild.1", _GUIDE),
        "1.36": ("v1.66.0-eksbuild.1", "mitodl/ol-infrastructure PR 5959 (2026-09-21): AWS's default for 1.36"),
    },
)
_EFS_1_35 = "zalando-incubator/kubernetes-on-aws PR 11666 (2026-07-15), on 1.35"
EFS_CSI = _each(
    "aws-efs-csi-driver",
    {
        "1.33": ("v3.3.0-eksbuild.1", f"{_EFS_1_35}; not verified for 1.33"),
        "1.34": ("v3.3.0-eksbuild.1", f"{_EFS_1_35}; not verified for 1.34"),
        "1.35": ("v3.3.0-eksbuild.1", _EFS_1_35),
        "1.36": (
            "v3.4.1-eksbuild.1",
            "ministryofjustice/modernisation-platform-environments PR 18211 (2026-08-14), for 1.36",
        ),
    },
)
NODE_MONITORING_AGENT = _same(
    "eks-node-monitoring-agent",
    "v1.7.0-eksbuild.1",
    "aws/eks-node-monitoring-agent v1.7.0 (2026-08-04); which Kubernetes versions AWS lists it for was not verified",
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
