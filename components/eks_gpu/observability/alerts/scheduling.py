"""Pods that wait for GPUs."""

from __future__ import annotations

from eks_gpu.facts.kubernetes_metrics import POD_PHASE, POD_REQUESTS
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, Severity, Subject
from eks_gpu.observability.alerts.promql import minutes
from eks_gpu.settings.monitoring import AlertThresholds


def alerts(thresholds: AlertThresholds) -> tuple[Alert, ...]:
    """Return the alerts on pods that ask for GPUs and do not run."""
    return (
        Alert(
            name="GpuPodPending",
            subject=Subject.SCHEDULING,
            expr=(
                f'sum by (namespace, pod) ({POD_REQUESTS}{{resource=~"{recording.GPU_RESOURCES}"}})\n'
                f'and on (namespace, pod) ({POD_PHASE}{{phase="Pending"}} == 1)'
            ),
            hold=minutes(thresholds.pod_pending_minutes),
            severity=Severity.WARNING,
            summary="A pod waits for GPUs, or for its image.",
            description="{{ $labels.namespace }}/{{ $labels.pod }} asks for {{ $value }} GPUs and does not run",
            lessons=("N08", "N03", "W02"),
        ),
    )
