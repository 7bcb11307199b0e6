"""Namespaces and service accounts that several parts must agree on."""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = (
    "aws/karpenter-provider-aws v1.14.1 getting started (kube-system, service account karpenter); NVIDIA GPU Operator "
    "docs (gpu-operator); kubernetes-sigs/aws-efs-csi-driver chart 4.4.1 and aws-ebs-csi-driver chart "
    "(service accounts)"
)
CHECKED = "2026-11-21"

KUBE_SYSTEM = "kube-system"

KARPENTER = KUBE_SYSTEM
"""Karpenter's own recommendation: the API server's priority for kube-system keeps the scaler alive under load."""

GPU_OPERATOR = "gpu-operator"
"""Where the GPU Operator and its operands run."""

NVIDIA = "nvidia"
"""Where the plain path runs: device plugin and DCGM exporter without the operator."""


GPU_VALIDATION = "gpu-validation"
"""Where GPUs are proven before use."""

NODE_VALIDATION = "gpu-node-validation"
"""Where new nodes are proven, by pods that may see all of a node's GPUs without asking for any."""

MONITORING = "monitoring"
INFERENCE = "inference"
TRAINING = "training"


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A Kubernetes service account that a chart or add-on creates and an AWS role is given to."""

    namespace: str
    name: str


KARPENTER_CONTROLLER = ServiceAccount(KARPENTER, "karpenter")
VPC_CNI_NODE = ServiceAccount(KUBE_SYSTEM, "aws-node")
EBS_CSI_CONTROLLER = ServiceAccount(KUBE_SYSTEM, "ebs-csi-controller-sa")
EFS_CSI_CONTROLLER = ServiceAccount(KUBE_SYSTEM, "efs-csi-controller-sa")
