"""DaemonSets: those of the stack, and those that known charts and add-ons bring, with values over their defaults."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from eks_gpu.facts import discovery, labels
from eks_gpu.facts.chart_defaults import BY_CHART, COMMANDS, IMAGES, ChartDaemons, DaemonSet, Path, Role
from eks_gpu.facts.chart_defaults.nvidia import STATIC_DEVICE_PLUGIN
from eks_gpu.facts.taints import TOLERATE_EVERYTHING
from eks_gpu.planning.chart_values import joined
from eks_gpu.planning.daemon import Daemon
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.told import heard
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.pods import read_pods
from eks_gpu_policies.resource import Resource

T = TypeVar("T")

_ADD_ON_VALUES: Final = "configurationValues"
_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+)*)")


BRINGERS: Final = tokens.HELM | tokens.ADD_ONS | tokens.YAML_FILES | {tokens.DAEMON_SET}
"""What brings DaemonSets."""


def read_daemons(resource: Resource, program: Program) -> Iterator[Daemon]:
    """Yield the DaemonSets that a resource is, or brings besides those that the engine has made of it already."""
    token = tokens.whole(resource.type)
    if token in tokens.HELM or token in tokens.ADD_ONS:
        name = attempt(_chart_name, resource)
        chart = BY_CHART.get(name) if isinstance(name, str) else None
        if chart is not None:
            expanded = program.contains(resource, tokens.DAEMON_SET)
            yield from (each for each in _of_chart(resource, chart) if each.by_operator or not expanded)
    elif token in tokens.YAML_FILES:
        yield from () if program.contains(resource, tokens.DAEMON_SET) else _of_address(resource)
    elif token == tokens.DAEMON_SET:
        yield from (_own(resource, template) for template in read_pods(resource))


def unknown_charts(program: Program) -> tuple[NotKnown, ...]:
    """Return what is not known about releases and add-ons of which nobody can tell what they install."""
    found = program.of_type(*sorted(tokens.HELM | tokens.ADD_ONS))
    names = (attempt(_chart_name, resource) for resource in found if resource.props)
    return tuple(name for name in names if isinstance(name, NotKnown))


def _chart_name(resource: Resource) -> str | None:
    if tokens.whole(resource.type) in tokens.ADD_ONS:
        return resource.view["addonName"].text()
    return charts.name(resource)


# --- charts ----------------------------------------------------------------------------------------------------------


def chart_values(resource: Resource, chart: ChartDaemons) -> View:
    """Return the values that a release or add-on runs with: those it is given over the chart's own."""
    given = _given(resource)
    # What is not said where files of values speak as well is not known either.
    defaults = chart.defaults if _was_read(resource, chart) and not given.partial else _unknown(chart.defaults)
    nulls = tokens.whole(resource.type) != tokens.HELM_RELEASE or resource.view["allowNullValues"].boolean() is True
    values = joined(defaults, {} if given.data is None else given.data, nulls=nulls)
    return View(values, resource.urn, given.path)


def _given(resource: Resource) -> View:
    """Return the values that a release or add-on is given."""
    if tokens.whole(resource.type) in tokens.ADD_ONS:
        return _add_on_values(resource.view[_ADD_ON_VALUES])
    return charts.values(resource)


def _add_on_values(place: View) -> View:
    """Return what an add-on is configured with: text, which is JSON or YAML, or the mapping itself."""
    if not isinstance(place.data, str):
        return place
    try:
        data = json.loads(place.data)
    except ValueError:
        # Hardly anybody writes YAML there; only they pay for its parser.
        import yaml  # noqa: PLC0415

        try:
            data = yaml.safe_load(place.data)
        except yaml.YAMLError:
            data = None
    return View(data, place.source, place.path)


def _was_read(resource: Resource, chart: ChartDaemons) -> bool:
    """Return whether the defaults of a chart's version are the recorded ones: of no version it is the newest read."""
    if chart.read_until is None:
        return True
    key = "addonVersion" if tokens.whole(resource.type) in tokens.ADD_ONS else "version"
    version = attempt(resource.view[key].text)
    if isinstance(version, NotKnown):
        return False
    match = _VERSION.match(version or "")
    numbers = tuple(int(part) for part in match[1].split(".")) if match else chart.read_until
    return numbers[: len(chart.read_until)] <= chart.read_until


def _unknown(defaults: object) -> object:
    """Return defaults of the same shape of which no value is known but what they request, which is always little."""
    if isinstance(defaults, Mapping) and defaults:
        return {key: value if key == _RESOURCES else _unknown(value) for key, value in defaults.items()}
    return UNKNOWN


_RESOURCES: Final = "resources"


def _of_chart(resource: Resource, chart: ChartDaemons) -> Iterator[Daemon]:
    values = chart_values(resource, chart)
    for each in chart.daemon_sets:
        on = attempt(_is_on, each, values)
        if on is not False:
            yield _daemon(resource, each, values, on if isinstance(on, NotKnown) else _elsewhere(each, values))


def _elsewhere(each: DaemonSet, values: View) -> NotKnown | None:
    """Return what is not known about a DaemonSet whose nodes custom resources choose."""
    place = values.at(*each.decided_by) if each.decided_by is not None else View(None, values.source)
    return place.not_known("resources of their own decide on which nodes it runs") if place.boolean() else None


def _is_on(each: DaemonSet, values: View) -> bool:
    for paths in each.switches:
        said = next((found for path in paths if (found := values.at(*path).boolean()) is not None), False)
        if not said:
            return False
    return True


def _daemon(resource: Resource, each: DaemonSet, values: View, doubt: NotKnown | None) -> Daemon:
    template = _template(resource, each, values)
    adds: Mapping[str, str | None] | NotKnown = each.adds
    if each.pci_fields is not None:
        adds = attempt(_pci_labels, values.at(*each.pci_fields))
    given = attempt(lambda: _given(resource))
    return Daemon(
        urn=resource.urn,
        owner=resource.name,
        name=each.name,
        role=each.role,
        template=template,
        adds=adds,
        opt_outs=each.opt_outs,
        aimed=isinstance(given, View) and _aims(each, given),
        doubt=doubt,
        tolerations_at=".".join((values.path, *each.tolerations[0])) if each.tolerations else "",
    )


def _aims(each: DaemonSet, given: View) -> bool:
    """Return whether a selector or an affinity is among the given values."""
    paths = (*each.selectors, *((each.affinity,) if each.affinity else ()))
    return any(bool(attempt(_exists, given, path)) for path in paths)


def _exists(given: View, path: Path) -> bool:
    return given.at(*path).exists


def _pci_labels(fields: View) -> dict[str, str | None]:
    """Return the labels by which node feature discovery shows an NVIDIA device, named by these fields of it."""
    named = fields.texts() if fields.exists else ("class", "vendor")
    if named == ("vendor",):
        return {discovery.PCI_VENDOR: "true"}
    return dict.fromkeys(discovery.PCI_CLASS_AND_VENDOR, "true") if named == ("class", "vendor") else {}


def _template(resource: Resource, each: DaemonSet, values: View) -> PodTemplate:
    """Return the pods of a chart's DaemonSet, as if the chart had been rendered."""
    spec: dict[str, object] = {
        "containers": [
            {"name": f"{each.name}-{number}", "resources": _raw(values, path)}
            for number, path in enumerate(each.resources)
        ]
        or [{"name": each.name}],
        "tolerations": _tolerations(each, values),
        "nodeSelector": _selector(each, values),
    }
    if each.affinity is not None:
        spec["affinity"] = _raw(values, each.affinity)
    metadata = {"labels": {labels.APP_NAME: each.name}}
    rendered = replace(
        resource,
        type=tokens.DAEMON_SET,
        props={"metadata": {"name": each.name}, "spec": {"template": {"metadata": metadata, "spec": spec}}},
    )
    return _where_it_was_said(next(read_pods(rendered)), each, values)


def _raw(values: View, path: Path) -> object:
    place = attempt(lambda: values.at(*path))
    return UNKNOWN if isinstance(place, NotKnown) or place.beyond else place.data


def _tolerations(each: DaemonSet, values: View) -> object:
    if each.tolerates_all is not None:
        everything = _raw(values, each.tolerates_all)
        if everything is UNKNOWN:
            return UNKNOWN
        if everything:
            return [TOLERATE_EVERYTHING]
    lists = [_raw(values, path) for path in each.tolerations]
    if UNKNOWN in lists:
        return UNKNOWN
    return [*each.always_tolerates, *(item for entry in lists if isinstance(entry, list | tuple) for item in entry)]


def _selector(each: DaemonSet, values: View) -> object:
    selectors = [_raw(values, path) for path in each.selectors]
    if UNKNOWN in selectors:
        return UNKNOWN
    chosen: dict[Any, object] = dict(each.always_selects)
    for selector in selectors:
        chosen |= selector if isinstance(selector, Mapping) else {}
    return chosen


def _where_it_was_said(template: PodTemplate, each: DaemonSet, values: View) -> PodTemplate:
    """Return a template whose unknown parts are called by their place in the values."""

    def told(part: T | NotKnown, *paths: Path | None) -> T | NotKnown:
        path = next((path for path in paths if path), None)
        if not isinstance(part, NotKnown) or path is None:
            return part
        return replace(part, path=".".join((values.path, *path)), reason=_NOT_RECORDED)

    return replace(
        template,
        path=f"{template.path} of {each.name}",
        tolerations=told(template.tolerations, each.tolerates_all, *each.tolerations),
        selector=told(template.selector, *each.selectors),
        affinity=told(template.affinity, each.affinity),
    )


_NOT_RECORDED: Final = "not known before creation, or not recorded for this version of the chart"


# --- what is not a chart ---------------------------------------------------------------------------------------------


def _own(resource: Resource, template: PodTemplate) -> Daemon:
    """Return a DaemonSet of the stack itself, known by its images."""
    role = attempt(_role, template)
    return Daemon(
        urn=resource.urn,
        owner=resource.name,
        name=resource.name,
        role=None if isinstance(role, NotKnown) else role,
        template=template,
        adds=_OWN_LABELS.get(role, {}) if isinstance(role, Role) else {},
        aimed=template.selector != () or template.affinity != (),
        tolerations_at=f"{template.path}.tolerations",
    )


_OWN_LABELS: Final[Mapping[Role, Mapping[str, str | None]]] = {
    Role.GFD: discovery.BY_GFD,
    Role.NFD: {key: "true" for key, _ in discovery.GPU_MARKS},
}
"""What a worker of somebody's own is configured to find is in a ConfigMap that is not read: it gets the benefit."""


def _role(template: PodTemplate) -> Role | None:
    return next((role for container in need(template.containers) if (role := _role_of(container)) is not None), None)


def _role_of(container: Container) -> Role | None:
    words, _ = heard(container.place)
    for ending, role in COMMANDS:
        if any(word.endswith(ending) for word in words):
            return role
    registry, slash, name = need(container.image).partition("@")[0].rpartition("/")
    repository = registry + slash + name.partition(":")[0]
    return next((role for ending, role in IMAGES if repository.endswith(ending)), None)


_STATIC_PLUGIN: Final = re.compile(r"k8s-device-plugin/[^\s]*nvidia-device-plugin[^/\s]*\.ya?ml$")
"""The manifest of the device plugin in its own repository; it tolerates the GPU taint and selects no nodes."""


def _of_address(resource: Resource) -> Iterator[Daemon]:
    view = resource.view
    listed = attempt(lambda: (view["file"].text() or "", *view["files"].texts()))
    if isinstance(listed, NotKnown):
        return
    for address in listed:
        if _STATIC_PLUGIN.search(address):
            yield _daemon(resource, STATIC_DEVICE_PLUGIN, View({}, resource.urn), None)
