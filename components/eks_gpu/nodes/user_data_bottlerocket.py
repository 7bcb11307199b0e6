"""User data of Bottlerocket: a TOML text with settings of its API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import bottlerocket
from eks_gpu.nodes import kubelet
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_image import NodeImage

_ROOT: Final = "settings"


def settings(pool: GpuPool) -> dict[str, object]:
    """Return the settings of a pool's nodes, as Bottlerocket's API names them.

    The device plugin is the image's own; the platform's keeps off these nodes, because two would advertise every GPU
    twice.
    """
    return {
        "kubernetes": _kubernetes(pool),
        "nvidia-container-runtime": dict(bottlerocket.CONTAINER_RUNTIME_OPTIONS),
        "kubelet-device-plugins": {"nvidia": dict(bottlerocket.DEVICE_PLUGIN_OPTIONS)},
        **_network(pool.image),
        **_registries(pool.image),
        "bootstrap-commands": _commands(pool),
    }


def _kubernetes(pool: GpuPool) -> dict[str, object]:
    extra = kubelet.reserved(pool)
    return {
        "image-gc-high-threshold-percent": str(kubelet.IMAGE_GC_HIGH_PERCENT),
        "image-gc-low-threshold-percent": str(kubelet.IMAGE_GC_LOW_PERCENT),
        **({"kube-reserved": extra} if extra else {}),
    }


def _network(image: NodeImage) -> dict[str, object]:
    if image.proxy is None or image.proxy.https is None:
        return {}
    return {"network": {"https-proxy": image.proxy.https, "no-proxy": list(image.proxy.direct)}}


def _registries(image: NodeImage) -> dict[str, object]:
    mirrors = [{"registry": mirror.registry, "endpoint": list(mirror.endpoints)} for mirror in image.registry_mirrors]
    return {"container-registry": {"mirrors": mirrors}} if mirrors else {}


def _commands(pool: GpuPool) -> dict[str, object]:
    """Return what runs at every boot, in the order of the names, before kubelet starts.

    A node without its disks is worse than none, so that command is essential; an age that is not set is not.
    """
    age = ("apiclient", "set", f"{bottlerocket.IMAGE_MAXIMUM_AGE}={kubelet.IMAGE_MAXIMUM_AGE}")
    commands: dict[str, object] = {}
    if pool.has_local_nvme:
        commands[bottlerocket.INSTANCE_STORAGE] = _always(bottlerocket.INSTANCE_STORAGE_COMMANDS, essential=True)
    commands[bottlerocket.IMAGE_MAXIMUM_AGE_COMMAND] = _always((age,), essential=False)
    return commands


def _always(commands: tuple[tuple[str, ...], ...], *, essential: bool) -> dict[str, object]:
    return {"commands": [list(command) for command in commands], "mode": "always", "essential": essential}


def render(pool: GpuPool) -> str:
    """Return the user data of a pool's nodes."""
    return "\n".join(_tables(_ROOT, settings(pool)))


def _tables(name: str, table: Mapping[str, object]) -> Iterator[str]:
    """Yield the lines of a TOML table: its values first, then the tables within."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping) and not _is_tables(value)}
    if plain:
        yield f"[{name}]"
        yield from (f"{key} = {_value(value)}" for key, value in plain.items())
        yield ""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _tables(f"{name}.{key}", value)
        elif _is_tables(value):
            yield from _array(f"{name}.{key}", value)


def _array(name: str, tables: object) -> Iterator[str]:
    for table in tables if isinstance(tables, list) else []:
        yield f"[[{name}]]"
        yield from (f"{key} = {_value(value)}" for key, value in table.items())
        yield ""


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _value(value: object) -> str:
    """Return a text, truth value or list as TOML writes it, which is as JSON does."""
    return json.dumps(value)
