"""The EKS-optimized image of a node group: chosen as the real components choose it, with a made-up id.

Read from pulumi-eks nodejs/eks/nodes/ami.ts (2026-08-12). The real component asks SSM for the newest image of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from sandbox.providers.aws.public_parameters import image_id

AL2: Final = "AL2"
AL2023: Final = "AL2023"
BOTTLEROCKET: Final = "Bottlerocket"
_SYSTEMS: Final = (AL2, AL2023, BOTTLEROCKET)
_INSTANCE_TYPE: Final = re.compile(r"[a-z]+[0-9]+(?P<processor>[a-z])?[a-z0-9-]*\.[a-z0-9-]+")
_GRAVITON: Final = "g"


@dataclass(frozen=True, slots=True)
class ImageKind:
    """One kind of EKS-optimized image."""

    ami_type: str
    """As EKS calls it."""
    system: str
    nvidia: bool
    arm: bool
    folder: str
    """The middle of the public parameter's name; for Amazon Linux an older name of the kind, too."""


_KINDS: Final = (
    ImageKind("AL2_x86_64", AL2, nvidia=False, arm=False, folder="amazon-linux-2"),
    ImageKind("AL2_x86_64_GPU", AL2, nvidia=True, arm=False, folder="amazon-linux-2-gpu"),
    ImageKind("AL2_ARM_64", AL2, nvidia=False, arm=True, folder="amazon-linux-2-arm64"),
    ImageKind("AL2023_x86_64_STANDARD", AL2023, nvidia=False, arm=False, folder="amazon-linux-2023/x86_64/standard"),
    ImageKind("AL2023_ARM_64_STANDARD", AL2023, nvidia=False, arm=True, folder="amazon-linux-2023/arm64/standard"),
    ImageKind("AL2023_x86_64_NVIDIA", AL2023, nvidia=True, arm=False, folder="amazon-linux-2023/x86_64/nvidia"),
    ImageKind("BOTTLEROCKET_ARM_64", BOTTLEROCKET, nvidia=False, arm=True, folder="/arm64"),
    ImageKind("BOTTLEROCKET_x86_64", BOTTLEROCKET, nvidia=False, arm=False, folder="/x86_64"),
    ImageKind("BOTTLEROCKET_ARM_64_NVIDIA", BOTTLEROCKET, nvidia=True, arm=True, folder="-nvidia/arm64"),
    ImageKind("BOTTLEROCKET_x86_64_NVIDIA", BOTTLEROCKET, nvidia=True, arm=False, folder="-nvidia/x86_64"),
)
_OLDER: Final[Mapping[str, str]] = {"amazon-linux-2-arm": "AL2_ARM_64"} | {
    kind.folder: kind.ami_type for kind in _KINDS if kind.system != BOTTLEROCKET
}


def operating_system(options: Mapping[str, Any]) -> pulumi.Output[str]:
    """Return the operating system that a node group's options ask for."""
    given = pulumi.Output.all(options.get("amiType"), options.get("operatingSystem"))
    return given.apply(lambda found: system_of(*found))


def system_of(ami_type: str | None, asked: str | None) -> str:
    """Return the system of `ami_type`, else the one `asked` for, else Amazon Linux 2023; refuse a contradiction."""
    if asked is not None and asked not in _SYSTEMS:
        raise _refusal("operatingSystem", f'"{asked}" is not one of {", ".join(_SYSTEMS)}')
    if ami_type is None:
        return asked or AL2023
    system = _named(ami_type).system
    if asked not in {None, system}:
        raise _refusal("operatingSystem", f'"{asked}" contradicts amiType "{ami_type}", which is {system}')
    return system


def kind_of(system: str, *, nvidia: bool, types: Sequence[str], path: str) -> ImageKind:
    """Return the kind for instance `types`, given at `path`; refuse types of two architectures."""
    arm = _is_arm(types, path)
    for kind in _KINDS:
        if (kind.system, kind.nvidia, kind.arm) == (system, nvidia, arm):
            return kind
    made = "Arm" if arm else "x86"
    raise _refusal("gpu", f"there is no {system} image {'with' if nvidia else 'without'} NVIDIA driver for {made}")


def recommended(options: Mapping[str, Any], cluster_version: pulumi.Output[str]) -> pulumi.Output[str]:
    """Return the image id for a node group that names none."""
    one = options.get("instanceType")
    types, path = ([one], "instanceType") if one is not None else (options.get("instanceTypes") or [], "instanceTypes")
    asked = pulumi.Output.all(options.get("amiType"), operating_system(options), options.get("gpu"), types)
    kind = asked.apply(
        lambda found: (
            _named(found[0])
            if found[0] is not None
            else kind_of(found[1], nvidia=bool(found[2]), types=found[3], path=path)
        )
    )
    return pulumi.Output.all(kind, options.get("version") or cluster_version).apply(
        lambda found: image_id(parameter(found[0], found[1]))
    )


def parameter(kind: ImageKind, version: str) -> str:
    """Return the name of the public parameter that holds the image of `kind` for a Kubernetes version."""
    if kind.system == BOTTLEROCKET:
        return f"/aws/service/bottlerocket/aws-k8s-{version}{kind.folder}/latest/image_id"
    return f"/aws/service/eks/optimized-ami/{version}/{kind.folder}/recommended/image_id"


def _named(ami_type: str) -> ImageKind:
    name = _OLDER.get(ami_type, ami_type)
    for kind in _KINDS:
        if kind.ami_type == name:
            return kind
    known = ", ".join(kind.ami_type for kind in _KINDS)
    raise _refusal("amiType", f'no recommended image is known for "{ami_type}"; use one of {known}, or give amiId')


def _is_arm(types: Sequence[str], path: str) -> bool:
    found = {_processor(each, path) == _GRAVITON for each in types}
    if len(found) > 1:
        raise _refusal(path, f"{', '.join(types)} are of two architectures; one node group has one image")
    return found == {True}


def _processor(instance_type: str, path: str) -> str | None:
    match = _INSTANCE_TYPE.fullmatch(instance_type)
    if match is None:
        raise _refusal(path, f'"{instance_type}" is not an instance type')
    return match["processor"]


def _refusal(path: str, reason: str) -> pulumi.InputPropertyError:
    return pulumi.InputPropertyError(path, reason)
