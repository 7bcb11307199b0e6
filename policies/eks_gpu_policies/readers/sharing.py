"""How GPUs are shared: the device plugin's named configurations, and which of them a pool gets.

The plugin reads files of YAML, from a ConfigMap or from the values of its chart or of the operator's. A pool picks one
by the label ``nvidia.com/device-plugin.config``; otherwise the default applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.gpu_software import DEVICE_PLUGIN_DEFAULT_CONFIG
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnownError, View, need
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

SHARING_CHARTS: Final = frozenset({GPU_OPERATOR.name, NVIDIA_DEVICE_PLUGIN.name})
"""Charts that run the device plugin."""


@dataclass(frozen=True, slots=True)
class PluginConfigs:
    """The named configurations that one installation of the device plugin chooses from."""

    files: Mapping[str, View]
    """Name to what the file says."""
    default: str | None
    """The configuration of pools that name none; None when they get an empty one."""

    def of_pool(self, pool: Pool) -> View | None:
        """Return the configuration of a pool; None when it gets an empty one, or one that does not exist."""
        name = need(pool.labels).get(labels.DEVICE_PLUGIN_CONFIG, self.default)
        return None if name is None else self.files.get(name)


def plugin_configs(release: Resource, program: Program) -> PluginConfigs:
    """Return the configurations of a release of the plugin's or the operator's chart."""
    values = charts.values(release)
    if charts.name(release) == GPU_OPERATOR.name:
        config = values.at("devicePlugin", "config")
        files = _files(release, config, config["data"], program)
        return PluginConfigs(files, config["default"].text() or None)
    config = values["config"]
    files = _files(release, config, config["map"], program)
    return PluginConfigs(files, config["default"].text() or _fallback(files))


def _fallback(files: Mapping[str, View]) -> str | None:
    """Return what the plugin's chart falls back to: the configuration named ``default``, else the only one."""
    if DEVICE_PLUGIN_DEFAULT_CONFIG in files:
        return DEVICE_PLUGIN_DEFAULT_CONFIG
    return next(iter(files)) if len(files) == 1 else None


def _files(release: Resource, config: View, inline: View, program: Program) -> dict[str, View]:
    written = {key: _parsed(place) for key, place in inline.entries()}
    if written or not config["name"].exists:
        return written
    return {key: _parsed(place) for key, place in config_map(release, config["name"], program).view["data"].entries()}


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


def _parsed(place: View) -> View:
    """Return what a file of the plugin says; nothing when it is not YAML."""
    # Only a stack that shares GPUs pays for the parser.
    import yaml  # noqa: PLC0415

    text = place.text()
    try:
        data = None if text is None else yaml.safe_load(text)
    except yaml.YAMLError:
        data = None
    return View(data, place.source, place.path)


def time_sliced(config: View) -> dict[str, int]:
    """Return how many pods share one of each resource by time-slicing."""
    entries = config.at("sharing", "timeSlicing", "resources").items()
    return {entry["name"].text() or "": entry["replicas"].integer() or 0 for entry in entries}
