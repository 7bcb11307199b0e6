"""OBS001: GPU pools are watched.

Alerts are known by what their queries read, not by their names. A stack whose exporter runs without a Prometheus in it
may be watched by one that is in the cluster already: that is asked, not refused. So is who alerts where Prometheus has
no Alertmanager and writes everything to another place (``remoteWrite``), such as Amazon Managed Service for Prometheus.
Alerts of a service outside of the cluster (CloudWatch, Datadog ...) are not seen here and not demanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import kubernetes_metrics, resources
from eks_gpu.facts.metrics import XID_ERRORS
from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR, KUBE_PROMETHEUS_STACK
from eks_gpu.planning.monitoring.watching import Noticed, noticed
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.questions.alerts import alerts_of
from eks_gpu_policies.questions.exporters import Exporter, exporters
from eks_gpu_policies.questions.monitoring import prometheuses, unclear_parts, watched_elsewhere
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import (
    Example,
    Outcome,
    Problem,
    Rule,
    Severity,
    Undecided,
    clauses,
    undecided,
)
from eks_gpu_policies.stack import Stack, Whole
from eks_gpu_policies.subjects import POOL_TYPES, stack_with_gpu_pools

_OPTION: Final = "monitoringStack"
_EVERYTHING: Final = frozenset(Noticed)
_ALLOCATABLE: Final = (
    f'{kubernetes_metrics.NODE_ALLOCATABLE}{{resource="{kubernetes_metrics.sanitised(resources.GPU)}"}}'
)
_QUERIES: Final = {
    Noticed.XID: f'{XID_ERRORS}{{err_code=~"48|79|95"}} > 0',
    Noticed.LOST: f"{_ALLOCATABLE} < {_ALLOCATABLE} offset 1h",
    Noticed.BLIND: f'absent(up{{job=~".*{DCGM_EXPORTER.name}"}} == 1)',
}
"""One alert for each thing that must be noticed, as an example."""


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    if not stack.gpu_pools:
        yield from (undecided(what) for what in stack.unclear_pools)
        return
    yield from clauses(_exporter(stack), _alertmanager(stack), _alerts(stack), _anything(stack))


def _running(stack: Stack) -> tuple[Exporter, ...]:
    """Return the exporters that are known to run, or may."""
    return tuple(item for item in exporters(stack) if item.enabled is not False)


def _exporter(stack: Stack) -> Iterator[Outcome]:
    """Judge whether something measures: where a part is switched off, or where Prometheus has nothing to read."""
    if watched_elsewhere(stack) or _running(stack):
        return
    for off in exporters(stack):
        yield Problem(
            "switches its DCGM exporter off (dcgmExporter.enabled: false), and nothing else in the stack measures GPUs",
            urn=off.urn,
            fix="leave dcgmExporter.enabled as it is, or install NVIDIA's dcgm-exporter chart beside it",
        )
        return
    unclear = unclear_parts(stack)
    for item in () if stack.options.monitoring_stack else prometheuses(stack):
        if unclear:
            yield undecided(unclear[0])
            return
        yield Problem("runs Prometheus, and nothing in the stack exports metrics of GPUs to it", urn=item.resource.urn)


def _alertmanager(stack: Stack) -> Iterator[Outcome]:
    if stack.options.monitoring_stack or watched_elsewhere(stack):
        return
    for item in prometheuses(stack):
        if item.alertmanager_off and item.sends_on:
            yield Undecided(
                _OPTION, f"{item.resource.name} writes everything to another place; who alerts there, nobody said"
            )
        elif item.alertmanager_off:
            yield Problem(
                "switches Alertmanager off and names no other: alerts fire and nobody hears of them",
                urn=item.resource.urn,
                fix="leave alertmanager.enabled as it is and give it receivers, or name another Alertmanager in "
                "prometheusSpec.additionalAlertManagerConfigs",
            )


def _alerts(stack: Stack) -> Iterator[Outcome]:
    if stack.options.monitoring_stack or watched_elsewhere(stack) or not _running(stack):
        return
    found = prometheuses(stack)
    alerts = alerts_of(stack)
    missing = sorted(_EVERYTHING - noticed(alerts.rules), key=list(Noticed).index)
    if not found or not missing:
        return
    unclear = (*alerts.unclear, *unclear_parts(stack))
    if unclear:
        yield undecided(unclear[0])
        return
    if all(item.sends_on and item.alertmanager_off for item in found):
        # Said already: who alerts is elsewhere, and so are the alerts.
        return
    yield Problem(
        f"runs Prometheus without an alert on {_listed(missing)}",
        urn=found[0].resource.urn,
        fix=f"add alerts such as {'; '.join(_QUERIES[what] for what in missing)}; GpuMonitoring has them all; or say "
        f"in {_OPTION} where the alerts are",
    )


def _listed(missing: list[Noticed]) -> str:
    *others, last = (item.value for item in missing)
    return f"{', '.join(others)} or {last}" if others else last


def _anything(stack: Stack) -> Iterator[Outcome]:
    """Judge a stack without Prometheus."""
    if stack.options.monitoring_stack or watched_elsewhere(stack) or prometheuses(stack):
        return
    running = _running(stack)
    if running:
        need(running[0].enabled)
        if not noticed(alerts_of(stack).rules) >= _EVERYTHING:
            yield Undecided(_OPTION, f"{running[0].name} measures the GPUs; who reads that, and alerts, nobody said")
        return
    if exporters(stack):
        return
    unclear = unclear_parts(stack)
    if unclear:
        yield undecided(unclear[0])
    elif stack.options.environment_named:
        yield Problem("has GPU pools, and nothing watches them: no exporter, no Prometheus, no alert")
    else:
        yield Undecided(_OPTION, "nothing in the stack watches its GPU pools")


_POOL: Final = examples.node_pool()
_OPERATOR: Final = examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version)
_PROMETHEUS: Final = examples.release("prometheus", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version)


def _rules(*queries: str) -> Resource:
    rules = [{"alert": f"Gpu{number}", "expr": query} for number, query in enumerate(queries)]
    spec = {"groups": [{"name": "gpu", "rules": rules}]}
    return examples.resource(tokens.PROMETHEUS_RULE, "gpu-alerts", {"metadata": {"name": "gpu-alerts"}, "spec": spec})


RULE: Final = Rule(
    id="OBS001",
    title="GPU pools are watched",
    severity=Severity.HIGH,
    why=(
        "A GPU with hardware errors goes on computing, wrongly or not at all, and one that fell off the bus leaves no "
        "series to alert on. Where nothing watches, users find out: XID errors have gone unseen for a week."
    ),
    fix=(
        "run an exporter, Prometheus and Alertmanager, with alerts on XID errors, on fewer GPUs than there should be "
        f"and on an absent exporter, as GpuMonitoring does; or say in {_OPTION} where the GPUs are watched"
    ),
    lessons=("M01", "M06", "M07"),
    looks_at=stack_with_gpu_pools(lambda options: options.monitoring_stack, POOL_TYPES | tokens.HELM),
    check=_check,
    failing=Example((_POOL, _OPERATOR, _PROMETHEUS, _rules(_QUERIES[Noticed.XID]))),
    passing=Example(
        (
            _POOL,
            _OPERATOR,
            _PROMETHEUS,
            _rules(*_QUERIES.values()),
        )
    ),
)
