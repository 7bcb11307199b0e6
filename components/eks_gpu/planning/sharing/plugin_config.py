"""What is wrong with a file of the device plugin: read strictly, because the plugin does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.gpu_software import DEVICE_PLUGIN_CONFIG_VERSION
from eks_gpu.facts.sharing_config import FEWEST_REPLICAS, KEYS, MPS, TIME_SLICING, Keys
from eks_gpu.planning.reading import View

_IGNORED: Final = "resources"
_VENDOR: Final = resources.GPU.partition("/")[0] + "/"


def defects(file: View) -> Iterator[str]:
    """Yield what is wrong with a file, in words that go on after its name."""
    if not isinstance(file.data, Mapping):
        yield "is no YAML mapping, and the plugin does not start with it"
        return
    yield from _unknown_keys(file.data, KEYS, "")
    yield from _version(file)
    sharing = file["sharing"]
    for way in (TIME_SLICING, MPS):
        yield from _replicated(sharing[way], way)
    if all(sharing[way]["resources"].items() for way in (TIME_SLICING, MPS)):
        yield f"has {TIME_SLICING} beside {MPS}: {MPS} wins, and the other is ignored"


def unpinned(file: View) -> bool:
    """Return whether a file leaves out the version of its format, which the plugin then guesses."""
    return isinstance(file.data, Mapping) and file["version"].text() is None


def _version(file: View) -> Iterator[str]:
    version = file["version"].text()
    if version not in {None, DEVICE_PLUGIN_CONFIG_VERSION}:
        yield f"has version {version}, the plugin knows {DEVICE_PLUGIN_CONFIG_VERSION} only"


def _unknown_keys(data: object, keys: Keys, path: str) -> Iterator[str]:
    for item in data if isinstance(data, list) else (data,):
        if not isinstance(item, Mapping):
            continue
        for key, below in item.items():
            where = f"{path}.{key}" if path else str(key)
            if key not in keys:
                why = "is not supported and ignored" if where == _IGNORED else "is not known and ignored"
                yield f"has the key {where}, which {why}; allowed here: {', '.join(sorted(keys))}"
            elif (known := keys[key]) is not None:
                yield from _unknown_keys(below, known, where)


def shared_resource(entry: View) -> str | None:
    """Return which resource an entry shares. The plugin puts the vendor before a name without one (resources.go)."""
    name = entry["name"].text()
    return name if name is None or name.startswith(_VENDOR) else _VENDOR + name


def _replicated(shared: View, way: str) -> Iterator[str]:
    for entry in shared["resources"].items():
        name = shared_resource(entry)
        if name is None:
            yield f"has an entry without a name under sharing.{way}.resources, and the plugin does not start"
            continue
        if name != resources.GPU and not name.startswith(resources.MIG_PREFIX):
            yield f"shares {name} by {way}, which the plugin advertises nowhere, so that nothing is shared"
        yield from _replicas(entry["replicas"], f"shares {name} by {way}")


def _replicas(place: View, shares: str) -> Iterator[str]:
    number, said = place.integer(), place.text()
    if said is None:
        yield f"{shares} and does not say among how many pods, and the plugin does not start"
    elif isinstance(place.data, str):
        yield f"{shares} among {said!r} pods, which is a text and no number, and the plugin does not start"
    elif number is None or number < FEWEST_REPLICAS:
        pods = "pod" if number == 1 else "pods"
        yield f"{shares} among {said} {pods}; the plugin starts with {FEWEST_REPLICAS} or more only"
