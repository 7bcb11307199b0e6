"""Who watches GPUs in a stack: Prometheus, its Alertmanager and its selectors, or a service elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import monitoring_charts as facts
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.coverage import unseen
from eks_gpu_policies.program import once
from eks_gpu_policies.readers.cluster import brings_unseen
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack

SERVICE_MONITOR: Final = "serviceMonitor"
POD_MONITOR: Final = "podMonitor"
"""What a Prometheus calls the two kinds, where it says which of them it selects."""

_UNSEEN: Final = "it may be what is missing"
_OTHERS: Final = "additionalAlertManagerConfigs"
_ENDPOINTS: Final = "alertingEndpoints"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """One Prometheus."""

    resource: Resource
    spec: View
    """What a Prometheus resource calls ``spec``; nothing where a chart has none."""
    chart: str | None
    """The chart that installs it; None for a resource of its own."""

    @property
    def alertmanager_off(self) -> bool:
        """Whether a chart leaves its Alertmanager out and names no other: alerts fire and nobody hears."""
        if charts.values(self.resource).at("alertmanager", "enabled").boolean() is not False:
            return False
        server = charts.values(self.resource)["server"]
        others = (self.spec[_OTHERS], self.spec[_ENDPOINTS], server["alertmanagers"])
        return not any(_says_something(place) for place in others)

    @property
    def sends_on(self) -> bool:
        """Whether it writes what it scrapes to another place (``remoteWrite``), where the alerts may be."""
        return any(
            _says_something(place["remoteWrite"]) for place in (self.spec, charts.values(self.resource)["server"])
        )

    @property
    def reads_monitors(self) -> bool:
        """Whether it knows ServiceMonitors and PodMonitors; the plain chart goes by annotations instead."""
        return self.chart != facts.PLAIN_CHART

    @property
    def own_jobs(self) -> str:
        """What it is told to scrape besides monitors, as text; raise ``NotKnownError`` when that is open."""
        part = charts.values(self.resource)["prometheus"]
        places = self.spec["additionalScrapeConfigs"], part["additionalServiceMonitors"], part["additionalPodMonitors"]
        for place in places:
            if place.data is UNKNOWN:
                raise NotKnownError(place.not_known())
        return " ".join(str(place.data) for place in places)

    def selects(self, labels: Mapping[str, str], monitor: str = SERVICE_MONITOR) -> bool:
        """Return whether it reads a monitor with these labels; raise ``NotKnownError`` when that is open."""
        selector = self.spec[f"{monitor}Selector"]
        if self.chart == facts.VICTORIA_STACK:
            return True
        if not _says_something(selector):
            if self.chart != facts.OPERATOR_STACK:
                return selector.exists
            if self.spec[f"{monitor}SelectorNilUsesHelmValues"].boolean() is False:
                return True
            label = labels.get(facts.RELEASE_LABEL)
            return label is not None and label == self.release
        wanted = selector["matchLabels"].text_map()
        return all(labels.get(key) == value for key, value in wanted.items()) and all(
            _meets(labels, item) for item in selector["matchExpressions"].items()
        )

    @property
    def release(self) -> str:
        """The name of the release, by which charts label; raise ``NotKnownError`` when Pulumi is to choose it."""
        return release_name(self.resource)

    def selector_text(self, monitor: str = SERVICE_MONITOR) -> str:
        """Return what it selects by, for people."""
        selector = self.spec[f"{monitor}Selector"]
        if not _says_something(selector):
            name = attempt(release_name, self.resource)
            said = "(the name of its release)" if isinstance(name, NotKnown) else name
            return f"{facts.RELEASE_LABEL}={said}" if self.chart else "nothing"
        pairs = [f"{key}={value}" for key, value in selector["matchLabels"].text_map().items()]
        terms = (
            f"{item['key'].text()} {item['operator'].text()} {', '.join(item['values'].texts())}".strip()
            for item in selector["matchExpressions"].items()
        )
        return ", ".join((*pairs, *terms))


def _says_something(place: View) -> bool:
    return place.exists and place.data not in ({}, [], ())


def _meets(labels: Mapping[str, str], item: View) -> bool:
    value, values = labels.get(item["key"].text() or ""), item["values"].texts()
    match item["operator"].text():
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return False


def release_name(release: Resource) -> str:
    """Return the name of a Helm release; that of a v4 Chart is its logical name."""
    said = release.view["name"]
    if said.exists:
        return said.text() or release.name
    if release.type != tokens.HELM_RELEASE:
        return release.name
    raise NotKnownError(said.not_known("left to Pulumi, which adds a random suffix"))


@once
def prometheuses(stack: Stack) -> tuple[Prometheus, ...]:
    """Return every Prometheus of a stack."""
    found = [
        Prometheus(release, charts.values(release).at("prometheus", "prometheusSpec"), charts.name(release))
        for release in charts.releases(stack, *facts.PROMETHEUS_CHARTS)
        if _is_installed(release)
    ]
    found += [Prometheus(item, item.view["spec"], None) for item in stack.of_type(tokens.PROMETHEUS)]
    return tuple(found)


def _is_installed(release: Resource) -> bool:
    return attempt(charts.values(release).at("prometheus", "enabled").boolean) is not False


@once
def watched_elsewhere(stack: Stack) -> bool:
    """Return whether something in the stack sends metrics to a service outside of the cluster."""
    if charts.releases(stack, *facts.ELSEWHERE_CHARTS):
        return True
    names = (attempt(item.view["addonName"].text) for item in stack.of_type(*sorted(tokens.ADD_ONS)))
    return any(name in facts.ELSEWHERE_ADD_ONS for name in names)


@once
def unclear_parts(stack: Stack) -> tuple[NotKnown, ...]:
    """Return what is not known about charts, files and repositories of which nobody can tell what they install."""
    files = (what for what in unseen(stack) if stack.by_urn[what.source].type in tokens.YAML_FILES)
    found = (*charts.unclear(stack), *files)
    if found or not brings_unseen(stack):
        return found
    return (NotKnown(stack.whole.urn, "what comes from repositories and charts of its own", _UNSEEN),)


@once
def brings_definitions(stack: Stack) -> bool:
    """Return whether something in the stack brings the kinds ServiceMonitor and PrometheusRule."""
    if charts.releases(stack, *facts.DEFINITIONS_CHARTS):
        return True
    definitions = stack.of_type(tokens.DEFINITION)
    files = stack.of_type(*sorted(tokens.YAML_FILES))
    return bool(files) or any("monitoring.coreos.com" in str(item.view["spec"]["group"].data) for item in definitions)
