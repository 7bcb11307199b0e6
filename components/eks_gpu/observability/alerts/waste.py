"""GPUs that are paid for and do nothing, in dollars an hour."""

from __future__ import annotations

from eks_gpu.facts import dcgm_exporter, namespaces
from eks_gpu.nodes import warm_capacity
from eks_gpu.observability.alerts import recording
from eks_gpu.observability.alerts.alert import Alert, Severity, Subject
from eks_gpu.observability.alerts.promql import GPU, minutes
from eks_gpu.settings.monitoring import AlertThresholds

_RECENT = "15m"
"""Smooths the pauses between requests. The alert's own hold makes the hour."""

_PLACEHOLDERS = (
    f'{dcgm_exporter.NAMESPACE}="{namespaces.KUBE_SYSTEM}",{dcgm_exporter.POD}=~".+-{warm_capacity.SUFFIX}-.+"'
)
"""The pods that keep nodes of a pool ready (``warm_nodes``)."""

_PRICE = '{{ if gt $value 0.0 }}{{ $value | printf "%.2f" }} USD an hour{{ else }}an unknown price{{ end }}'


def alerts(thresholds: AlertThresholds) -> tuple[Alert, ...]:
    """Return the alerts on idle GPUs."""
    recent = f"avg_over_time({recording.UTILISATION}[{_RECENT}])"
    idle = f"{recent} < {thresholds.idle_utilisation_ratio}"
    underused = f"{recent} >= {thresholds.idle_utilisation_ratio} < {thresholds.low_utilisation_ratio}"
    hold = minutes(thresholds.idle_after_minutes)
    share = f"less than {thresholds.idle_utilisation_ratio:.0%}"
    return (
        Alert(
            name="GpuIdle",
            subject=Subject.WASTE,
            expr=(
                f"sum by ({dcgm_exporter.NODE}) (\n"
                f"  ({recording.PRICE} and on ({GPU}) ({idle}))\n"
                f"  unless on ({GPU}) {recording.HOLDERS}\n"
                f")"
            ),
            hold=hold,
            severity=Severity.WARNING,
            summary="GPUs run that no pod has asked for.",
            description=f"node {{{{ $labels.node }}}} has GPUs that no pod holds, at {_PRICE}",
            lessons=("M05", "N05"),
        ),
        Alert(
            name="GpuAllocatedIdle",
            subject=Subject.WASTE,
            expr=_cost_of_holders(idle),
            hold=hold,
            severity=Severity.WARNING,
            summary="A pod holds GPUs and does not use them.",
            description=(
                f"{{{{ $labels.exported_namespace }}}}/{{{{ $labels.exported_pod }}}} works {share} of the time on its "
                f"GPUs of node {{{{ $labels.node }}}}, at {_PRICE}"
            ),
            lessons=("M05", "W12"),
        ),
        Alert(
            name="GpuUnderused",
            subject=Subject.WASTE,
            expr=_cost_of_holders(underused),
            hold=hold,
            severity=Severity.INFO,
            summary="A pod uses little of its GPUs.",
            description=(
                f"{{{{ $labels.exported_namespace }}}}/{{{{ $labels.exported_pod }}}} works less than "
                f"{thresholds.low_utilisation_ratio:.0%} of the time on its GPUs of node {{{{ $labels.node }}}}, "
                f"at {_PRICE}"
            ),
            lessons=("M05", "W12"),
        ),
    )


def _cost_of_holders(condition: str) -> str:
    """Return dollars an hour by pod for the GPUs that meet the condition; placeholders are meant to do nothing."""
    return (
        f"sum by ({dcgm_exporter.NODE}, {dcgm_exporter.NAMESPACE}, {dcgm_exporter.POD}) (\n"
        f"  ({recording.HOLDERS} unless {recording.HOLDERS}{{{_PLACEHOLDERS}}})\n"
        f"  * on ({GPU}) group_left () ({recording.PRICE} and on ({GPU}) ({condition}))\n"
        f")"
    )
