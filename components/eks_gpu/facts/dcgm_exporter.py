"""The DCGM exporter: how it is found, and the labels of its series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from eks_gpu.facts import labels, resources

SOURCE = (
    "NVIDIA/dcgm-exporter 4.5.3-4.8.2 (691c92762eb5) and 4.6.0-4.8.3 internal/pkg/rendermetrics (labels), "
    "deployment/templates/service.yaml; NVIDIA/gpu-operator v26.7.0 assets/state-dcgm-exporter (service, port)"
)
CHECKED = "2026-11-21"

NODE = "node"
"""The node's name. The scrape sets it, because the exporter says ``Hostname`` up to 4.8.2 and ``hostname`` since."""

EXPORTED_PREFIX = "exported_"
"""What Prometheus puts before a label of the exporter that collides with one of the scrape (``honorLabels: false``)."""

POD = f"{EXPORTED_PREFIX}pod"
NAMESPACE = f"{EXPORTED_PREFIX}namespace"
CONTAINER = f"{EXPORTED_PREFIX}container"
"""Who uses the GPU. Without the prefix it is the exporter's own pod."""

GPU_LABELS: tuple[str, ...] = (NODE, "gpu", "UUID", "modelName")
"""What tells one physical GPU from another; MIG instances of a GPU share it."""

MIG_INSTANCE = "GPU_I_ID"
XID = "xid"
XID_OF_LAST_VALUE = "err_code"
CLOCK_EVENT = "clock_event"
THROTTLING_CLOCK_EVENTS: tuple[str, ...] = ("hw_power_brake", "hw_thermal", "sw_thermal")
"""The clock events that mean heat or power, not load. ``hw_slowdown`` alone also appears at harmless clock changes."""

JOB = "dcgm-exporter"
"""The ``job`` label of the scrape on both paths; also the name of the chart's release, service and pods."""

ENVIRONMENT: Mapping[str, str] = MappingProxyType({"NVIDIA_RESOURCE_NAMES": resources.GPU_SHARED})
"""By itself the exporter names the pods of whole GPUs and MIG instances only; a shared GPU would seem to be idle."""


@dataclass(frozen=True, slots=True)
class ScrapedService:
    """How to find the Service before an exporter."""

    labels: Mapping[str, str]
    port: str


CHART_SERVICE = ScrapedService(
    labels=MappingProxyType({labels.APP_NAME: JOB, labels.APP_COMPONENT: JOB}),
    port="metrics",
)
OPERATOR_SERVICE = ScrapedService(
    labels=MappingProxyType({"app": "nvidia-dcgm-exporter"}),
    port="gpu-metrics",
)
