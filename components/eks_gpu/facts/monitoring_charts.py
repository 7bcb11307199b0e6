"""What brings Prometheus into a cluster, and what sends GPU metrics somewhere else instead."""

from __future__ import annotations

from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK

SOURCE = (
    "prometheus-community/helm-charts kube-prometheus-stack values.yaml (serviceMonitorSelectorNilUsesHelmValues true, "
    "so that only monitors with the label release=<name of the release> are selected; alertmanager.enabled true; "
    "additionalPrometheusRulesMap; kube-state-metrics.metricLabelsAllowlist []) and prometheus values.yaml; "
    "kubernetes/kube-state-metrics docs/developer/cli-arguments.md (--metric-labels-allowlist, none by default); EKS "
    "user guide, Amazon CloudWatch Observability add-on (NVIDIA GPU metrics by its own DCGM exporter); Datadog, New "
    "Relic, Dynatrace, Splunk and Grafana documentation of their Kubernetes charts; VictoriaMetrics/helm-charts "
    "victoria-metrics-k8s-stack values.yaml (disable_prometheus_converter false, vmagent selectAllByDefault true); "
    "bitnami/charts kube-prometheus (crds); open-telemetry/opentelemetry-helm-charts opentelemetry-kube-stack "
    "values.yaml (crds.installPrometheus true); NVIDIA/gpu-operator assets/state-dcgm-exporter/0400_service.yaml "
    "(annotation prometheus.io/scrape true)"
)
CHECKED = "2026-11-21"

OPERATOR_STACK = KUBE_PROMETHEUS_STACK.name
PLAIN_CHART = "prometheus"
"""Prometheus without its operator: it scrapes what is annotated, and knows neither ServiceMonitors nor PodMonitors."""
VICTORIA_STACK = "victoria-metrics-k8s-stack"
"""Its operator converts ServiceMonitors, PodMonitors and PrometheusRules, and its agent selects all of them."""
PROMETHEUS_CHARTS: frozenset[str] = frozenset({OPERATOR_STACK, PLAIN_CHART, VICTORIA_STACK})
DEFINITIONS_CHARTS: frozenset[str] = frozenset(
    {
        OPERATOR_STACK,
        VICTORIA_STACK,
        "kube-prometheus",
        "opentelemetry-kube-stack",
        "prometheus-operator",
        "prometheus-operator-crds",
        "rancher-monitoring-crd",
    }
)
"""Charts that bring the kinds ServiceMonitor and PrometheusRule."""

ELSEWHERE_CHARTS: frozenset[str] = frozenset(
    {
        "amazon-cloudwatch-observability",
        "datadog",
        "datadog-operator",
        "dynatrace-operator",
        "k8s-monitoring",
        "nri-bundle",
        "splunk-otel-collector",
    }
)
"""Charts that send metrics to a service outside the cluster, where the alerts are."""
ELSEWHERE_ADD_ONS: frozenset[str] = frozenset({"amazon-cloudwatch-observability"})

RELEASE_LABEL = "release"
"""The label by which kube-prometheus-stack selects what it reads, unless told otherwise."""

STATE_METRICS = "kube-state-metrics"
NODES_LABELS = "nodes"

DAEMON_SET_PREFIX = "kube_daemonset_status_"
"""What kube-state-metrics calls the series of DaemonSets."""
