"""Names that NVIDIA's GPU software is known by in a cluster, whichever of its two owners installs it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCE = (
    "NVIDIA/gpu-operator v26.7.0 (assets/pre-requisites, api/nvidia/v1, controllers/state_manager.go); "
    "NVIDIA/k8s-device-plugin v0.20.0 (Helm chart templates, api/config/v1); NVIDIA/mig-parted v0.15.0 "
    "(cmd/nvidia-mig-manager); aws/eks-charts @bfe91c4 (aws-efa-k8s-device-plugin)"
)
CHECKED = "2026-11-21"

RUNTIME_CLASS = "nvidia"
"""RuntimeClass of GPU pods. The operator creates and owns it; without the operator nobody does unless we do."""

RUNTIME_HANDLER = "nvidia"
"""The containerd runtime behind it, as the EKS NVIDIA images configure it. A RuntimeClass cannot change its handler."""

CLUSTER_POLICY_API = "nvidia.com/v1"
CLUSTER_POLICY_KIND = "ClusterPolicy"
CLUSTER_POLICY = "cluster-policy"
"""Name of the one ClusterPolicy that the operator's chart creates."""

CLUSTER_POLICY_READY = "jsonpath={.status.state}=ready"
"""True once all operands are ready. It is true with no GPU node as well: it proves the operator, not the GPUs."""

DEVICE_PLUGIN_CONFIG_VERSION = "v1"
DEVICE_PLUGIN_DEFAULT_CONFIG = "default"
"""Name of the sharing configuration of nodes that name none by label."""
DEVICE_PLUGIN_EXCLUSIVE_CONFIG = "exclusive"
"""Name of the sharing configuration of nodes whose GPUs are whole, or partitioned, whatever the default is."""

DEVICE_LIST_BY_VOLUME_MOUNTS = "volume-mounts"
"""Device plugin and container toolkit agree on a pod's GPUs by mounts that only kubelet can make. The other way, an
environment variable, is in many images already, and would show them every GPU of the node."""

TOOLKIT_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "accept-nvidia-visible-devices-as-volume-mounts": "true",
        "accept-nvidia-visible-devices-envvar-when-unprivileged": "false",
    }
)
"""Options of the NVIDIA container toolkit by which a pod sees the GPUs that it asked for and no other.

Said on every node because the images changed their mind: v20260403 accepts the environment variable from any container,
v20260423 only from those with SYS_ADMIN (awslabs/amazon-eks-ami issue 2706; NVIDIA/k8s-device-plugin issue 856 on how
the options work together). Containers with SYS_ADMIN, such as device plugin and exporter, see every GPU.
"""

OPERATOR = "gpu-operator"
"""Label ``app`` of the operator's own pod."""

OPERATOR_DEVICE_PLUGIN = "nvidia-device-plugin-daemonset"
"""Name, and label ``app``, of the operator's device plugin (assets/state-device-plugin/0500_daemonset.yaml)."""

EFA_DEVICE_PLUGIN = "aws-efa-k8s-device-plugin"
"""Label ``name`` of the pods of AWS's plugin for Elastic Fabric Adapters (aws/eks-charts, the chart of this name)."""

EFA_DEVICE_PLUGIN_IMAGE = "eks/aws-efa-k8s-device-plugin"
"""Its image in EKS's registries (aws/eks-charts, values.yaml of the chart)."""

EKS_REGISTRY_ACCOUNT = "602401143452"
EKS_REGISTRY_REGIONS: frozenset[str] = frozenset(
    {
        "ap-northeast-1",
        "ap-northeast-2",
        "ap-northeast-3",
        "ap-south-1",
        "ap-southeast-1",
        "ap-southeast-2",
        "ca-central-1",
        "eu-central-1",
        "eu-north-1",
        "eu-west-1",
        "eu-west-2",
        "eu-west-3",
        "sa-east-1",
        "us-east-1",
        "us-east-2",
        "us-west-1",
        "us-west-2",
    }
)
"""Regions where EKS's registry is that account's (EKS user guide, "View Amazon container image registries for Amazon
EKS add-ons"); other regions have accounts of their own."""

MIG_CONFIG_FILE = "config.yaml"
"""Key of the layouts in the ConfigMap that the MIG manager reads."""

METRICS_FILE = "dcgm-metrics.csv"
"""Key of the counter list in the ConfigMap that the operator gives the exporter."""

MIG_MANAGER_WITH_REBOOT = "WITH_REBOOT"
"""Environment variable of the MIG manager: reboot the node if a GPU cannot be reset, as in most virtual machines."""
