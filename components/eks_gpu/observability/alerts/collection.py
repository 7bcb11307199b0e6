"""Whether the other alerts can see anything at all."""

from __future__ import annotations

from eks_gpu.facts import dcgm_exporter
from eks_gpu.facts.kubernetes_metrics import NODE_LABELS, UP
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, Severity, Subject
from eks_gpu.observability.alerts.promql import GPU

_EXPORTER_UP = f'{UP}{{job="{dcgm_exporter.JOB}"}} == 1'


def alerts() -> tuple[Alert, ...]:
    """Return the alerts on the collection of GPU metrics."""
    return (
        # Not absent(): a cluster that has scaled its GPU nodes to zero has no exporter, and that is well.
        Alert(
            name="GpuExporterAbsent",
            subject=Subject.COLLECTION,
            expr=f"count({recording.ALLOCATABLE} > 0) unless count({_EXPORTER_UP})",
            hold="10m",
            severity=Severity.CRITICAL,
            summary="No GPU metrics arrive at all; every other GPU alert is blind.",
            description="{{ $value }} nodes have GPUs, and no exporter answers",
            lessons=("M07",),
        ),
        Alert(
            name="GpuNodeWithoutExporter",
            subject=Subject.COLLECTION,
            expr=f"({recording.ALLOCATABLE} > 0) unless on ({dcgm_exporter.NODE}) ({_EXPORTER_UP})",
            hold="15m",
            severity=Severity.WARNING,
            summary="A GPU node is not watched.",
            description="node {{ $labels.node }} has {{ $value }} GPUs and no exporter that answers",
            lessons=("M07", "N05"),
        ),
        Alert(
            name="GpuNodeWithoutDevices",
            subject=Subject.COLLECTION,
            expr=f"{recording.EXPECTED_DEVICES} unless on ({dcgm_exporter.NODE}) ({recording.ALLOCATABLE} > 0)",
            hold="20m",
            severity=Severity.WARNING,
            summary="A node of a GPU type offers no GPU.",
            description="node {{ $labels.node }} should offer {{ $value }} GPUs and offers none",
            lessons=("G01", "N07", "M06"),
        ),
        Alert(
            name="GpuUtilisationMissing",
            subject=Subject.COLLECTION,
            expr=f"count by ({dcgm_exporter.NODE}) ({recording.TEMPERATURE} unless on ({GPU}) {recording.UTILISATION})",
            hold="30m",
            severity=Severity.INFO,
            summary="Nothing says whether GPUs work, so no alert says that they idle.",
            description="{{ $value }} GPUs of node {{ $labels.node }} report no utilisation",
            lessons=("M05", "M07"),
        ),
        Alert(
            name="GpuNodeMetricsAbsent",
            subject=Subject.COLLECTION,
            expr=f'absent({NODE_LABELS}{{{recording.NODE_INSTANCE_TYPE}!=""}})',
            hold="15m",
            severity=Severity.WARNING,
            summary="kube-state-metrics does not say which instance types the nodes are.",
            description="lost GPUs, missing exporters and prices stay unseen until kube-state-metrics has node labels",
            lessons=("M07",),
        ),
    )
