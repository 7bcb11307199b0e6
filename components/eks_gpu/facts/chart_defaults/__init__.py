"""What well-known charts and add-ons put on every node: their DaemonSets, with the defaults that decide where they run.

Helm joins a user's values with a chart's: maps merge, lists replace, ``null`` takes away. So a chart is described by
the part of its default values that concerns scheduling, and by where in the joined values each DaemonSet finds its own
tolerations, selector, affinity and resources. Sources are named in the modules; all were read on 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from eks_gpu.facts.chart_defaults import node_agents, nvidia
from eks_gpu.facts.chart_defaults.daemon_set import GPU_ROLES, ChartDaemons, DaemonSet, Path, Role
from eks_gpu.facts.gpu_software import EFA_DEVICE_PLUGIN

__all__ = ["BY_CHART", "COMMANDS", "GPU_ROLES", "IMAGES", "ChartDaemons", "DaemonSet", "Path", "Role"]

SOURCE: Final = "the charts' own values files, named with their versions in each module of this package"
CHECKED: Final = "2026-11-21"

BY_CHART: Final[Mapping[str, ChartDaemons]] = MappingProxyType(
    {chart.chart: chart for chart in (*nvidia.CHARTS, *node_agents.CHARTS)}
)
"""Every chart, and every add-on of the same name, by that name."""

IMAGES: Final[tuple[tuple[str, Role | None], ...]] = (
    ("gpu-feature-discovery", Role.GFD),
    (EFA_DEVICE_PLUGIN, Role.EFA_PLUGIN),
    ("rocm/k8s-device-plugin", None),
    ("k8s-device-plugin", Role.DEVICE_PLUGIN),
    ("nvidia-gpu-device-plugin", Role.DEVICE_PLUGIN),
    ("k8s-dra-driver-gpu", Role.DRA_DRIVER),
    ("dra-driver-nvidia-gpu", Role.DRA_DRIVER),
    ("k8s-mig-manager", Role.MIG_MANAGER),
    ("dcgm-exporter", Role.EXPORTER),
    ("node-feature-discovery", Role.NFD),
    ("aws-ebs-csi-driver", Role.STORAGE),
    ("aws-efs-csi-driver", Role.STORAGE),
    ("node-exporter", Role.NODE_EXPORTER),
    ("fluent-bit", Role.LOGS),
    ("fluentd", Role.LOGS),
    ("fluentd-kubernetes-daemonset", Role.LOGS),
    ("promtail", Role.LOGS),
    ("filebeat", Role.LOGS),
    ("vector", Role.LOGS),
)
"""How an image's repository ends, and what a DaemonSet of it does; None for what serves others' devices. The first
that fits counts: AWS's plugin for network adapters and AMD's for GPUs are called almost as NVIDIA's."""

COMMANDS: Final[tuple[tuple[str, Role | None], ...]] = (
    ("gpu-feature-discovery", Role.GFD),
    ("mps-control-daemon", Role.MPS),
    ("nfd-topology-updater", None),
    ("compute-domain-kubelet-plugin", None),
)
"""What tells DaemonSets of one image from each other: how a word of the command ends. None for what has no role."""
