"""How the GPUs of each pool are split: by the plugin's configuration, MIG's label, or Bottlerocket's settings."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.pool import Pool, family_of
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split
from eks_gpu.planning.sharing.plugin_config import shared_resource
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program, once
from eks_gpu_policies.readers.sharing import SHARING_CHARTS, PluginConfigs, plugin_configs
from eks_gpu_policies.readers.user_data import user_data_of
from eks_gpu_policies.resource import Resource

_OPERATOR_STRATEGY: Final = mig.SINGLE
"""The operator's ``mig.strategy`` where its values say nothing (gpu-operator v26.7.0 values.yaml)."""
_NO_STRATEGY: Final = "none"
"""The plugin's ``migStrategy`` where its values say nothing: partitions are not looked for."""
_SHARING: Final = frozenset({"devicePlugin", "mig", "migManager"})
"""Parts of a ClusterPolicy that decide how GPUs are shared."""
BOTTLEROCKET_SLICES: Final = "time-slicing"
"""What Bottlerocket calls ``timeSlicing``."""
_WAYS: Final = ("mps", "timeSlicing")
"""How shares are made; where both are configured, MPS wins."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A release that runs the device plugin."""

    release: Resource
    configs: PluginConfigs | NotKnown
    """Its named configurations."""

    @property
    def by_operator(self) -> bool:
        """Whether the operator runs the plugin, and partitions GPUs."""
        return charts.name(self.release) == GPU_OPERATOR.name


def installations(program: Program) -> tuple[Installation, ...]:
    """Return the releases of a program that run the device plugin; of those that say the same, one."""
    found: dict[str, Installation] = {}
    for release in charts.releases(program, *SHARING_CHARTS):
        said = repr(charts.values(release).data)
        if said not in found:
            found[said] = Installation(release, attempt(plugin_configs, release, program))
    return tuple(found.values())


def split_of(pool: Pool, plugins: tuple[Installation, ...], program: Program) -> Split:
    """Return how a pool's GPUs are split; raise ``NotKnownError`` when what splits them is not in the stack."""
    settings = _bottlerocket_settings(pool, program)
    if settings is not None:
        return _of_bottlerocket(settings)
    if _is_changed_elsewhere(program):
        raise NotKnownError(NotKnown(pool.urn, "device plugin", "its configuration is changed in the ClusterPolicy"))
    splits = _of_plugins(pool, plugins, program)
    if not splits:
        raise NotKnownError(NotKnown(pool.urn, "device plugin", "it is not in the stack"))
    if len(splits) > 1:
        raise NotKnownError(NotKnown(pool.urn, "device plugin", "several are in the stack, and they differ"))
    return splits[0]


@once
def _is_changed_elsewhere(program: Program) -> bool:
    return any(map(_changes_sharing, program.of_type(tokens.CLUSTER_POLICY)))


def _changes_sharing(policy: Resource) -> bool:
    """Return whether somebody tells the operator how to share beside, or after, the values of its chart."""
    spec = policy.props.get("spec")
    return spec is UNKNOWN or (isinstance(spec, Mapping) and not _SHARING.isdisjoint(spec))


def _of_plugins(pool: Pool, plugins: tuple[Installation, ...], program: Program) -> tuple[Split, ...]:
    """Return how plugins split a pool's GPUs, each way once; pools that do not differ for them are asked once."""
    key = attempt(_decisive, pool)
    known = _splits(program)
    if isinstance(key, NotKnown) or key not in known:
        found = tuple(dict.fromkeys(_of_plugin(pool, plugin) for plugin in plugins))
        if isinstance(key, NotKnown):
            return found
        known[key] = found
    return known[key]


@once
def _splits(_program: Program) -> dict[Hashable, tuple[Split, ...]]:
    """Return a place to keep what plugins make of pools."""
    return {}


def _decisive(pool: Pool) -> Hashable:
    """Return what of a pool decides how plugins split its GPUs."""
    said = need(pool.labels)
    types = tuple(kind.name for kind in pool.gpu_types)
    return said.get(labels.MIG_CONFIG), said.get(labels.DEVICE_PLUGIN_CONFIG), types


def _of_plugin(pool: Pool, plugin: Installation) -> Split:
    config = need(plugin.configs).of_pool(pool)
    layout = _layout(pool, plugin)
    if layout not in {None, mig.ALL_DISABLED}:
        strategy = _strategy(plugin, config)
        if config is not None and any(map(_is_of_slices, _entries(config))):
            raise NotKnownError(NotKnown(pool.urn, "device plugin", "it shares slices of GPUs, which is not counted"))
        if strategy != _NO_STRATEGY:
            return Partitions(layout or "", strategy)
    return next(_shares(config), None) if config is not None else None


def _entries(config: View) -> Iterator[View]:
    for way in _WAYS:
        yield from config.at("sharing", way, "resources").items()


def _is_of_slices(entry: View) -> bool:
    return (shared_resource(entry) or "").startswith(resources.MIG_PREFIX)


def _layout(pool: Pool, plugin: Installation) -> str | None:
    """Return the layout of a pool's nodes: by label, else the operator's default for nodes that MIG is possible on."""
    said = need(pool.labels).get(labels.MIG_CONFIG)
    if said is not None or not plugin.by_operator or not any(kind.mig_capable for kind in pool.gpu_types):
        return said
    return charts.values(plugin.release).at("migManager", "config", "default").text()


def _strategy(plugin: Installation, config: View | None) -> str:
    values = charts.values(plugin.release)
    if plugin.by_operator:
        return values.at("mig", "strategy").text() or _OPERATOR_STRATEGY
    of_file = None if config is None else config.at("flags", "migStrategy").text()
    return values["migStrategy"].text() or of_file or _NO_STRATEGY


def _shares(config: View) -> Iterator[Shares]:
    for way in _WAYS:
        shared = config.at("sharing", way)
        renamed = shared["renameByDefault"].boolean() is True
        for entry in shared["resources"].items():
            replicas = entry["replicas"].integer()
            if shared_resource(entry) == resources.GPU and replicas is not None and replicas > 1:
                yield Shares(replicas, resources.GPU_SHARED if renamed else resources.GPU)


def _of_bottlerocket(settings: View) -> Split:
    """Read ``settings.kubelet-device-plugins.nvidia`` (bottlerocket v1.46 and newer, checked 2026-11-21)."""
    if settings["device-partitioning-strategy"].text() == "mig":
        profiles = [place.text() for _, place in settings.at("mig", "profile").entries()]
        return Partitions(_layout_name(profiles[0] or ""), mig.SINGLE) if profiles else None
    shared = _shared_by(settings)
    return None if shared is None else shared[1]


def _shared_by(settings: View) -> tuple[str, Shares] | None:
    way = settings["device-sharing-strategy"].text()
    shared = settings[way] if way in {BOTTLEROCKET_SLICES, "mps"} else View(None, "")
    replicas = shared["replicas"].integer()
    if way is None or replicas is None or replicas <= 1:
        return None
    renamed = shared["rename-by-default"].boolean() is True
    return way, Shares(replicas, resources.GPU_SHARED if renamed else resources.GPU)


def bottlerocket_shares(pool: Pool, program: Program) -> tuple[str, Shares] | None:
    """Return how the settings of a pool's Bottlerocket share its GPUs, after the way; None where they do not.

    Raises ``NotKnownError`` where the settings are not known.
    """
    settings = _bottlerocket_settings(pool, program)
    return None if settings is None else _shared_by(settings)


def _bottlerocket_settings(pool: Pool, program: Program) -> View | None:
    """Return the settings of the device plugin that Bottlerocket brings; None where it is off, or for other images."""
    if attempt(family_of, pool) is not AmiFamily.BOTTLEROCKET:
        return None
    settings = user_data_of(pool, program).settings["kubelet-device-plugins"]["nvidia"]
    return None if settings["enabled"].boolean() is False else settings


def _layout_name(profile: str) -> str:
    return profile if profile.startswith("all-") else f"all-{profile}"
