"""Watching GPUs.

Builds
    Namespace       of the bundled Prometheus, unless one exists already
    Release         kube-prometheus-stack, likewise
    Release         the DCGM exporter, unless the GPU software brings its own
    ServiceMonitor  the scrape, with the node's name on every series
    PrometheusRule  recording rules and alerts
    ConfigMap       a runbook for each alert

Needs
    GPU software. An existing Prometheus must be run by a prometheus-operator, and have a kube-state-metrics with
    ``--metric-labels-allowlist=nodes=[node.kubernetes.io/instance-type]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import dcgm_exporter, namespaces, versions
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs
from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.observability import exporter, prometheus, runbook
from eks_gpu.observability.rules import ALERTS, RUNBOOK_CONFIG_MAP, prometheus_rule_spec
from eks_gpu.observability.scrape import service_monitor_spec
from eks_gpu.settings import monitoring as settings

_PROMETHEUS_RELEASE: Final = "kube-prometheus-stack"
_MONITORING_API: Final = "monitoring.coreos.com/v1"


@dataclass(frozen=True, kw_only=True)
class GpuMonitoringArgs:
    """What the monitoring is built from."""

    settings: settings.Monitoring
    """Choices of the ``monitoring`` block."""

    cluster: ClusterConnection
    """Where it is installed."""

    gpu_software: GpuSoftware
    """Who owns the GPUs: whether an exporter came with it, where it runs, and how a pod sees the GPUs."""


class GpuMonitoring(Component):
    """GPU metrics, the alerts on them, and what to do about each alert."""

    ready: tuple[pulumi.Resource, ...]
    """What exists when GPUs are watched."""

    def __init__(self, name: str, args: GpuMonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install whoever measures and whoever watches; then tell the one about the other."""
        super().__init__(name, opts)
        self._args = args
        self._namespace = args.gpu_software.namespace
        bundled = self._bundled_prometheus()
        exporters = self._exporter()
        scrape = self._service_monitor((*bundled, *exporters))
        rules = self._prometheus_rule(bundled)
        runbooks = self._runbooks()
        self.ready = (scrape, rules, runbooks)
        self.register_outputs({})

    def _options(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return self.child_opts(provider=self._args.cluster.provider, depends_on=depends_on)

    def _bundled_prometheus(self) -> tuple[pulumi.Resource, ...]:
        chosen = self._args.settings.prometheus
        if not isinstance(chosen, settings.BundledPrometheus):
            return ()
        namespace = Namespace(
            self.child_name("namespace"),
            # The exporter of the nodes' own metrics sees the host.
            NamespaceArgs(namespace=namespaces.MONITORING, pod_security=PodSecurity.PRIVILEGED),
            self._options(*self._args.cluster.ready),
        )
        release = HelmChart(
            self.child_name("prometheus"),
            HelmChartArgs(
                chart=versions.KUBE_PROMETHEUS_STACK,
                chart_source=self._args.settings.chart_source,
                namespace=namespace.namespace,
                release_name=_PROMETHEUS_RELEASE,
                values=prometheus.chart_values(chosen),
            ),
            self._options(namespace),
        )
        return (release,)

    def _exporter(self) -> tuple[pulumi.Resource, ...]:
        software = self._args.gpu_software
        if software.owns_exporter:
            return ()
        release = HelmChart(
            self.child_name("exporter"),
            HelmChartArgs(
                chart=versions.DCGM_EXPORTER,
                chart_source=self._args.settings.chart_source,
                namespace=self._namespace,
                # The name of the release becomes the name of pods and Service, and a label that the scrape selects.
                release_name=dcgm_exporter.JOB,
                values=exporter.chart_values(software.runtime_class_name),
            ),
            self._options(*software.ready),
        )
        return (release,)

    def _service_monitor(self, depends_on: tuple[pulumi.Resource, ...]) -> k8s.apiextensions.CustomResource:
        owned = self._args.gpu_software.owns_exporter
        service = dcgm_exporter.OPERATOR_SERVICE if owned else dcgm_exporter.CHART_SERVICE
        return self._monitoring_resource(
            "service-monitor",
            "ServiceMonitor",
            service_monitor_spec(service, self._namespace),
            self._options(*self._args.gpu_software.ready, *depends_on),
        )

    def _prometheus_rule(self, depends_on: tuple[pulumi.Resource, ...]) -> k8s.apiextensions.CustomResource:
        return self._monitoring_resource(
            "rules",
            "PrometheusRule",
            prometheus_rule_spec(self._args.settings, self._namespace),
            self._options(*self._args.gpu_software.ready, *depends_on),
        )

    def _monitoring_resource(
        self, suffix: str, kind: str, spec: dict[str, Any], opts: pulumi.ResourceOptions
    ) -> k8s.apiextensions.CustomResource:
        """Return a resource for the prometheus-operator, with the labels that the Prometheus selects by."""
        return k8s.apiextensions.CustomResource(
            self.child_name(suffix),
            api_version=_MONITORING_API,
            kind=kind,
            metadata={"namespace": self._namespace, **selector_metadata(self._args.settings.prometheus)},
            spec=spec,
            opts=opts,
        )

    def _runbooks(self) -> k8s.core.v1.ConfigMap:
        return k8s.core.v1.ConfigMap(
            self.child_name("runbooks"),
            metadata={"name": RUNBOOK_CONFIG_MAP, "namespace": self._namespace},
            data={runbook.file_name(alert.name): runbook.read(alert.name) for alert in ALERTS},
            opts=self._options(*self._args.gpu_software.ready),
        )


def selector_metadata(chosen: settings.BundledPrometheus | settings.ExistingPrometheus) -> dict[str, dict[str, str]]:
    """Return the ``labels`` by which the Prometheus selects what it reads; the bundled one reads everything.

    Where there are none the key is left out: the API server keeps no empty map, and each refresh would find it gone.
    """
    if isinstance(chosen, settings.BundledPrometheus) or not chosen.selector_labels:
        return {}
    return {"labels": dict(chosen.selector_labels)}
