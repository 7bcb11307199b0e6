"""Layouts of MIG that somebody wrote: mig-parted's file, and partitions made by ``nvidia-smi mig -cgi``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import mig
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.reading import View

_CREATE: Final = re.compile(
    r"nvidia-smi\s[^\n;&|]{0,200}?(?:-cgi|--create-gpu-instance)[ =]\s{0,8}[\"']?([A-Za-z0-9.+,]{1,200})"
)
_TOOL: Final = "nvidia-smi"
_ANY_SEVEN: Final = mig.MODELS["a100", 40960]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a layout makes of some of a node's GPUs."""

    devices: tuple[str, ...]
    """PCI ids of the models it is meant for; empty for all."""
    partitions: Mapping[str, int]
    """Partitions of each GPU, by profile; empty where MIG is off."""

    def is_for(self, gpu: mig.MigGpu) -> bool:
        """Return whether it is meant for a GPU model."""
        known = {device.lower() for device in gpu.devices}
        return not self.devices or not known or any(device.lower() in known for device in self.devices)


@dataclass(frozen=True, slots=True)
class LayoutFile:
    """A file of the MIG manager: what it calls layouts, and what they are."""

    layouts: Mapping[str, tuple[Entry, ...]]

    def on(self, name: str, gpu: mig.MigGpu) -> tuple[Entry, ...]:
        """Return what a layout makes of the GPUs of a model; none where it is not there, or not for the model."""
        return tuple(entry for entry in self.layouts.get(name, ()) if entry.is_for(gpu))

    def obstacles(self) -> Iterator[str]:
        """Yield what no GPU that has the profiles can hold, in words that go on after the layout's name.

        Profiles of models that EC2 has not are nobody's mistake: NVIDIA's own file lists them as well.
        """
        for name, entries in self.layouts.items():
            for entry in entries:
                having = [gpu for gpu in mig.MODELS.values() if all(map(gpu.profile, entry.partitions))]
                reasons = [gpu.obstacle(entry.partitions) for gpu in having]
                if reasons and all(reasons):
                    yield f"{name} fits no GPU: {reasons[0]}"


def read_layout_file(file: View) -> LayoutFile:
    """Read a file of mig-parted: ``mig-configs``, each a list of entries."""
    return LayoutFile(
        {name: tuple(_entry(item) for item in entries.items()) for name, entries in file["mig-configs"].entries()}
    )


def _entry(item: View) -> Entry:
    only = item["device-filter"]
    text = only.text()
    devices = only.texts() if text is None else (text,)
    made = item["mig-devices"].entries() if item["mig-enabled"].boolean() else ()
    return Entry(devices, {name: count.integer() or 0 for name, count in made})


def created(text: str) -> Iterator[tuple[str, ...]]:
    """Yield what each ``nvidia-smi mig -cgi`` in a text makes on a GPU: profiles, by id or name."""
    if _TOOL not in text:
        return
    for found in _CREATE.findall(text):
        yield tuple(part for part in found.split(",") if part)


def creation_obstacle(wanted: Iterable[str], gpu: mig.MigGpu | None) -> str | None:
    """Return why a GPU cannot hold the partitions that a command makes, or None; ``None`` for a model nobody knows.

    A profile's id is read for GPUs with seven slices, which all number theirs alike.
    """
    model = gpu or _ANY_SEVEN
    if model.compute_slices != _ANY_SEVEN.compute_slices:
        return None
    names = [model.profiles[mig.PROFILE_IDS[int(part)]].name if _is_id(part) else part for part in wanted]
    if gpu is None and any(model.profile(name) is None for name in names):
        return None
    return model.obstacle(Counter(names))


def _is_id(part: str) -> bool:
    return part.isdecimal() and int(part) in mig.PROFILE_IDS


def creation_defects(commands: Iterable[tuple[str, ...]], kinds: Sequence[InstanceType]) -> Iterator[str]:
    """Yield what is wrong with commands that make partitions, where none of the types they may run on has room.

    Without types nobody knows the model, and a command is judged by what no GPU with seven slices can hold.
    """
    for wanted in commands:
        reasons = [_creation_obstacle_on(kind, wanted) for kind in kinds] or [creation_obstacle(wanted, None)]
        if all(reasons):
            yield f"makes partitions by nvidia-smi mig -cgi {','.join(wanted)}: {reasons[0]}"


def _creation_obstacle_on(kind: InstanceType, wanted: Iterable[str]) -> str | None:
    gpu = mig.MODELS.get(kind.gpu_model)
    return f"the {kind.gpu_name} of {kind.name} has no MIG" if gpu is None else creation_obstacle(wanted, gpu)


def settings_defects(profiles: tuple[str, ...] | None, kinds: Iterable[InstanceType]) -> Iterator[str]:
    """Yield what is wrong with the profiles of Bottlerocket's settings, of which each GPU model needs one of its own.

    None: the settings partition nothing.
    """
    for kind in () if profiles is None else kinds:
        gpu = mig.MODELS.get(kind.gpu_model)
        if gpu is None:
            yield f"partitions GPUs by Bottlerocket's settings, but the {kind.gpu_name} of {kind.name} has no MIG"
        elif profiles and not any(map(gpu.profile, profiles)):
            yield (
                f"names {', '.join(profiles)} in Bottlerocket's settings, which the {kind.gpu_name} of {kind.name} has "
                f"not; it has {', '.join(each.name for each in gpu.profiles)}"
            )
