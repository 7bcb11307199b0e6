"""How GPUs are shared: the device plugin's named configurations, and which of them a pool gets.

The plugin reads files of YAML, from a ConfigMap or from the values of its chart or of the operator's. A pool picks one
by the label ``nvidia.com/device-plugin.config``; otherwise the default applies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.gpu_software import DEVICE_PLUGIN_DEFAULT_CONFIG
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnownError, View, attempt, need
from eks_gpu.planning.sharing.plugin_config import shared_resource
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

SHARING_CHARTS: Final = frozenset({GPU_OPERATOR.name, NVIDIA_DEVICE_PLUGIN.name})
"""Charts that run the device plugin."""


_LOOKS_SHARED: Final = re.compile(r"time-?slicing|\bmps\b", re.IGNORECASE)
_GFD_CHART: Final = "gpu-feature-discovery"
_NOWHERE: Final = View(None, "")


@dataclass(frozen=True, slots=True)
class PluginConfigs:
    """The named configurations that one installation of the device plugin chooses from."""

    files: Mapping[str, View]
    """Name to what the file says."""
    default: str | None
    """The configuration of pools that name none; None when they get an empty one."""
    named: View = _NOWHERE
    """The default by name, where somebody chose one."""
    inline: bool = False
    """Whether the files are in the values, rather than in a ConfigMap of their own."""

    def of_pool(self, pool: Pool) -> View | None:
        """Return the configuration of a pool; None when it gets an empty one, or one that does not exist."""
        name = need(pool.labels).get(labels.DEVICE_PLUGIN_CONFIG, self.default)
        return None if name is None else self.files.get(name)


def plugin_configs(release: Resource, program: Program) -> PluginConfigs:
    """Return the configurations of a release of the plugin's or the operator's chart."""
    values = charts.values(release)
    if charts.name(release) == GPU_OPERATOR.name:
        config = values.at("devicePlugin", "config")
        files, inline = _files(release, config, config["data"], program)
        return PluginConfigs(files, config["default"].text() or None, config["default"], inline)
    config = values["config"]
    files, inline = _files(release, config, config["map"], program)
    return PluginConfigs(files, config["default"].text() or _fallback(files), config["default"], inline)


def _fallback(files: Mapping[str, View]) -> str | None:
    """Return what the plugin's chart falls back to: the configuration named ``default``, else the only one."""
    if DEVICE_PLUGIN_DEFAULT_CONFIG in files:
        return DEVICE_PLUGIN_DEFAULT_CONFIG
    return next(iter(files)) if len(files) == 1 else None


def _files(release: Resource, config: View, inline: View, program: Program) -> tuple[dict[str, View], bool]:
    """Return the files by name, and whether they are in the values."""
    written = {key: parsed(place) for key, place in inline.entries()}
    if written or not config["name"].exists or config["name"].data == "":
        return written, True
    return named_files(config_map(release, config["name"], program)), False


def named_files(source: Resource) -> dict[str, View]:
    """Return the files in a ConfigMap, by name."""
    return {key: parsed(place) for key, place in source.view["data"].entries()}


def config_map(release: Resource, name: View, program: Program) -> Resource:
    """Return the ConfigMap that a release names: by literal name, else by what its values were computed from.

    Raises ``NotKnownError`` when it is not, or not plainly, in the stack.
    """
    if isinstance(name.data, str):
        found = program.named(tokens.CONFIG_MAP, name.data)
    else:
        found = program.computed_from(release, "values", tokens.CONFIG_MAP)
    if len(found) != 1:
        raise NotKnownError(name.not_known("the ConfigMap is not in the stack"))
    return found[0]


def parsed(place: View) -> View:
    """Return what a file of YAML says; nothing when it is none."""
    text = place.text()
    return View(None if text is None else _loaded(text), place.source, place.path)


@lru_cache(maxsize=64)
def _loaded(text: str) -> object:
    """Return the content of a file, which several releases may be given; nobody changes it."""
    # Only a stack that shares GPUs pays for the parser.
    import yaml  # noqa: PLC0415

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except (yaml.YAMLError, ValueError):
        return None


def time_sliced(config: View) -> dict[str, int]:
    """Return how many pods share one of each resource by time-slicing."""
    entries = config.at("sharing", "timeSlicing", "resources").items()
    return {shared_resource(entry) or "": entry["replicas"].integer() or 0 for entry in entries}


def choice_of(pool: Pool) -> str | None:
    """Return the configuration that a pool names by its label."""
    return need(pool.labels).get(labels.DEVICE_PLUGIN_CONFIG)


def map_of(release: Resource, program: Program) -> Resource | None:
    """Return the ConfigMap that a release takes its files from; None where they are in its values."""
    values = charts.values(release)
    path = ("devicePlugin", "config") if charts.name(release) == GPU_OPERATOR.name else ("config",)
    name = values.at(*path)["name"]
    return config_map(release, name, program) if name.exists else None


def discovers(release: Resource, program: Program) -> bool:
    """Return whether GPU feature discovery labels nodes: by this release or by a chart of its own."""
    said = charts.values(release).at("gfd", "enabled").boolean()
    if said or (said is None and charts.name(release) == GPU_OPERATOR.name):
        return True
    return bool(charts.releases(program, _GFD_CHART))


def said_strategy(release: Resource, file: View) -> str | None:
    """Return the MIG strategy that wins: values give it by environment, which goes before the file."""
    values = charts.values(release)
    if charts.name(release) == GPU_OPERATOR.name:
        return values.at("mig", "strategy").text() or mig.SINGLE
    return values["migStrategy"].text() or file.at("flags", "migStrategy").text()


def loose_files(program: Program) -> tuple[Resource, ...]:
    """Return the ConfigMaps that speak of shared GPUs and are read by no release of the stack."""
    releases = charts.releases(program, *sorted(SHARING_CHARTS))
    read = {found.urn for item in releases if isinstance(found := attempt(map_of, item, program), Resource)}
    maps = program.of_type(tokens.CONFIG_MAP)
    return tuple(item for item in maps if item.urn not in read and attempt(_looks_shared, item) is True)


def _looks_shared(source: Resource) -> bool:
    """Return whether a ConfigMap speaks of shared GPUs, whoever reads it."""
    texts = (place.data for _, place in source.view["data"].entries())
    return any(
        isinstance(text, str) and labels.GFD_PRODUCT.partition("/")[0] in text and _LOOKS_SHARED.search(text)
        for text in texts
    )


def several_asked(pod: PodTemplate) -> tuple[str, int] | None:
    """Return the GPU resource of which a container asks more than one, with how many."""
    for container in pod.all_containers:
        for name, amount in {**need(container.requests), **need(container.limits)}.items():
            pieces = quantity(amount) if name in {resources.GPU, resources.GPU_SHARED} else None
            if pieces is not None and pieces > 1:
                return name, int(pieces)
    return None
