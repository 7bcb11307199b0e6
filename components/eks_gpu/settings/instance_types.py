"""The instance types of a pool: a list of names, or a need that is resolved to one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field

from eks_gpu.facts import ami, instances, resources
from eks_gpu.settings.instance_need import InstanceNeed

MOST_TYPES: Final = 20
"""Instance types that a managed node group may name (EKS API reference, ``CreateNodegroup``, checked 2026-11-21)."""


def _offer_the_catalogue(schema: dict[str, Any]) -> None:
    """Make editors complete instance types. Called when a schema is made, so that loading settings stays cheap."""
    schema["items"] = {"type": "string", "enum": sorted(instances.CATALOGUE)}


def _drawn_from_the_catalogue(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what no GPU pool can be made of; the first reason is given, with what to write instead."""
    for name in names:
        _known_and_usable(name)
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{', '.join(twice)} is given more than once; name each instance type once")
    types = [instances.CATALOGUE[name] for name in names]
    _whole_gpus(types)
    _same_architecture(types)
    _same_gpu_model(types)
    return names


def _known_and_usable(name: str) -> None:
    kind = instances.CATALOGUE.get(name)
    if kind is None:
        nearest = difflib.get_close_matches(name, instances.CATALOGUE, n=1, cutoff=0.5)
        family = name.partition(".")[0]
        if family in instances.families():
            sizes = ", ".join(known.name for known in instances.families()[family])
            advice = f"{family} comes as {sizes}"
        elif nearest:
            advice = f"did you mean {nearest[0]}?"
        else:
            advice = f"families with NVIDIA GPUs are {', '.join(sorted(instances.families()))}"
        raise ValueError(f"{name} is no instance type with an NVIDIA GPU that is known here; {advice}")
    if kind.family in ami.AL2023_RELEASE_LACKS:
        raise ValueError(
            f"{name} needs a newer NVIDIA driver than the pinned image {ami.AL2023_RELEASE} has; "
            "use another family, such as g6e or g7e"
        )


def _whole_gpus(types: Iterable[instances.InstanceType]) -> None:
    names = [kind.name for kind in types if kind.gpu_count == 0]
    if names:
        raise ValueError(
            f"{', '.join(names)} has a fraction of a GPU, which EC2 counts as none, so its nodes advertise no "
            f"{resources.GPU}; use a type with whole GPUs, such as g6.xlarge, and share it"
        )


def _same_architecture(types: Iterable[instances.InstanceType]) -> None:
    by_arch = _grouped((kind.arch, kind.name) for kind in types)
    if len(by_arch) > 1:
        raise ValueError(
            f"{_listed(by_arch)} have different architectures, and one image cannot serve both; "
            "make one pool for each architecture"
        )


def _same_gpu_model(types: Iterable[instances.InstanceType]) -> None:
    by_model = _grouped((f"{kind.gpu_name} {kind.gpu_memory_mib} MiB", kind.name) for kind in types)
    if len(by_model) > 1:
        raise ValueError(
            f"{_listed(by_model)} have different GPUs, so a pod could not tell which one it gets; "
            "make one pool for each GPU model"
        )


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for group, member in pairs:
        groups.setdefault(group, []).append(member)
    return groups


def _listed(groups: dict[str, list[str]]) -> str:
    return " and ".join(f"{', '.join(members)} ({group})" for group, members in groups.items())


def _resolved(value: object) -> object:
    """Replace a need by the names of the types that meet it; a list of names stays what it is."""
    return InstanceNeed.model_validate(value).resolve() if isinstance(value, Mapping | InstanceNeed) else value


def names_in(value: object) -> tuple[str, ...]:
    """Return the names that a value of ``instance_types`` stands for, as far as it is right; nothing is refused."""
    if isinstance(value, Mapping):
        try:
            return InstanceNeed.model_validate(value).resolve()
        except ValueError:
            return ()
    names = value if isinstance(value, list | tuple) else ()
    return tuple(name for name in names if isinstance(name, str) and name in instances.CATALOGUE)


_Names = Annotated[tuple[str, ...], Field(min_length=1, max_length=MOST_TYPES, json_schema_extra=_offer_the_catalogue)]

GpuInstanceTypes = Annotated[
    tuple[str, ...],
    Field(min_length=1, max_length=MOST_TYPES),
    BeforeValidator(_resolved, json_schema_input_type=_Names | InstanceNeed),
    AfterValidator(_drawn_from_the_catalogue),
]
"""Instance types of one GPU model and one architecture: names as given, or those that meet a need, cheapest first."""
