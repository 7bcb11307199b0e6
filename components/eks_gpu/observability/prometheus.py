"""What the bundled Prometheus is installed with."""

from __future__ import annotations

from typing import Any

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
"""Parts of the control plane that EKS lets nobody scrape; switched on, their alerts fire for ever."""

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
        **{part: {"enabled": False} for part in _NOT_ON_EKS},
    }


def _prometheus_spec(settings: BundledPrometheus) -> dict[str, Any]:
    return {
        "retention": f"{settings.retention_days}d",
        # By default only what the chart itself has labelled is seen. These selectors see every namespace.
        "serviceMonitorSelectorNilUsesHelmValues": False,
        "podMonitorSelectorNilUsesHelmValues": False,
        "probeSelectorNilUsesHelmValues": False,
        "ruleSelectorNilUsesHelmValues": False,
        "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"memory": "4Gi"}},
        **({"storageSpec": _storage_spec(settings.volume)} if settings.volume else {}),
    }


def _storage_spec(volume: PrometheusVolume) -> dict[str, Any]:
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
