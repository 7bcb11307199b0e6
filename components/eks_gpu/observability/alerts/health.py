"""The GPU itself: XID errors by class, lost and unhealthy devices, memory errors."""

from __future__ import annotations

from eks_gpu.facts import dcgm_exporter, xid
from eks_gpu.facts.kubernetes_metrics import NODE_INFO, UP
from eks_gpu.facts.xid import XidClass
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, Severity, Subject
from eks_gpu.observability.alerts.promql import one_of
from eks_gpu.settings.monitoring import AlertThresholds

_WINDOW = "10m"
"""Longer than the exporter's own window of five minutes, so that a missed scrape or two loses no XID."""

_EVENT_STAYS = "1h"
"""An XID is over in an instant; the alert waits for somebody to read it."""

_GPU = "GPU {{ $labels.gpu }} ({{ $labels.modelName }}) of node {{ $labels.node }}"
_USED_BY = "{{ if $labels.exported_pod }}, used by {{ $labels.exported_namespace }}/{{ $labels.exported_pod }}{{ end }}"


def alerts(thresholds: AlertThresholds) -> tuple[Alert, ...]:
    """Return the alerts on the health of GPUs."""
    return (*_xid_alerts(), *_device_alerts(), *_memory_error_alerts(thresholds))


def _xid_alerts() -> tuple[Alert, ...]:
    hardware = one_of(xid.of_class(XidClass.HARDWARE))
    nvlink = one_of(xid.of_class(XidClass.NVLINK))
    application = one_of(xid.of_class(XidClass.APPLICATION))
    informational = one_of(xid.of_class(XidClass.INFORMATIONAL))
    return (
        _xid_alert(
            "GpuXidCritical",
            f'{dcgm_exporter.XID}=~"{hardware}"',
            Severity.CRITICAL,
            "A GPU reported a hardware error.",
            "drain the node",
        ),
        _xid_alert(
            "GpuXidNvlink",
            f'{dcgm_exporter.XID}=~"{nvlink}"',
            Severity.CRITICAL,
            "A link between GPUs failed.",
            "drain the node: resetting one GPU is not enough",
        ),
        # Everything that no other class claims: unknown and future codes are warnings, not silence.
        _xid_alert(
            "GpuXidWarning",
            f'{dcgm_exporter.XID}!~"{hardware}|{nvlink}|{application}|{informational}"',
            Severity.WARNING,
            "A GPU announced trouble, or an error that is in no class.",
            "look up the code, plan a reset",
        ),
        _xid_alert(
            "GpuXidApplication",
            f'{dcgm_exporter.XID}=~"{application}"',
            Severity.INFO,
            "A program made an error on a GPU; the GPU is healthy.",
            "restart the program",
        ),
        Alert(
            name="GpuXidUnresolved",
            subject=Subject.HEALTH,
            expr=f'{recording.LAST_XID}{{{dcgm_exporter.XID_OF_LAST_VALUE}=~"{hardware}|{nvlink}"}}',
            hold="1h",
            severity=Severity.WARNING,
            summary="A GPU had a hardware error an hour ago, and its node still serves.",
            description=f"the last XID of {_GPU} is {{{{ $labels.err_code }}}} and nobody has replaced or reset it",
            lessons=("M01",),
        ),
    )


def _xid_alert(name: str, matcher: str, severity: Severity, summary: str, advice: str) -> Alert:
    return Alert(
        name=name,
        subject=Subject.HEALTH,
        # The count is a window's, not a counter: its increase() is never right.
        expr=f"max_over_time({recording.XID_ERRORS}{{{matcher}}}[{_WINDOW}]) > 0",
        hold="0m",
        severity=severity,
        summary=summary,
        description=f"XID {{{{ $labels.xid }}}} on {_GPU}{_USED_BY}; {advice}",
        lessons=("M01",),
        keep_firing=_EVENT_STAYS if severity is Severity.CRITICAL else None,
    )


def _device_alerts() -> tuple[Alert, ...]:
    return (
        # A GPU that fell off the bus takes its series along, so no threshold on it can ever fire. Counts are compared:
        # with what the instance type has, and, where the type is not known, with what the node had.
        Alert(
            name="GpuLost",
            subject=Subject.HEALTH,
            expr=(
                f"{recording.DEVICES} < on ({dcgm_exporter.NODE}) {recording.EXPECTED_DEVICES}\n"
                f"or {recording.DEVICES} < max_over_time({recording.DEVICES}[6h]) unless on ({dcgm_exporter.NODE}) "
                f"{recording.EXPECTED_DEVICES}\n"
                f"or (\n"
                f"  max_over_time({recording.DEVICES}[6h]) * 0\n"
                f"  and on ({dcgm_exporter.NODE}) {NODE_INFO}\n"
                f'  and on ({dcgm_exporter.NODE}) ({UP}{{job="{dcgm_exporter.JOB}"}} == 1)\n'
                f"  unless on ({dcgm_exporter.NODE}) {recording.DEVICES}\n"
                f")"
            ),
            hold="5m",
            severity=Severity.CRITICAL,
            summary="A node has fewer GPUs than it should have.",
            description=(
                f"node {{{{ $labels.node }}}} has only {{{{ $value }}}} GPUs left; one fell off the bus "
                f"(XID {xid.FELL_OFF_THE_BUS})"
            ),
            lessons=("M06",),
        ),
        Alert(
            name="GpuUnhealthy",
            subject=Subject.HEALTH,
            expr=f"{recording.UNHEALTHY} > 0",
            hold="10m",
            severity=Severity.WARNING,
            summary="The device plugin took GPUs out of service.",
            description="node {{ $labels.node }} offers {{ $value }} GPUs less than it has registered",
            lessons=("M01", "M06"),
        ),
    )


def _memory_error_alerts(thresholds: AlertThresholds) -> tuple[Alert, ...]:
    return (
        Alert(
            name="GpuEccDoubleBit",
            subject=Subject.HEALTH,
            expr=f"increase({recording.DOUBLE_BIT_ERRORS}[1h]) > 0",
            hold="0m",
            severity=Severity.CRITICAL,
            summary="A GPU had memory errors that it could not correct.",
            description=f"{_GPU} had uncorrectable memory errors in the last hour; do not trust results since then",
            lessons=("M02",),
        ),
        Alert(
            name="GpuEccSingleBitRate",
            subject=Subject.HEALTH,
            expr=f"increase({recording.SINGLE_BIT_ERRORS}[1h]) > {thresholds.single_bit_errors_per_hour}",
            hold="0m",
            severity=Severity.WARNING,
            summary="A GPU corrects many memory errors, which predicts a failure.",
            description=f'{_GPU} corrected {{{{ $value | printf "%.0f" }}}} memory errors in the last hour',
            lessons=("M02",),
        ),
        Alert(
            name="GpuRowRemapFailure",
            subject=Subject.HEALTH,
            expr=f"{recording.ROW_REMAP_FAILED} > 0",
            hold="1m",
            severity=Severity.CRITICAL,
            summary="A GPU has no spare memory rows left.",
            description=f"{_GPU} could not replace a bad row of memory; replace the instance",
            lessons=("M02",),
        ),
        Alert(
            name="GpuRowRemapPending",
            subject=Subject.HEALTH,
            expr=f"{recording.ROW_REMAP_PENDING} > 0",
            hold="15m",
            severity=Severity.WARNING,
            summary="A GPU waits for a reset to replace a bad memory row.",
            description=f"{_GPU} goes on with a bad row of memory until it is reset",
            lessons=("M02",),
        ),
    )
