"""How Prometheus finds the exporter and what it makes of its labels."""

from __future__ import annotations

from typing import Any

from eks_gpu.facts import dcgm_exporter

INTERVAL = "30s"
"""The exporter collects every 30 s; a shorter interval repeats samples."""

TIMEOUT = "10s"


def service_monitor_spec(service: dcgm_exporter.ScrapedService, namespace: str) -> dict[str, Any]:
    """Return the ``spec`` of the ServiceMonitor for the exporter behind ``service`` in ``namespace``."""
    return {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": dict(service.labels)},
        "endpoints": [
            {
                "port": service.port,
                "path": "/metrics",
                "interval": INTERVAL,
                "scrapeTimeout": TIMEOUT,
                # A pod that uses a GPU arrives as exported_pod. With true, idle GPUs would belong to the exporter.
                "honorLabels": False,
                "relabelings": [
                    {
                        "action": "replace",
                        "sourceLabels": ["__meta_kubernetes_pod_node_name"],
                        "targetLabel": dcgm_exporter.NODE,
                    },
                    # The default is the Service's name, which differs between the chart and the operator.
                    {"action": "replace", "targetLabel": "job", "replacement": dcgm_exporter.JOB},
                ],
            }
        ],
    }
