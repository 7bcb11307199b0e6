"""GPU memory that is nearly full."""

from __future__ import annotations

from eks_gpu.facts import dcgm_exporter
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, Severity, Subject
from eks_gpu.observability.alerts.promql import minutes, one_of
from eks_gpu.settings.monitoring import AlertThresholds

_DESCRIPTION = (
    "GPU {{ $labels.gpu }} of node {{ $labels.node }} has {{ $value | humanizePercentage }} of its memory in use"
    "{{ if $labels.exported_pod }} by {{ $labels.exported_namespace }}/{{ $labels.exported_pod }}{{ end }}"
)


def alerts(thresholds: AlertThresholds) -> tuple[Alert, ...]:
    """Return the alerts on GPU memory: a warning, and only information where a server fills the memory by design."""
    by_design = one_of(f"{prefix}.*" for prefix in thresholds.preallocating_containers)
    # An empty expression would match every series without a container.
    not_by_design = f'{{{dcgm_exporter.CONTAINER}!~"{by_design}"}}' if by_design else ""
    nearly_full = f"> {thresholds.memory_used_ratio}"
    warning = Alert(
        name="GpuMemoryNearlyFull",
        subject=Subject.MEMORY,
        expr=f"{recording.MEMORY_USED}{not_by_design} {nearly_full}",
        hold=minutes(thresholds.memory_minutes),
        severity=Severity.WARNING,
        summary="The memory of a GPU is nearly full; the next allocation may fail.",
        description=_DESCRIPTION,
        lessons=("M04",),
    )
    information = Alert(
        name="GpuMemoryPreallocated",
        subject=Subject.MEMORY,
        expr=f'{recording.MEMORY_USED}{{{dcgm_exporter.CONTAINER}=~"{by_design}"}} {nearly_full}',
        hold=minutes(thresholds.memory_minutes),
        severity=Severity.INFO,
        summary="A server that fills GPU memory by design took more than it is usually given.",
        description=_DESCRIPTION,
        lessons=("M04",),
    )
    return (warning, information) if by_design else (warning,)
