"""What brings Prometheus into a cluster, and what sends GPU metrics somewhere else instead."""

from __future__ import annotations

from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK

SOURCE = (
    "prometheus-community/helm-charts kube-prometheus-stack values.yaml (serviceMonitorSelectorNilUsesHelmValues true, "
    "so that only monitors with the label release=<name of the release> are selected; alertmanager.enabled true; "
    "additionalPrometheusRulesMap; kube-state-metrics.metricLabelsAllowlist []) and prometheus values.yaml; "
    "kubernetes/kube-state-metrics docs/developer/cli-arguments.md (--metric-labels-allowlist, none by default); EKS "
    "user guide, Amazon CloudWatch Observability add-on (NVIDIA GPU metrics by its own DCGM exporter); Datadog, New "
    "Relic, Dynatrace, Splunk and Grafana documentation of their Kubernetes charts"
)
CHECKED = "2026-11-21"

OPERATOR_STACK = KUBE_PROMETHEUS_STACK.name
PROMETHEUS_CHARTS: frozenset[str] = frozenset({OPERATOR_STACK, "prometheus", "victoria-metrics-k8s-stack"})
DEFINITIONS_CHARTS: frozenset[str] = frozenset(
    {OPERATOR_STACK, "prometheus-operator-crds", "prometheus-operator", "victoria-metrics-k8s-stack"}
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

LABELS_FLAG = "--metric-labels-allowlist"
"""kube-state-metrics' option for the labels that ``kube_node_labels`` shows."""
STATE_METRICS = "kube-state-metrics"
NODES_LABELS = "nodes"

DAEMON_SET_PREFIX = "kube_daemonset_status_"
"""What kube-state-metrics calls the series of DaemonSets."""
