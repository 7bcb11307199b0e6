"""How GPUs are shared, as device plugin and MIG manager read it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypedDict

import pulumi
import pulumi_kubernetes as k8s
import yaml

from eks_gpu.facts import gpu_software, mig, resources
from eks_gpu.planning.offer import Offer, offer_of, split_of
from eks_gpu.planning.sharing.advertised import Shares
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.sharing import Sharing

_STEM: Final = "device-plugin-sharing"
_MIG_STEM: Final = "mig-layouts"
_DIGITS: Final = 10
"""Of the hash in a name: a clash between two configurations of one cluster is out of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFiles:
    """The content of a ConfigMap, and a name that changes with it.

    Neither plugin nor operator watches its ConfigMap: only a new name rolls their pods. The name is plain, so that it
    can be read before there is a cluster.
    """

    stem: str
    """The part of the name that stays."""

    files: Mapping[str, str]
    """Texts by their key."""

    @property
    def name(self) -> str:
        """Name in the cluster: the stem and a hash of the files."""
        text = yaml.safe_dump(dict(self.files), sort_keys=True)
        return f"{self.stem}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def sharing_config(sharing: Sharing) -> dict[str, object]:
    """Return the device plugin's configuration. It is empty but for its version where each GPU is one pod's.

    The plugin ignores what it does not know, a misspelt key included, so this is the only place that writes it.
    Flags are not in it: the chart and the operator give them by environment, which wins over the file. Partitions are
    not in it either: the MIG manager makes them, and the plugin finds them.
    """
    config: dict[str, object] = {"version": gpu_software.DEVICE_PLUGIN_CONFIG_VERSION}
    if sharing.time_slicing is not None:
        renamed = {"renameByDefault": sharing.time_slicing.rename}
        config["sharing"] = {"timeSlicing": {**renamed, **_replicas(sharing.time_slicing.replicas)}}
    elif sharing.mps is not None:
        config["sharing"] = {"mps": _replicas(sharing.mps.replicas)}
    return config


def _replicas(replicas: int) -> dict[str, object]:
    return {
        # Asking for two shares would give no second one, so it is an error and not a silent disappointment.
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": resources.GPU, "replicas": replicas}],
    }


def sharing_files(default: Sharing, pools: Iterable[Sharing] = ()) -> NamedFiles:
    """Return the named configurations as a ConfigMap holds them.

    ``default`` is that of nodes that name none, ``pools`` are those that pools choose by their nodes' label. Exclusive
    GPUs always have one. The plugin does not start on a node that names one which is not there.
    """
    named = {each.config_name: each for each in (Sharing(), *pools)}
    configs = {gpu_software.DEVICE_PLUGIN_DEFAULT_CONFIG: default, **dict(sorted(named.items()))}
    files = {name: yaml.safe_dump(sharing_config(each), sort_keys=False) for name, each in configs.items()}
    return NamedFiles(stem=_STEM, files=files)


def mig_files(pools: Iterable[GpuPool]) -> NamedFiles | None:
    """Return the MIG manager's layouts as a ConfigMap holds them: those that pools choose. None where none does.

    The manager applies the layout that a node's label names when the node joins and whenever it boots, so that what is
    written here survives a reboot. Without a file of ours it makes its own from what it finds on each node.
    """
    models: dict[str, tuple[tuple[str, int], ...]] = {}
    for pool in pools:
        if pool.sharing is not None and pool.sharing.mig is not None:
            name = pool.sharing.mig.layout_name
            models[name] = (*models.get(name, ()), pool.types[0].gpu_model)
    if not models:
        return None
    text = yaml.safe_dump(mig.config_file(models), sort_keys=False)
    return NamedFiles(stem=_MIG_STEM, files={gpu_software.MIG_CONFIG_FILE: text})


def mig_strategy(pools: Iterable[GpuPool]) -> str:
    """Return the one MIG strategy of a platform: that of its partitioned pools, the operator's own where none is."""
    asked = (pool.sharing.mig.strategy.value for pool in pools if pool.sharing is not None and pool.sharing.mig)
    return next(asked, mig.SINGLE)


def chosen_by(pools: Mapping[str, GpuPool]) -> list[Sharing]:
    """Return how the pools share that say so."""
    return [pool.sharing for pool in pools.values() if pool.sharing is not None]


class Offered(TypedDict):
    """The part of ``GpuSoftware`` that follows from how GPUs are shared."""

    gpu_resource: str
    shared: bool
    offers: tuple[Offer, ...]
    mig_strategy: str


def offered(default: Sharing, pools: Mapping[str, GpuPool]) -> Offered:
    """Return what pods can ask for: on pools that do not say how they share, and on each of ``pools``."""
    split = split_of(default)
    return {
        "gpu_resource": split.resource if isinstance(split, Shares) else resources.GPU,
        "shared": default.shared,
        "offers": tuple(offer_of(name, pool, default) for name, pool in pools.items()),
        "mig_strategy": mig_strategy(pools.values()),
    }


def config_map(name: str, files: NamedFiles, namespace: str, opts: pulumi.ResourceOptions) -> k8s.core.v1.ConfigMap:
    """Return a ConfigMap, logically ``name``, that never changes: other content gives another name, another object."""
    return k8s.core.v1.ConfigMap(
        name,
        metadata={"name": files.name, "namespace": namespace},
        data=dict(files.files),
        immutable=True,
        opts=opts,
    )
