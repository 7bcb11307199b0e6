"""Heat and what the GPU does against it."""

from __future__ import annotations

from eks_gpu.facts import dcgm_exporter
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, Severity, Subject
from eks_gpu.observability.alerts.promql import minutes, one_of
from eks_gpu.settings.monitoring import AlertThresholds

_GPU = "GPU {{ $labels.gpu }} ({{ $labels.modelName }}) of node {{ $labels.node }}"


def alerts(thresholds: AlertThresholds) -> tuple[Alert, ...]:
    """Return the alerts on temperature and throttling."""
    return (
        Alert(
            name="GpuTemperatureHigh",
            subject=Subject.THERMAL,
            expr=f"{recording.TEMPERATURE} > {thresholds.temperature_warning_celsius}",
            hold=minutes(thresholds.temperature_warning_minutes),
            severity=Severity.WARNING,
            summary="A GPU is hot.",
            description=f"{_GPU} has {{{{ $value }}}} C",
            lessons=("M03",),
        ),
        Alert(
            name="GpuTemperatureCritical",
            subject=Subject.THERMAL,
            expr=f"{recording.TEMPERATURE} > {thresholds.temperature_critical_celsius}",
            hold="1m",
            severity=Severity.CRITICAL,
            summary="A GPU is about to slow down or switch off because of heat.",
            description=f"{_GPU} has {{{{ $value }}}} C",
            lessons=("M03",),
        ),
        Alert(
            name="GpuThrottled",
            subject=Subject.THERMAL,
            expr=(
                f"max_over_time({recording.THROTTLING}"
                f'{{{dcgm_exporter.CLOCK_EVENT}=~"{one_of(dcgm_exporter.THROTTLING_CLOCK_EVENTS)}"}}[5m]) > 0'
            ),
            hold="10m",
            severity=Severity.WARNING,
            summary="A GPU runs slower than it could because of heat or power.",
            description=f"{_GPU} slows down: {{{{ $labels.clock_event }}}}",
            lessons=("M03",),
        ),
    )
