"""Labels by which GPU software finds its nodes: what discovery and the GPU Operator put on them, and what opts out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from eks_gpu.facts import labels

SOURCE = (
    "NVIDIA/gpu-operator v26.7.0 controllers/state_manager.go (gpuNodeLabels, gpuStateLabels); "
    "NVIDIA/k8s-device-plugin v0.20.0 values.yaml (affinity), templates/daemonset-mps-control-daemon.yml and "
    "docs/gpu-feature-discovery (generated labels); "
    "kubernetes-sigs/node-feature-discovery @000d580 docs (sources.pci: the label's name follows deviceLabelFields); "
    "awslabs/amazon-eks-ami v20260724 nodeadm/internal/kubelet/config.go"
)
CHECKED = "2026-11-21"

_NFD = "feature.node.kubernetes.io"

PCI_VENDOR = f"{_NFD}/pci-10de.present"
"""Node feature discovery that is told to name PCI devices by vendor alone, as NVIDIA's charts do; 10de is NVIDIA."""
PCI_CLASS_AND_VENDOR: tuple[str, ...] = (f"{_NFD}/pci-0300_10de.present", f"{_NFD}/pci-0302_10de.present")
"""Node feature discovery's own default: class and vendor. The device plugin's chart does not look for these."""
BY_SOFTWARE: tuple[str, ...] = (f"{_NFD}/", "nvidia.com/")
"""How labels begin that only software on a node puts there, unless its pool does."""
CPU_VENDOR = f"{_NFD}/cpu-model.vendor_id"
CPU_VENDOR_NVIDIA = "NVIDIA"

MPS_CAPABLE = "nvidia.com/mps.capable"

DEPLOY_OPERANDS = "nvidia.com/gpu.deploy.operands"
"""With ``false``, set by the pool, the GPU Operator leaves the node alone."""
_DEPLOY = labels.DEPLOY_DEVICE_PLUGIN.rpartition(".")[0]


def deploy(operand: str) -> str:
    """Return the label by which the operator puts an operand on a node; with ``false`` from the start it does not."""
    return f"{_DEPLOY}.{operand}"


OPERANDS: tuple[str, ...] = (
    "driver",
    "container-toolkit",
    "operator-validator",
    "device-plugin",
    "dcgm",
    "dcgm-exporter",
    "gpu-feature-discovery",
    "mig-manager",
    "node-status-exporter",
)
"""What the operator deploys by label, as the labels call it."""

BY_OPERATOR: Mapping[str, str] = MappingProxyType(
    {labels.GPU_PRESENT: "true", **{deploy(operand): "true" for operand in OPERANDS}}
)
"""What the operator puts on a node that it takes for a GPU node."""

BY_GFD: Mapping[str, str | None] = MappingProxyType(
    dict.fromkeys(
        (
            labels.GFD_PRODUCT,
            labels.GFD_COUNT,
            labels.GFD_MEMORY,
            labels.GFD_REPLICAS,
            labels.MIG_CAPABLE,
            *(f"nvidia.com/gpu.{what}" for what in ("family", "machine", "mode", "compute.major", "compute.minor")),
        )
    )
)
"""What GPU feature discovery has node feature discovery put on a node; None where the value depends on the node. It
says ``MPS_CAPABLE`` as well, with the value that the sharing configuration gives."""

GPU_MARKS: tuple[tuple[str, str], ...] = (
    (PCI_VENDOR, "true"),
    *((key, "true") for key in PCI_CLASS_AND_VENDOR),
)
"""Any of these makes a node a GPU node for the operator."""

NODEADM_LABELS_FROM = (1, 35)
"""Kubernetes version from which the AL2023 NVIDIA images label their nodes ``nvidia.com/gpu.present`` themselves."""
