"""DCGM exporters of a stack: as NVIDIA's chart, as part of the GPU Operator, or as anybody's own DaemonSet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import exported_series as facts
from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR
from eks_gpu.planning.monitoring.counters import CounterList, read_counters
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import once
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_IMAGE: Final = re.compile(r"(?:^|/)dcgm-exporter(?:[:@]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """One exporter."""

    urn: str
    name: str
    enabled: bool | NotKnown
    version: tuple[int, ...] | None
    """Its own version, without DCGM's; None where it is not known."""
    own_list: CounterList | NotKnown | None
    """The list that it is given; None where it exports its default."""
    by_chart: bool
    """Whether NVIDIA's chart installs it, whose default list is the chart's."""

    def exports(self, series: str) -> bool | None:
        """Return whether it exports a series; None where that is not known."""
        if isinstance(self.own_list, NotKnown):
            return None
        if self.own_list is not None:
            return series in self.own_list.series
        before = facts.CHART_DEFAULT if self.by_chart else facts.DEFAULT
        candidates = (
            (before, facts.DEFAULT_SINCE_4_9)
            if self.version is None
            else (facts.DEFAULT_SINCE_4_9 if self.version >= facts.RENAMED_SINCE else before,)
        )
        answers = {series in names for names in candidates}
        return answers.pop() if len(answers) == 1 else None

    @property
    def says_hostname(self) -> bool | None:
        """Whether its series carry ``hostname`` rather than ``Hostname``; None where that is not known."""
        return None if self.version is None else self.version >= facts.HOST_LABEL_RENAMED_SINCE


@once
def exporters(stack: Stack) -> tuple[Exporter, ...]:
    """Return the exporters of a stack, those that are switched off among them."""
    return tuple(_exporters(stack))


def _exporters(stack: Stack) -> Iterator[Exporter]:
    for release in charts.releases(stack, DCGM_EXPORTER.name, GPU_OPERATOR.name):
        yield _of_chart(release, stack) if charts.name(release) == DCGM_EXPORTER.name else _of_operator(release, stack)
    for pod in stack.pods:
        for box in () if isinstance(pod.containers, NotKnown) else pod.containers:
            if _IMAGE.search(box.image if isinstance(box.image, str) else ""):
                yield _of_pod(pod, box, stack)


def _of_chart(release: Resource, stack: Stack) -> Exporter:
    values = charts.values(release)
    return Exporter(
        urn=release.urn,
        name=release.name,
        enabled=True,
        version=_newest(attempt(values.at("image", "tag").text)) or _newest(attempt(release.view["version"].text)),
        own_list=attempt(_charts_list, values, stack),
        by_chart=True,
    )


def _charts_list(values: View, stack: Stack) -> CounterList | None:
    """Return the list that the chart's exporter is told to read; its arguments may name another than the chart's."""
    words = values["arguments"].texts()
    mapped = _after(facts.LIST_MAP_FLAGS, words)
    if mapped is not None:
        return _from_map(mapped.rpartition(":")[2], values["arguments"], stack)
    path = _after(facts.LIST_FLAGS, words)
    if path is not None and path not in facts.LISTS_IN_IMAGE:
        raise NotKnownError(values["arguments"].not_known(f"what is in {path}"))
    text = values["customMetrics"].text()
    return read_counters(text) if text else None


def _of_operator(release: Resource, stack: Stack) -> Exporter:
    exporter = charts.values(release)["dcgmExporter"]
    version = _newest(attempt(exporter["version"].text))
    return Exporter(
        urn=release.urn,
        name=release.name,
        enabled=attempt(lambda: exporter["enabled"].boolean() is not False),
        version=version or _of_release(attempt(release.view["version"].text)),
        own_list=attempt(_operators_list, exporter, stack),
        by_chart=False,
    )


def _of_release(version: object) -> tuple[int, ...] | None:
    """Return the version of the exporter that a release of the operator brings, as far as it is known."""
    ours, theirs = _newest(GPU_OPERATOR.version), _newest(version)
    if ours is None or theirs is None or theirs > ours:
        return None
    return facts.OPERATORS_EXPORTER if theirs == ours else facts.OLDER_OPERATORS_EXPORTER


def _operators_list(exporter: View, stack: Stack) -> CounterList | None:
    if exporter["config"].exists:
        return _named_list(exporter, stack)
    for variable in exporter["env"].items():
        if variable["name"].text() == facts.LIST_VARIABLE and variable["value"].text() not in facts.LISTS_IN_IMAGE:
            raise NotKnownError(variable.not_known("what is in a list that nothing in the stack holds"))
    return None


def _named_list(exporter: View, stack: Stack) -> CounterList | None:
    config = exporter["config"]
    data = config["data"]
    if isinstance(data.data, str) and data.data:
        return read_counters(data.data)
    if data[facts.OPERATOR_LIST_KEY].text():
        return read_counters(data[facts.OPERATOR_LIST_KEY].text() or "")
    name = config["name"].text()
    return _from_map(name, config, stack) if name else None


def _from_map(name: str, place: View, stack: Stack) -> CounterList:
    """Read the list in a ConfigMap; raise ``NotKnownError`` when that is not in the stack."""
    for found in stack.named(tokens.CONFIG_MAP, name):
        texts = found.view["data"].text_map()
        text = texts.get(facts.OPERATOR_LIST_KEY) or "\n".join(texts.values())
        return read_counters(text)
    raise NotKnownError(place.not_known(f"the ConfigMap {name} is not in the stack"))


def _of_pod(pod: PodTemplate, box: Container, stack: Stack) -> Exporter:
    image = box.image if isinstance(box.image, str) else ""
    return Exporter(
        urn=pod.urn,
        name=pod.name,
        enabled=True,
        version=_newest(image.partition("@")[0].rpartition(":")[2]),
        own_list=attempt(_pods_list, pod, box, stack),
        by_chart=False,
    )


def _pods_list(pod: PodTemplate, box: Container, stack: Stack) -> CounterList | None:
    mapped = _option(box, facts.LIST_MAP_FLAGS, facts.LIST_MAP_VARIABLE)
    if mapped is not None and ":" in mapped:
        return _from_map(mapped.rpartition(":")[2], box.place, stack)
    path = _option(box, facts.LIST_FLAGS, facts.LIST_VARIABLE) or min(facts.LISTS_IN_IMAGE, key=len)
    for mount in need(box.mounts):
        if path == mount.path or path.startswith(mount.path.rstrip("/") + "/"):
            volume = pod.volume(mount.volume)
            name = None if volume is None else volume.place.at("configMap", "name").text()
            if name is None:
                raise NotKnownError(box.place["volumeMounts"].not_known(f"what is in {path}"))
            return _from_map(name, box.place, stack)
    if path in facts.LISTS_IN_IMAGE:
        return None
    raise NotKnownError(box.place["args"].not_known(f"what is in {path}"))


def _option(box: Container, flags: tuple[str, ...], variable: str) -> str | None:
    """Return what an option says, by the command line or else by the environment."""
    said = _after(flags, (*box.place["command"].texts(), *box.place["args"].texts()))
    if said is not None:
        return said
    values = (item["value"].text() for item in box.place["env"].items() if item["name"].text() == variable)
    return next(values, None)


def _after(flags: tuple[str, ...], words: Sequence[str]) -> str | None:
    """Return what a command line says after one of ``flags``."""
    for index, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in flags:
            return value if equals else next(iter(words[index + 1 : index + 2]), None)
    return None


def _newest(text: object) -> tuple[int, ...] | None:
    """Return the last version in a text: the exporter's own of ``4.5.3-4.8.2-distroless``."""
    found = _VERSION.findall(text) if isinstance(text, str) else []
    return tuple(int(part) for part in found[-1]) if found else None
