"""NVIDIA's charts: device plugin, GPU Operator, DCGM exporter, DRA driver, network operator, and feature discovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import discovery, labels
from eks_gpu.facts.chart_defaults.daemon_set import (
    CONTROL_PLANE,
    CRITICAL,
    MASTER,
    TOLERATES_GPU,
    ChartDaemons,
    DaemonSet,
    Path,
    Role,
    equal,
    exists,
    requires,
    resources,
)
from eks_gpu.facts.compatibility import DRA_DRIVER_CHARTS
from eks_gpu.facts.gpu_software import OPERATOR_DEVICE_PLUGIN
from eks_gpu.facts.taints import GPU
from eks_gpu.facts.versions import DCGM_EXPORTER as DCGM_EXPORTER_CHART
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN

SOURCE = (
    "values.yaml and templates of NVIDIA/k8s-device-plugin v0.17.0 and v0.20.0, NVIDIA/gpu-operator v26.7.0 (and "
    "assets/state-*/*_daemonset.yaml), NVIDIA/dcgm-exporter 4.5.3-4.8.2, NVIDIA/k8s-dra-driver-gpu @0540432, "
    "kubernetes-sigs/node-feature-discovery @000d580, Mellanox/network-operator @003c777"
)
CHECKED = "2026-11-21"

_LOOKS_LIKE_GPU_NODE: Final = requires(
    [(discovery.PCI_VENDOR, "In", ["true"])],
    [(discovery.CPU_VENDOR, "In", [discovery.CPU_VENDOR_NVIDIA])],
    [(labels.GPU_PRESENT, "In", ["true"])],
)
"""The affinity of device plugin and DRA driver."""

_BY_VENDOR: Final[Mapping[str, object]] = MappingProxyType({"sources": {"pci": {"deviceLabelFields": ["vendor"]}}})
"""NVIDIA's charts have node feature discovery name PCI devices by vendor alone."""


def _nfd(prefix: Path, *switches: tuple[Path, ...]) -> DaemonSet:
    """Return node feature discovery's worker, whose values are under ``prefix``."""
    worker = (*prefix, "worker")
    return DaemonSet(
        name="node-feature-discovery-worker",
        role=Role.NFD,
        switches=(*switches, ((*worker, "enable"),)),
        tolerations=((*worker, "tolerations"),),
        selectors=((*worker, "nodeSelector"),),
        affinity=(*worker, "affinity"),
        resources=((*worker, "resources"),),
        pci_fields=(*worker, "config", "sources", "pci", "deviceLabelFields"),
    )


def _nfd_defaults(
    tolerations: Sequence[Mapping[str, str]] = (), config: Mapping[str, object] | None = None
) -> dict[str, object]:
    worker = {
        "enable": True,
        "tolerations": list(tolerations),
        "nodeSelector": {},
        "affinity": {},
        "resources": resources("5m", "64Mi"),
        "config": config or {},
    }
    return {"worker": worker}


def _of_plugin(
    name: str,
    role: Role,
    switch: Path,
    adds: Mapping[str, str | None] | None = None,
    selects: Mapping[str, str] | None = None,
) -> DaemonSet:
    """Return a DaemonSet of the device plugin's chart: all are scheduled by the same values."""
    return DaemonSet(
        name=name,
        role=role,
        switches=((switch,),),
        tolerations=(("tolerations",),),
        selectors=(("nodeSelector",),),
        always_selects=selects or {},
        affinity=("affinity",),
        resources=(("resources",),),
        adds=adds or {},
    )


DEVICE_PLUGIN: Final = ChartDaemons(
    chart=NVIDIA_DEVICE_PLUGIN.name,
    read_until=(0, 20),
    defaults={
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": False},
        "tolerations": [CRITICAL, TOLERATES_GPU],
        "nodeSelector": {},
        "affinity": _LOOKS_LIKE_GPU_NODE,
        "resources": {},
        "nfd": _nfd_defaults((equal(MASTER), equal(GPU.key, GPU.value)), _BY_VENDOR),
    },
    daemon_sets=(
        _of_plugin("nvidia-device-plugin", Role.DEVICE_PLUGIN, ("devicePlugin", "enabled")),
        _of_plugin("gpu-feature-discovery", Role.GFD, ("gfd", "enabled"), discovery.BY_GFD),
        _of_plugin(
            "mps-control-daemon", Role.MPS, ("devicePlugin", "enabled"), selects={discovery.MPS_CAPABLE: "true"}
        ),
        _nfd(("nfd",), (("nfd", "enabled"), ("gfd", "enabled"))),
    ),
)
"""Its node feature discovery comes with GPU feature discovery, unless ``nfd.enabled`` says otherwise, and that worker
tolerates the taint ``nvidia.com/gpu`` with one value only."""

_CLUSTER_POLICY: Final[tuple[Path, ...]] = (("clusterPolicy", "deployCR"),)


def _operand(
    role: Role,
    operand: str,
    values: str,
    *,
    name: str | None = None,
    adds: Mapping[str, str | None] | None = None,
) -> DaemonSet:
    """Return an operand of the GPU Operator: all are scheduled by one list of tolerations and a label each."""
    return DaemonSet(
        name=name or f"nvidia-{operand}",
        role=role,
        switches=(_CLUSTER_POLICY, ((values, "enabled"),)),
        tolerations=(("daemonsets", "tolerations"),),
        always_selects={discovery.deploy(operand): "true"},
        resources=((values, "resources"),),
        adds=adds or {},
        opt_outs=(discovery.DEPLOY_OPERANDS, discovery.deploy(operand)),
    )


OPERATOR: Final = ChartDaemons(
    chart=GPU_OPERATOR.name,
    read_until=(26, 7),
    defaults={
        "clusterPolicy": {"deployCR": True},
        "gpuCluster": {"deployCR": False},
        "nfd": {"enabled": True},
        "node-feature-discovery": _nfd_defaults((equal(CONTROL_PLANE), TOLERATES_GPU), _BY_VENDOR),
        "daemonsets": {"tolerations": [TOLERATES_GPU]},
        "driver": {"enabled": True},
        "validator": {"enabled": True},
        "toolkit": {"enabled": True},
        "devicePlugin": {"enabled": True},
        "dcgm": {"enabled": False},
        "dcgmExporter": {"enabled": True},
        "gfd": {"enabled": True},
        "migManager": {"enabled": True},
        "nodeStatusExporter": {"enabled": False},
    },
    daemon_sets=(
        replace(
            _operand(Role.DRIVER, "driver", "driver", name="nvidia-driver-daemonset"),
            decided_by=("driver", "nvidiaDriverCRD", "enabled"),
        ),
        _operand(Role.TOOLKIT, "container-toolkit", "toolkit", name="nvidia-container-toolkit-daemonset"),
        _operand(Role.VALIDATOR, "operator-validator", "validator"),
        _operand(Role.DEVICE_PLUGIN, "device-plugin", "devicePlugin", name=OPERATOR_DEVICE_PLUGIN),
        _operand(Role.DCGM, "dcgm", "dcgm"),
        _operand(Role.EXPORTER, "dcgm-exporter", "dcgmExporter"),
        _operand(Role.GFD, "gpu-feature-discovery", "gfd", name="gpu-feature-discovery", adds=discovery.BY_GFD),
        _operand(Role.MIG_MANAGER, "mig-manager", "migManager"),
        _nfd(("node-feature-discovery",), (("nfd", "enabled"),)),
        DaemonSet(
            name="nvidia-dra-driver",
            role=Role.DRA_DRIVER,
            switches=((("gpuCluster", "deployCR"),),),
            tolerations=(("daemonsets", "tolerations"),),
            opt_outs=(discovery.DEPLOY_OPERANDS,),
        ),
    ),
)

EXPORTER: Final = ChartDaemons(
    chart=DCGM_EXPORTER_CHART.name,
    read_until=(4, 8),
    defaults={
        "tolerations": [exists(CONTROL_PLANE)],
        "nodeSelector": {},
        "affinity": {},
        "resources": resources("100m", "128Mi"),
    },
    daemon_sets=(
        DaemonSet(
            name="dcgm-exporter",
            role=Role.EXPORTER,
            tolerations=(("tolerations",),),
            selectors=(("nodeSelector",),),
            affinity=("affinity",),
            resources=(("resources",),),
        ),
    ),
)
"""It tolerates nothing that a GPU pool is tainted with, and without a selector runs on CPU nodes as well."""

_DRA_DAEMON: Final = DaemonSet(
    name="kubelet-plugin",
    role=Role.DRA_DRIVER,
    switches=((("resources", "gpus", "enabled"),),),
    tolerations=(("kubeletPlugin", "tolerations"),),
    selectors=(("kubeletPlugin", "nodeSelector"),),
    affinity=("kubeletPlugin", "affinity"),
    resources=(("kubeletPlugin", "containers", "gpus", "resources"),),
)
_DRA_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": True}},
        "kubeletPlugin": {"tolerations": [], "nodeSelector": {}, "affinity": _LOOKS_LIKE_GPU_NODE},
    }
)
DRA_DRIVERS: Final = tuple(
    ChartDaemons(chart=name, defaults=_DRA_DEFAULTS, daemon_sets=(_DRA_DAEMON,), read_until=(25, 12))
    for name in DRA_DRIVER_CHARTS
)
"""Under both of its names. With ``resources.gpus.enabled`` off it serves compute domains only, and owns no GPU."""

NFD: Final = ChartDaemons(
    chart="node-feature-discovery", defaults=_nfd_defaults(), daemon_sets=(_nfd(()),), read_until=(0, 19)
)

GFD: Final = ChartDaemons(
    chart="gpu-feature-discovery",
    read_until=(0,),
    defaults={},
    daemon_sets=(
        DaemonSet(
            name="gpu-feature-discovery",
            role=Role.GFD,
            tolerations=(("tolerations",),),
            selectors=(("nodeSelector",),),
            affinity=("affinity",),
            resources=(("resources",),),
            adds=discovery.BY_GFD,
        ),
    ),
)
"""The chart of its own that the device plugin's has replaced; its values were not read."""

NETWORK_OPERATOR: Final = ChartDaemons(
    chart="network-operator",
    read_until=(25, 10),
    defaults={
        "nfd": {"enabled": True},
        "node-feature-discovery": _nfd_defaults((exists(MASTER), exists(CONTROL_PLANE), TOLERATES_GPU), _BY_VENDOR),
    },
    daemon_sets=(_nfd(("node-feature-discovery",), (("nfd", "enabled"),)),),
)
"""What it puts on nodes besides is decided by custom resources."""

CHARTS: Final = (DEVICE_PLUGIN, OPERATOR, EXPORTER, *DRA_DRIVERS, NFD, GFD, NETWORK_OPERATOR)

STATIC_DEVICE_PLUGIN: Final = DaemonSet(
    name=OPERATOR_DEVICE_PLUGIN, role=Role.DEVICE_PLUGIN, always_tolerates=(TOLERATES_GPU,)
)
"""The manifest in the device plugin's own repository (deployments/static/nvidia-device-plugin.yml, v0.17.0): it
tolerates the GPU taint, and selects no nodes."""
