"""What the bundled Prometheus is installed with."""

from __future__ import annotations

import math
from typing import Any, Final

from eks_gpu.facts import labels, taints
from eks_gpu.settings.monitoring import BundledPrometheus, PrometheusVolume

NODE_LABELS: tuple[str, ...] = (
    labels.INSTANCE_TYPE,
    labels.CAPACITY_TYPE,
    labels.GPU_TYPE,
    labels.WORKLOAD,
    labels.MIG_CONFIG_STATE,
)
"""Labels of nodes that kube-state-metrics shows. By default it shows none, and rules that read them are silent."""

_NOT_ON_EKS: tuple[str, ...] = ("kubeControllerManager", "kubeEtcd", "kubeProxy", "kubeScheduler")
"""What EKS lets nobody scrape: its control plane, and kube-proxy, whose metrics are bound to the node's own loopback
address. Switched on, their alerts fire for ever."""

_OF_FIXED_CLUSTERS: tuple[str, ...] = ("KubeCPUOvercommit", "KubeMemoryOvercommit")
"""Alerts of the chart that ask whether the other nodes could take over the work of the largest. They never can that of
a GPU node, and need not, because it is replaced: one p4d.24xlarge with a job on it and they fire for ever."""

_SAMPLES_SHARE: Final = 0.8
"""Part of the disk that samples may fill. Compaction and the write-ahead log need the rest; a Prometheus whose disk is
full ends and does not start again."""

_BORROWED_DISK_GIB: Final = 10
"""Without a volume samples are on the disk of a system node, beside its images: so little that it never fills up."""

_RESOURCES: Final = {"requests": {"cpu": "250m", "memory": "2Gi"}, "limits": {"memory": "4Gi"}}
"""A Prometheus that waits for room waits for ever, because nothing adds system nodes. 250m beside Karpenter, which asks
for a whole one of the two processors of an m7i.large, leaves room for DNS and the drivers; there is no limit."""

_SECRET_KEYS = {"userKey": "admin-user", "passwordKey": "admin-password"}


def chart_values(settings: BundledPrometheus) -> dict[str, Any]:
    """Return the values of the kube-prometheus-stack chart. Nothing of it is reachable from outside the cluster."""
    return {
        "prometheus": {"service": {"type": "ClusterIP"}, "prometheusSpec": _prometheus_spec(settings)},
        "alertmanager": {
            "enabled": True,
            "service": {"type": "ClusterIP"},
            "alertmanagerSpec": _alertmanager_spec(settings.alertmanager_config_secret),
        },
        "grafana": _grafana(settings.grafana_admin_secret),
        "kube-state-metrics": {"metricLabelsAllowlist": [f"nodes=[{','.join(NODE_LABELS)}]"]},
        # The nodes' own exporter must reach the GPU nodes, for instance to see a disk fill up with images.
        "prometheus-node-exporter": {"tolerations": [taints.TOLERATE_EVERYTHING]},
        "defaultRules": {"disabled": dict.fromkeys(_OF_FIXED_CLUSTERS, True)},
        **{part: {"enabled": False} for part in _NOT_ON_EKS},
    }


def _prometheus_spec(settings: BundledPrometheus) -> dict[str, Any]:
    return {
        "retention": f"{settings.retention_days}d",
        "retentionSize": f"{math.floor(_disk_gib(settings.volume) * _SAMPLES_SHARE)}GiB",
        # By default only what the chart itself has labelled is seen. These selectors see every namespace.
        "serviceMonitorSelectorNilUsesHelmValues": False,
        "podMonitorSelectorNilUsesHelmValues": False,
        "probeSelectorNilUsesHelmValues": False,
        "ruleSelectorNilUsesHelmValues": False,
        "resources": _RESOURCES,
        "storageSpec": _storage_spec(settings.volume),
    }


def _disk_gib(volume: PrometheusVolume | None) -> int:
    return volume.size_gib if volume else _BORROWED_DISK_GIB


def _storage_spec(volume: PrometheusVolume | None) -> dict[str, Any]:
    """Return where samples are kept: on a volume, or in a folder of the pod that goes with it."""
    if volume is None:
        return {"emptyDir": {"sizeLimit": f"{_BORROWED_DISK_GIB}Gi"}}
    return {
        "volumeClaimTemplate": {
            "spec": {
                "storageClassName": volume.storage_class,
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": f"{volume.size_gib}Gi"}},
            }
        }
    }


def _alertmanager_spec(config_secret: str | None) -> dict[str, Any]:
    return {"useExistingSecret": True, "configSecret": config_secret} if config_secret else {}


def _grafana(admin_secret: str | None) -> dict[str, Any]:
    """Return Grafana's values: off without a secret, because the chart's own password is known to everybody."""
    if admin_secret is None:
        return {"enabled": False}
    return {
        "enabled": True,
        "service": {"type": "ClusterIP"},
        "admin": {"existingSecret": admin_secret, **_SECRET_KEYS},
    }
