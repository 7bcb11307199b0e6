"""OBS004: Prometheus selects the scrape.

kube-prometheus-stack selects only what carries the name of its own release, unless it is told otherwise; what it does
not select is not scraped, and nothing says so. The plain prometheus chart selects nothing: it scrapes what is
annotated, as the GPU Operator's exporter is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.dcgm_exporter import OPERATOR_SERVICE
from eks_gpu.facts.monitoring_charts import RELEASE_LABEL
from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR, KUBE_PROMETHEUS_STACK
from eks_gpu.planning.reading import View, attempt, need
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.questions.monitoring import (
    POD_MONITOR,
    SERVICE_MONITOR,
    brings_definitions,
    prometheuses,
    release_name,
    unclear_parts,
)
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack

_OF_GPUS: Final = re.compile(r"dcgm|nvidia|gpu", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Scrape:
    """A ServiceMonitor for an exporter, that somebody writes or a chart makes."""

    labels: Mapping[str, str]
    where_to_label: str
    monitor: str = SERVICE_MONITOR
    """How a Prometheus calls its kind."""
    off: str = ""
    """Where it is switched off."""

    @property
    def kind(self) -> str:
        """Its kind, as Kubernetes spells it."""
        return "PodMonitor" if self.monitor == POD_MONITOR else "ServiceMonitor"


def _concerned(resource: Resource, stack: Stack) -> bool:
    return _scrape(resource) is not None and not (stack.options.manifests_only and not prometheuses(stack))


def _scrape(resource: Resource) -> _Scrape | None:
    """Return what a resource has scraped; None for one that has no GPU metrics scraped."""
    if resource.type in tokens.HELM:
        return _of_release(resource)
    if not _is_about_gpus(resource.view):
        return None
    monitor = POD_MONITOR if resource.type == tokens.POD_MONITOR else SERVICE_MONITOR
    return _Scrape(resource.view.at("metadata", "labels").text_map(), "metadata.labels", monitor)


def _is_about_gpus(monitor: View) -> bool:
    selector = monitor.at("spec", "selector")
    words = [monitor.at("metadata", "name").text() or "", *selector["matchLabels"].text_map().values()]
    words += [value for item in selector["matchExpressions"].items() for value in item["values"].texts()]
    return any(_OF_GPUS.search(word) for word in words)


def _of_release(release: Resource) -> _Scrape | None:
    values, name = charts.values(release), charts.name(release)
    if name == DCGM_EXPORTER.name:
        monitor = values["serviceMonitor"]
        if monitor["enabled"].boolean() is False:
            return _Scrape({}, "", off="serviceMonitor.enabled")
        own = {
            labels.APP_NAME: DCGM_EXPORTER.name,
            labels.APP_INSTANCE: _release_name(release),
            labels.APP_COMPONENT: DCGM_EXPORTER.name,
        }
        return _Scrape({**own, **monitor["additionalLabels"].text_map()}, "serviceMonitor.additionalLabels")
    if name == GPU_OPERATOR.name:
        exporter = values["dcgmExporter"]
        monitor = exporter["serviceMonitor"]
        if exporter["enabled"].boolean() is False or monitor["enabled"].boolean() is False:
            return None
        given = monitor["additionalLabels"].text_map()
        return _Scrape({**OPERATOR_SERVICE.labels, **given}, "dcgmExporter.serviceMonitor.additionalLabels")
    return None


def _release_name(release: Resource) -> str:
    name = attempt(release_name, release)
    return name if isinstance(name, str) else ""


def _check(resource: Resource, stack: Stack) -> Iterator[Outcome]:
    scrape = _scrape(resource)
    if scrape is not None and scrape.off:
        yield from _unscraped(scrape, resource, stack)
    elif scrape is not None:
        yield from clauses(_selected(scrape, resource, stack), _defined(scrape, resource, stack))


def _selected(scrape: _Scrape, resource: Resource, stack: Stack) -> Iterator[Outcome]:
    found = tuple(item for item in prometheuses(stack) if item.reads_monitors)
    if _ours_scrapes(resource, stack):
        return
    answers = [attempt(item.selects, scrape.labels, scrape.monitor) for item in found]
    if True in answers or any(_OF_GPUS.search(one.own_jobs) for one in found):
        return
    for one, answer in zip(found, answers, strict=True):
        need(answer)
        wanted = one.selector_text(scrape.monitor)
        said = ", ".join(f"{key}={value}" for key, value in sorted(scrape.labels.items()) if value) or "no labels"
        yield Problem(
            f"labels its {scrape.kind} {said}, and {one.resource.name} selects {wanted}: nobody scrapes the GPUs",
            fix=f"give it the label {wanted} ({scrape.where_to_label}), or let Prometheus select everything: "
            f"prometheusSpec.{scrape.monitor}SelectorNilUsesHelmValues: false",
        )


def _unscraped(scrape: _Scrape, resource: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge whether an exporter without a ServiceMonitor is scraped by something else."""
    found = tuple(item for item in prometheuses(stack) if item.reads_monitors)
    if not found or _ours_scrapes(resource, stack) or any(_OF_GPUS.search(item.own_jobs) for item in found):
        return
    unclear = unclear_parts(stack)
    if unclear:
        yield undecided(unclear[0])
    else:
        yield Problem(
            f"makes no ServiceMonitor ({scrape.off}: false), and {found[0].resource.name} is told of no other scrape: "
            "nobody scrapes the GPUs",
            fix=f"leave {scrape.off} as it is, or write a ServiceMonitor for the exporter",
        )


def _ours_scrapes(resource: Resource, stack: Stack) -> bool:
    """Return whether a chart's own ServiceMonitor does not matter, because another one scrapes GPUs."""
    if resource.type not in tokens.HELM:
        return False
    for monitor in stack.of_type(tokens.SERVICE_MONITOR, tokens.POD_MONITOR):
        scrape = attempt(_scrape, monitor)
        if isinstance(scrape, _Scrape) and any(
            attempt(item.selects, scrape.labels, scrape.monitor) is True for item in prometheuses(stack)
        ):
            return True
    return False


def _defined(scrape: _Scrape, resource: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge whether the kind of the monitor is there at all."""
    if brings_definitions(stack):
        return
    found = prometheuses(stack)
    if found and _is_default_of_operator(resource):
        # Without the kind the operator leaves its ServiceMonitor out; its Service is annotated in any case.
        return
    if found and resource.type not in tokens.HELM:
        return
    unclear = unclear_parts(stack)
    if unclear:
        yield undecided(unclear[0])
    elif stack.of_type(*sorted(tokens.CLUSTERS)) and not _is_default_of_operator(resource):
        yield Problem(
            f"needs the kind {scrape.kind}, which nothing in the stack brings to the cluster that it makes",
            fix=f"install {KUBE_PROMETHEUS_STACK.name} or prometheus-operator-crds, or leave the {scrape.kind} out",
        )
    else:
        yield Undecided("kind", f"whether the cluster has a Prometheus that selects the {scrape.kind}")


def _is_default_of_operator(resource: Resource) -> bool:
    """Return whether nobody asked for the ServiceMonitor: the operator leaves it out where the kind is missing."""
    return charts.name(resource) == GPU_OPERATOR.name


def _monitor(**given: str) -> Resource:
    metadata = {"name": "dcgm-exporter", "labels": given}
    spec = {"selector": {"matchLabels": dict(OPERATOR_SERVICE.labels)}, "endpoints": [{"port": OPERATOR_SERVICE.port}]}
    return examples.resource(tokens.SERVICE_MONITOR, "dcgm-exporter", {"metadata": metadata, "spec": spec})


_PROMETHEUS: Final = examples.release("monitoring", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version)

RULE: Final = Rule(
    id="OBS004",
    title="Prometheus selects the scrape",
    severity=Severity.HIGH,
    why=(
        "A ServiceMonitor that no Prometheus selects is accepted and ignored. Dashboards stay empty, alerts stay "
        "silent, and both look as they do on a cluster without work."
    ),
    fix="label the ServiceMonitor as Prometheus selects, or let Prometheus select every one, as GpuMonitoring does",
    lessons=("M07",),
    looks_at=Subjects[Resource](
        "what has GPU metrics scraped",
        frozenset({tokens.SERVICE_MONITOR, tokens.POD_MONITOR}) | tokens.HELM,
        lambda stack: stack.of_type(tokens.SERVICE_MONITOR, tokens.POD_MONITOR, *sorted(tokens.HELM)),
        _concerned,
    ),
    check=_check,
    failing=Example((_PROMETHEUS, _monitor(app="dcgm-exporter"))),
    passing=Example((_PROMETHEUS, _monitor(**{RELEASE_LABEL: "monitoring"}))),
)
