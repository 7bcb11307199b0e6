"""SEC002: dashboards are not public.

A password is named only where the dashboard has a load balancer or an Ingress. Whether it comes from a program's text
or from its secrets cannot be told from here, where secrets arrive in clear; so a password of one's own behind a private
load balancer or an Ingress is advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import dashboards, labels
from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK
from eks_gpu.planning.reading import View
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.readers.exposure import is_load_balancer, opening
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

_NAMING: Final = (labels.APP_NAME, labels.APP, labels.NAME)
_WORDS: Final = re.compile(r"[a-z]+")
_NUMBERS: Final = re.compile(r"\d+")


def _shows_a_dashboard(resource: Resource, _stack: Stack) -> bool:
    if tokens.whole(resource.type) in tokens.HELM:
        return charts.name(resource) in dashboards.SERVICES
    spec = resource.view["spec"]
    return is_load_balancer(spec) and _dashboard(resource) is not None


def _dashboard(service: Resource) -> str | None:
    """Return which dashboard a Service leads to, by what its selector or its own name says."""
    selector = service.view.at("spec", "selector").text_map()
    named = [selector[key] for key in _NAMING if key in selector] or [service.kubernetes_name() or service.name]
    words = {word for name in named for word in _WORDS.findall(name.lower())}
    return next(iter(sorted(dashboards.NAMES & words)), None)


def _check(resource: Resource, _stack: Stack) -> Iterator[Outcome]:
    if tokens.whole(resource.type) not in tokens.HELM:
        why = opening(resource.view["spec"], resource.view.at("metadata", "annotations"))
        if why is not None:
            yield Problem(f"shows {_dashboard(resource)} to everybody: {why}")
        return
    chart, values = charts.name(resource) or "", charts.values(resource)
    services = {path: values.at(*path) for path in dashboards.SERVICES[chart]}
    yield from clauses(*(_service(path, place, values) for path, place in services.items()), _password(resource, chart))


def _service(path: tuple[str, ...], place: View, values: View) -> Iterator[Outcome]:
    part = values.at(*path[:-1])
    if len(path) > 1 and part["enabled"].boolean() is False:
        return
    why = opening(place, place["annotations"])
    if why is not None:
        yield Problem(f"shows {path[0] if len(path) > 1 else 'its dashboard'} to everybody ({'.'.join(path)}): {why}")


def _password(release: Resource, chart: str) -> Iterator[Outcome]:
    """Yield what is wrong with the administrator's password of a Grafana behind a load balancer."""
    if chart not in dashboards.GRAFANAS:
        return
    grafana = charts.values(release).at(*dashboards.GRAFANAS[chart])
    front = None if grafana["enabled"].boolean() is False else _front(grafana)
    if front is None:
        return
    if grafana.at("admin", "existingSecret").exists:
        return
    place = grafana["adminPassword"]
    password = place.text()
    where = place.path.removeprefix("values.")
    if password in dashboards.KNOWN_PASSWORDS:
        yield Problem(f"has {front} before Grafana and an administrator's password that everybody knows ({where})")
    elif password:
        yield Problem(
            f"has {front} before Grafana and its administrator's password in the chart's values ({where})",
            advisory=opening(grafana["service"], grafana.at("service", "annotations")) is None,
        )
    elif password is None and _has_known_default(release, chart):
        yield Problem(
            f"has {front} before Grafana and sets no administrator's password: this version of the chart gives it "
            "one that everybody knows"
        )


def _front(grafana: View) -> str | None:
    """Return by what a Grafana is reached from outside of the cluster, or None when it is not."""
    if is_load_balancer(grafana["service"]):
        return "a load balancer"
    return "an Ingress" if grafana.at("ingress", "enabled").boolean() else None


def _has_known_default(release: Resource, chart: str) -> bool:
    first = dashboards.FIRST_WITHOUT_KNOWN_PASSWORD.get(chart)
    version = tuple(int(number) for number in _NUMBERS.findall(release.view["version"].text() or ""))
    return first is not None and bool(version) and version < first


def _release(**service: object) -> Resource:
    return examples.release(
        "monitoring",
        KUBE_PROMETHEUS_STACK.name,
        KUBE_PROMETHEUS_STACK.version,
        values={"grafana": {"service": service, "admin": {"existingSecret": "grafana-admin"}}},
    )


RULE: Final = Rule(
    id="SEC002",
    title="Dashboards are not public",
    severity=Severity.HIGH,
    why=(
        "Grafana, Prometheus and Alertmanager tell who runs which models where, and Prometheus answers anybody. Public "
        "load balancers are found within hours, and charts' default passwords are what is tried first."
    ),
    fix=(
        "keep the Service a ClusterIP and forward its port, as GpuMonitoring does; or make the load balancer internal, "
        "or list loadBalancerSourceRanges, and take the password from an existing Secret"
    ),
    lessons=(),
    scope=Scope.RESOURCE,
    looks_at=Subjects[Resource](
        "dashboards with a Service",
        tokens.HELM | {tokens.SERVICE},
        lambda stack: stack.of_type(*sorted(tokens.HELM), tokens.SERVICE),
        _shows_a_dashboard,
    ),
    check=_check,
    failing=Example((_release(type="LoadBalancer"),)),
    passing=Example((_release(type="ClusterIP"),)),
)
