"""SOFT001: the RuntimeClass has one owner, before its users; and so has the sharing configuration.

Only RuntimeClasses for NVIDIA's runtime are looked at: those with its handler, and the name that the operator uses.
A stack that holds neither cluster nor GPU software may well be installed where the RuntimeClass is already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.gpu_software import RUNTIME_CLASS, RUNTIME_HANDLER
from eks_gpu.facts.servers import VLLM_STACK
from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import family_of
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.readers.cluster import brings_unseen
from eks_gpu_policies.readers.sharing import SHARING_CHARTS, config_map
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack, Whole

_CHART_VALUES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        NVIDIA_DEVICE_PLUGIN.name: ("runtimeClassName",),
        DCGM_EXPORTER.name: ("runtimeClassName",),
        VLLM_STACK: ("servingEngineSpec", "runtimeClassName"),
    }
)
"""Charts whose pods name a RuntimeClass when the value at this path does."""
_BY_DEFAULT: Final[Mapping[str, str]] = MappingProxyType({VLLM_STACK: RUNTIME_CLASS})
"""What it says where nothing is said; nothing where the chart is not among these."""

_NODE_SOFTWARE: Final = (*sorted(SHARING_CHARTS), DCGM_EXPORTER.name)
"""Charts of those who set up a cluster: what they need is made by the same stack, or by nobody."""

_PLUGIN: Final = "plugin"


@dataclass(frozen=True, slots=True)
class _User:
    """A resource whose pods name a RuntimeClass."""

    resource: Resource
    runtime_class: str


def _concerned(_whole: Whole, stack: Stack) -> bool:
    software = (stack.of_type(tokens.RUNTIME_CLASS), _gpu_releases(stack), _unclear_releases(stack))
    return any(software) or any(_names_class(stack))


def _names_class(stack: Stack) -> Iterator[bool]:
    return (pod.runtime_class is not None and not _said_elsewhere(pod, stack) for pod in stack.pods)


def _said_elsewhere(pod: PodTemplate, stack: Stack) -> bool:
    """Return whether an object says only part of its pods, and whether they name a RuntimeClass is another's to say."""
    if not isinstance(pod.runtime_class, NotKnown) or "[" in pod.path:
        return False
    place = stack.by_urn[pod.urn].view.at(*pod.path.split("."), "runtimeClassName")
    return place.data is None or (place.partial and place.beyond)


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    operator, releases = attempt(_operator, stack), _gpu_releases(stack)
    yield from clauses(
        _unclear_releases(stack),
        *(_owner(item, operator, stack) for item in stack.of_type(tokens.RUNTIME_CLASS)),
        *(
            _chart_user(item, chart, operator, stack)
            for chart in _CHART_VALUES
            for item in charts.releases(stack, chart)
        ),
        *(_pod_user(pod, operator, stack) for pod in stack.pods),
        *(_sharing(item, stack) for item in releases),
    )


_Operator = tuple[Resource, str] | NotKnown | None
"""The GPU Operator of the stack with the RuntimeClass that it owns, if there is one."""


def _gpu_releases(stack: Stack) -> tuple[Resource, ...]:
    return charts.releases(stack, *{*_CHART_VALUES, *SHARING_CHARTS})


def _unclear_releases(stack: Stack) -> tuple[Undecided, ...]:
    """Return what is not known about releases of which nobody can tell what they install."""
    return tuple(map(undecided, charts.unclear(stack)))


def _operator(stack: Stack) -> tuple[Resource, str] | None:
    """Return the GPU Operator of the stack with the RuntimeClass that it owns."""
    release = next(iter(charts.releases(stack, GPU_OPERATOR.name)), None)
    if release is not None:
        return release, charts.values(release).at("operator", "runtimeClass").text() or RUNTIME_CLASS
    return None


def _owner(runtime_class: Resource, found: _Operator, stack: Stack) -> Iterator[Outcome]:
    name = runtime_class.kubernetes_name()
    operator = need(found)
    if operator is not None and name == operator[1]:
        yield Problem(
            f"makes the RuntimeClass {name}, which the GPU Operator ({operator[0].name}) makes as well: it overwrites "
            "this one and removes it with itself",
            urn=runtime_class.urn,
            fix=f"leave {runtime_class.name} out, and let what uses the class depend on {operator[0].name}",
        )
    handler = runtime_class.view["handler"].text()
    if name == RUNTIME_CLASS and handler != RUNTIME_HANDLER and _boots_amazon_linux(stack):
        yield Problem(
            f"names the handler {handler}; on AL2023 the runtime is called {RUNTIME_HANDLER}",
            urn=runtime_class.urn,
            fix=f"set handler: {RUNTIME_HANDLER}",
        )


def _boots_amazon_linux(stack: Stack) -> bool:
    return any(attempt(family_of, pool) is AmiFamily.AL2023 for pool in stack.gpu_pools)


def _chart_user(release: Resource, chart: str, operator: _Operator, stack: Stack) -> Iterator[Outcome]:
    place = charts.values(release).at(*_CHART_VALUES[chart])
    name = place.text() if place.exists else _BY_DEFAULT.get(chart)
    if name:
        yield from _user(_User(release, name), operator, stack)


def _pod_user(pod: PodTemplate, operator: _Operator, stack: Stack) -> Iterator[Outcome]:
    name = None if _said_elsewhere(pod, stack) else need(pod.runtime_class)
    if name:
        yield from _user(_User(stack.by_urn[pod.urn], name), operator, stack)


def _user(user: _User, found: _Operator, stack: Stack) -> Iterator[Outcome]:
    owners = stack.named(tokens.RUNTIME_CLASS, user.runtime_class)
    operator = need(found)
    if operator is not None and user.runtime_class == operator[1]:
        yield from _ordered(user, operator[0], stack)
    elif owners:
        if any(attempt(owner.view["handler"].text) == RUNTIME_HANDLER for owner in owners):
            yield from _ordered(user, owners[0], stack)
    elif user.runtime_class == RUNTIME_CLASS:
        yield from _missing(user, stack)


def _ordered(user: _User, owner: Resource, stack: Stack) -> Iterator[Outcome]:
    if not stack.options.manifests_only and not stack.reaches(user.resource.urn, owner.urn):
        yield Problem(
            f"uses the RuntimeClass {user.runtime_class} but does not depend on {owner.name}, which makes it: "
            "that it comes later is luck",
            urn=user.resource.urn,
            fix=f"let {user.resource.name} depend on {owner.name} (depends_on), as DevicePlugin and GpuOperator do",
        )


def _missing(user: _User, stack: Stack) -> Iterator[Outcome]:
    is_home = charts.releases(stack, *_NODE_SOFTWARE) or stack.of_type(*sorted(tokens.CLUSTERS))
    if is_home and not stack.options.manifests_only and not brings_unseen(stack):
        yield Problem(
            f"uses the RuntimeClass {user.runtime_class}, which nothing in the stack makes: its pods are rejected",
            urn=user.resource.urn,
            fix="leave runtimeClassName out, because EKS's NVIDIA images run every pod with it; or make a RuntimeClass "
            f"{user.runtime_class} with the handler {RUNTIME_HANDLER} and let {user.resource.name} depend on it",
        )
    else:
        yield Undecided("runtimeClassName", f"whether the cluster has the RuntimeClass {user.runtime_class}")


def _sharing(release: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge whether ConfigMaps that say how GPUs are shared are there before what reads them."""
    for reader, name in _config_names(release):
        if not name.exists or name.data == "":
            continue
        source = config_map(release, name, stack)
        if not stack.reaches(release.urn, source.urn):
            yield Problem(
                f"reads its sharing configuration from {source.name} but does not depend on it: the {reader} starts "
                "without",
                urn=release.urn,
                fix=f"let {release.name} depend on {source.name}, or give the configuration in the values",
            )


def _config_names(release: Resource) -> Iterator[tuple[str, View]]:
    """Yield who reads a ConfigMap that the release does not make itself, and where its name stands."""
    chart, values = charts.name(release), charts.values(release)
    if chart == NVIDIA_DEVICE_PLUGIN.name:
        yield _PLUGIN, values.at("config", "name")
    if chart == GPU_OPERATOR.name:
        for reader, operand in ((_PLUGIN, "devicePlugin"), ("MIG manager", "migManager")):
            config = values.at(operand, "config")
            if not config["create"].boolean():
                yield reader, config["name"]


_CLASS = examples.resource(
    tokens.RUNTIME_CLASS, "nvidia", {"metadata": {"name": RUNTIME_CLASS}, "handler": RUNTIME_HANDLER}
)


def _plugin(*after: Resource) -> Resource:
    return examples.release(
        "device-plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        after=after,
        values={"runtimeClassName": RUNTIME_CLASS},
    )


RULE: Final = Rule(
    id="SOFT001",
    title="RuntimeClass has one owner, before its users",
    severity=Severity.HIGH,
    why=(
        "A pod that names a RuntimeClass which does not exist is rejected, the device plugin's own first of all: no "
        "GPU is ever advertised. The GPU Operator makes the class itself, overwrites one of yours and deletes it when "
        "it goes."
    ),
    fix=(
        "with the operator make no RuntimeClass and let users depend on it; without, make one with the handler nvidia "
        "and let plugin and pods depend on it, as DevicePlugin and GpuOperator do"
    ),
    lessons=("G01", "G02", "G03"),
    looks_at=Subjects[Whole](
        "RuntimeClasses and who uses them",
        tokens.HELM | {tokens.RUNTIME_CLASS},
        lambda stack: (stack.whole,),
        _concerned,
    ),
    check=_check,
    failing=Example((_CLASS, _plugin())),
    passing=Example((_CLASS, _plugin(_CLASS))),
)
