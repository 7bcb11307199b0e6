"""How each GPU model can be partitioned by MIG: profiles, the slices they take, and layouts by name.

A GPU that can be partitioned has slices that compute and slices of memory. A partition takes some of each. Its memory
may begin only at certain slices, yet on the models here every layout whose sums fit can also be placed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

SOURCE = (
    "NVIDIA/mig-parted v0.15.0 deployments/systemd/config-default.yaml (profiles, counts, device ids, layout names); "
    "NVIDIA MIG user guide, 'Supported MIG Profiles' and 'nvidia-smi mig -lgipp' (slices)"
)
CHECKED = "2026-11-21"

SINGLE = "single"
"""Strategy of device plugin and feature discovery: each partition is advertised as if it were a GPU. Every GPU of a
node must then have partitions of one and the same profile."""
MIXED = "mixed"
"""Strategy by which each profile is a resource of its own."""

ALL_DISABLED = "all-disabled"
"""Layout of a node whose GPUs are whole; the MIG manager's default."""
ALL_BALANCED = "all-balanced"
"""Layout with partitions of several sizes on each GPU."""
ALL_ENABLED = "all-enabled"
"""Layout of a node whose GPUs have MIG switched on and no partition yet: whoever wants some makes them by hand."""

WITHOUT_MIG = "give each server a whole one, or a limited share by MPS"
"""What to do with GPUs that have no MIG, in the words that settings and rules share."""

_ALL = "all-"
_COUNTED = re.compile(r"([1-9]\d*)x([1-9]g\.\d+gb(?:\.me)?)")
"""One part of a composed layout's name: how often, and which profile."""
_MEDIA = "+me"
"""Suffix of the profile that has the GPU's media extensions; they are there once, so it is too."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of partition."""

    name: str
    """As mig-parted and ``nvidia-smi`` write it: ``1g.5gb``, ``1g.5gb+me``."""
    compute: int
    """Slices that compute."""
    memory: int
    """Slices of memory."""

    @property
    def label(self) -> str:
        """The name where ``+`` is not allowed: in labels, resources and layouts."""
        return self.name.replace("+", ".")

    @property
    def memory_gb(self) -> int:
        """Memory of one partition in GB, as its name says."""
        return int(self.name.partition(".")[2].partition("gb")[0])


@dataclass(frozen=True, slots=True)
class MigGpu:
    """A GPU model that can be partitioned."""

    compute_slices: int
    memory_slices: int
    profiles: tuple[Profile, ...]
    balanced: Mapping[str, int]
    """What ``all-balanced`` makes of each GPU; empty where mig-parted has no such layout."""
    devices: tuple[str, ...]
    """PCI ids (device and vendor) by which mig-parted tells the model from others; empty where it names none."""

    def profile(self, name: str) -> Profile | None:
        """Return the profile of that name, with ``+me`` or ``.me``."""
        return next((each for each in self.profiles if name in {each.name, each.label}), None)

    def most(self, profile: Profile) -> int:
        """Return how many partitions of a profile one GPU holds."""
        if profile.name.endswith(_MEDIA):
            return 1
        return max(n for n in range(1, self.compute_slices + 1) if self.obstacle({profile.name: n}) is None)

    @property
    def layouts(self) -> dict[str, Mapping[str, int]]:
        """The layouts that have names of their own, by name: partitions of each GPU, by profile."""
        uniform = {f"{_ALL}{each.label}": {each.name: self.most(each)} for each in self.profiles}
        return {ALL_DISABLED: {}, **uniform, **({ALL_BALANCED: self.balanced} if self.balanced else {})}

    def layout(self, name: str) -> Mapping[str, int] | None:
        """Return the partitions of each GPU under a layout's name; None if this GPU has no such layout."""
        if name in self.layouts:
            return self.layouts[name]
        counts: dict[str, int] = {}
        for part in name.split("-"):
            found = _COUNTED.fullmatch(part)
            profile = self.profile(found.group(2)) if found else None
            if found is None or profile is None:
                return None
            counts[profile.name] = int(found.group(1))
        return counts if self.obstacle(counts) is None else None

    def obstacle(self, layout: Mapping[str, int]) -> str | None:
        """Return why one GPU cannot hold a layout (partitions by profile), or None when it can."""
        wanted: list[Profile] = []
        for name, count in layout.items():
            profile = self.profile(name)
            if profile is None:
                return f"there is no profile {name}; profiles are {', '.join(each.name for each in self.profiles)}"
            if count > 1 and profile.name.endswith(_MEDIA):
                return f"{count} times {name} needs the media extensions more than once"
            wanted += [profile] * count
        compute, memory = sum(each.compute for each in wanted), sum(each.memory for each in wanted)
        if compute > self.compute_slices:
            return f"it needs {compute} of {self.compute_slices} compute slices"
        if memory > self.memory_slices:
            return f"it needs {memory} of {self.memory_slices} memory slices"
        return None


def layout_name(layout: Mapping[str, int]) -> str:
    """Return the name of a layout that is composed by hand: ``4x1g.5gb-1x3g.20gb``. It is a label's value, too."""
    return "-".join(f"{count}x{name.replace('+', '.')}" for name, count in sorted(layout.items()))


def _seven(gigabytes: tuple[int, int, int, int], *devices: str) -> MigGpu:
    """Return a GPU with seven compute slices and eight of memory; ``gigabytes`` of one, two, four and eight of them."""
    one, two, four, eight = gigabytes
    profiles = (
        Profile(f"1g.{one}gb", 1, 1),
        Profile(f"1g.{one}gb{_MEDIA}", 1, 1),
        Profile(f"1g.{two}gb", 1, 2),
        Profile(f"2g.{two}gb", 2, 2),
        Profile(f"3g.{four}gb", 3, 4),
        Profile(f"4g.{four}gb", 4, 4),
        Profile(f"7g.{eight}gb", 7, 8),
    )
    balanced = {f"1g.{one}gb": 2, f"2g.{two}gb": 1, f"3g.{four}gb": 1}
    return MigGpu(7, 8, profiles, MappingProxyType(balanced), devices)


_A100_80 = ("0x20B210DE", "0x20B510DE", "0x20F310DE", "0x20F510DE")
_H100_80 = ("0x233010DE", "0x233110DE", "0x232210DE", "0x232410DE")

MODELS: Mapping[tuple[str, int], MigGpu] = MappingProxyType(
    {
        ("a100", 40960): _seven((5, 10, 20, 40), "0x20B010DE", "0x20B110DE", "0x20F110DE", "0x20F610DE"),
        ("a100", 81920): _seven((10, 20, 40, 80), *_A100_80),
        ("h100", 81920): _seven((10, 20, 40, 80), *_H100_80),
        ("h200", 144384): _seven((18, 35, 71, 141), "0x233510DE", "0x233B10DE"),
        ("b200", 183359): _seven((23, 45, 90, 180), "0x290110DE"),
        ("b300", 275040): _seven((34, 67, 135, 269), "0x318210DE"),
        ("rtx-pro-server-6000", 98304): MigGpu(
            4,
            4,
            (
                Profile("1g.24gb", 1, 1),
                Profile("2g.48gb", 2, 2),
                Profile("4g.96gb", 4, 4),
            ),
            MappingProxyType({"1g.24gb": 2, "2g.48gb": 1}),
            ("0x2BB510DE",),
        ),
        ("rtx-pro-4500", 32768): MigGpu(
            2,
            2,
            (Profile("1g.16gb", 1, 1), Profile("2g.32gb", 2, 2)),
            MappingProxyType({}),
            (),
        ),
    }
)
"""GPU model (name and MiB, as the catalogue has them) to how it can be partitioned."""


MORE_LAYOUTS: Mapping[tuple[str, int], frozenset[str]] = MappingProxyType(
    {
        ("rtx-pro-server-6000", 98304): frozenset(
            {
                "all-1g.24gb.gfx",
                "all-1g.24gb.me.all",
                "all-1g.24gb-me",
                "all-2g.48gb.gfx",
                "all-2g.48gb.me.all",
                "all-2g.48gb-me",
                "all-4g.96gb.gfx",
            }
        )
    }
)
"""Layouts that mig-parted names for a model besides those of its profiles: with graphics, all media engines or none."""

PROFILE_IDS: Mapping[int, int] = MappingProxyType({19: 0, 20: 1, 15: 2, 14: 3, 9: 4, 5: 5, 0: 6})
"""What ``nvidia-smi mig -cgi`` takes for a profile, as the place among the profiles of a GPU with seven slices."""


def config_file(layouts: Mapping[str, tuple[tuple[str, int], ...]]) -> dict[str, object]:
    """Return the MIG manager's configuration with these layouts, each for the GPU models that have it.

    One name can mean different partitions on different models (``all-1g.10gb`` is four of an A100 with 40 GB, seven
    of one with 80 GB); then each is bound to the model's PCI ids. ``all-disabled`` is always there, because the manager
    falls back to it.
    """
    configs: dict[str, object] = {ALL_DISABLED: [{"devices": "all", "mig-enabled": False}]}
    for name, models in sorted(layouts.items()):
        if name != ALL_DISABLED:
            configs[name] = list(_entries(name, models))
    return {"version": "v1", "mig-configs": configs}


def _entries(name: str, models: tuple[tuple[str, int], ...]) -> Iterator[dict[str, object]]:
    gpus = [MODELS[model] for model in sorted(set(models))]
    meanings = [dict(gpu.layout(name) or {}) for gpu in gpus]
    one = all(meaning == meanings[0] for meaning in meanings)
    for gpu, meaning in list(zip(gpus, meanings, strict=True))[: 1 if one else None]:
        bound = {} if one else {"device-filter": list(gpu.devices)}
        yield {**bound, "devices": "all", "mig-enabled": True, "mig-devices": meaning}
