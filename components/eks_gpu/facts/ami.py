"""Node images: the families, EKS's AMI types, and the release that pools are pinned to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

SOURCE = (
    "botocore 1.44.5 eks service model (amiType enum); aws/karpenter-provider-aws v1.14.1 pkg/providers/amifamily "
    "(default block devices: AL2023 /dev/xvda 20 GiB, Bottlerocket /dev/xvda 4 GiB and /dev/xvdb 20 GiB)"
)
CHECKED = "2026-11-21"


class AmiFamily(StrEnum):
    """An operating system that EKS builds node images of, in Karpenter's spelling of the family."""

    AL2023 = "AL2023"
    BOTTLEROCKET = "Bottlerocket"

    @property
    def alias(self) -> str:
        """The family in an EC2NodeClass alias: ``al2023`` in ``al2023@v20260724``."""
        return self.value.lower()

    @property
    def root_device(self) -> str:
        """The device the node boots from."""
        return "/dev/xvda"

    @property
    def brings_device_plugin(self) -> bool:
        """Whether its NVIDIA images run a device plugin of their own, which no second one may join.

        Bottlerocket's do (EKS user guide, "EKS-optimized accelerated AMIs", checked 2026-11-21).
        """
        return self is AmiFamily.BOTTLEROCKET

    @property
    def image_device(self) -> str:
        """The device that holds container images and ephemeral storage: the one to make large."""
        return "/dev/xvdb" if self is AmiFamily.BOTTLEROCKET else "/dev/xvda"


@dataclass(frozen=True, slots=True)
class AmiType:
    """One value of the EKS node group API's ``amiType``."""

    name: str
    family: AmiFamily
    arch: str
    """``amd64`` or ``arm64``, as Kubernetes labels nodes."""
    nvidia: bool
    """Whether the image brings the NVIDIA driver and container toolkit: then nobody else may install them."""


def _type(name: str) -> AmiType:
    """Read an AMI type's properties off its name, which EKS composes of them."""
    return AmiType(
        name=name,
        family=AmiFamily.BOTTLEROCKET if name.startswith("BOTTLEROCKET_") else AmiFamily.AL2023,
        arch="arm64" if "_ARM_64" in name else "amd64",
        nvidia="_NVIDIA" in name,
    )


AMI_TYPES: Mapping[str, AmiType] = MappingProxyType(
    {
        name: _type(name)
        for name in (
            "AL2023_x86_64_STANDARD",
            "AL2023_ARM_64_STANDARD",
            "AL2023_x86_64_NVIDIA",
            "AL2023_ARM_64_NVIDIA",
            "BOTTLEROCKET_x86_64",
            "BOTTLEROCKET_ARM_64",
            "BOTTLEROCKET_x86_64_NVIDIA",
            "BOTTLEROCKET_ARM_64_NVIDIA",
            "BOTTLEROCKET_x86_64_FIPS",
            "BOTTLEROCKET_ARM_64_FIPS",
            "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
            "BOTTLEROCKET_ARM_64_NVIDIA_FIPS",
        )
    }
)
"""AMI type name to what it is. Amazon Linux 2, Windows, Neuron and CUSTOM are left out: no GPU pool can use them."""

AL2023_RELEASE = "v20260724"
"""The pinned release of the AL2023 images, as a Karpenter alias takes it: ``al2023@v20260724``.

Source: awslabs/amazon-eks-ami tag v20260724 (2026-07-23): NVIDIA driver branch 580, kernel 6.12 for Kubernetes 1.33
to 1.35 and 6.18 for 1.36. v20261003 exists; its kernel 6.12.110 may panic (amazon-eks-ami issue 2845).
"""

AL2023_RELEASE_VERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "1.33": "1.33.13-20260724",
        "1.34": "1.34.9-20260724",
        "1.35": "1.35.6-20260724",
        "1.36": "1.36.2-20260724",
    }
)
"""The same release as the EKS node group API takes it, by Kubernetes version.

1.35.6-20260724 and 1.36.2-20260724 are reported from live accounts (public notes, July 2026). For 1.33 and 1.34 the
patch number is that of v20260714 (amazon-eks-ami CHANGELOG.md) and was not read for v20260724 itself.
"""

BOTTLEROCKET_RELEASE = "v1.65.0"
"""The pinned release of the Bottlerocket images, as a Karpenter alias takes it: ``bottlerocket@v1.65.0``.

Its NVIDIA variants have driver branch 580 (all since v1.53.0, bottlerocket pull request 4737) and bind instance storage
to every default place (since v1.46.0). Read from public notes, July to September 2026; not from the image itself.
"""

_BOTTLEROCKET_RELEASE_VERSION = f"{BOTTLEROCKET_RELEASE.removeprefix('v')}-0be31b34"

BOTTLEROCKET_RELEASE_VERSIONS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("1.33", "1.34", "1.35", "1.36"), _BOTTLEROCKET_RELEASE_VERSION)
)
"""The same release as the EKS node group API takes it: version and commit, whatever the Kubernetes version.

Source: entigolabs/entigo-infralib pull request 1488 (2026-09), which pins node groups to 1.65.0-0be31b34. The NVIDIA
variants for 1.34 to 1.36 are named in the notes of v1.66.0; that for 1.33 is in those of v1.60.0.
"""

AL2023_RELEASE_LACKS: frozenset[str] = frozenset({"g7"})
"""Instance families whose GPUs the pinned release cannot drive: g7 needs driver 595, which the images have from
v20260917 on (awslabs/amazon-eks-ami issue 2768, checked 2026-11-21)."""


BOTTLEROCKET_OS_VOLUME_GIB = 4
"""Size of the volume that Bottlerocket boots from; images and pods are on the other one. Karpenter's default."""


def ami_type(family: AmiFamily, arch: str, *, nvidia: bool) -> AmiType:
    """Return the plain (not FIPS) AMI type of a family for an architecture, with or without NVIDIA's driver."""
    for candidate in AMI_TYPES.values():
        if (candidate.family, candidate.arch, candidate.nvidia) == (family, arch, nvidia):
            return candidate
    msg = f"no AMI type for {family.value} on {arch}; architectures are amd64 and arm64"
    raise ValueError(msg)


def alias(family: AmiFamily, release: str) -> str:
    """Return the EC2NodeClass alias that pins a family to a release: ``al2023@v20260724``."""
    return f"{family.alias}@{release}"


def release(family: AmiFamily) -> str:
    """Return the pinned release of a family, as a Karpenter alias takes it: ``v20260724``."""
    return BOTTLEROCKET_RELEASE if family is AmiFamily.BOTTLEROCKET else AL2023_RELEASE


def release_versions(family: AmiFamily) -> Mapping[str, str]:
    """Return the same release as the EKS node group API takes it, by Kubernetes version."""
    return BOTTLEROCKET_RELEASE_VERSIONS if family is AmiFamily.BOTTLEROCKET else AL2023_RELEASE_VERSIONS


@dataclass(frozen=True, slots=True)
class ForeignFamily:
    """A family that we do not build pools on, but that other people's programs use.

    Its images do not demand IMDSv2 by themselves, as those of ours do where a launch template says nothing.
    """

    name: str
    root_device: str
    image_device: str


AL2 = ForeignFamily("AL2", "/dev/xvda", "/dev/xvda")
"""Amazon Linux 2: EKS published its last image in November 2025."""

UBUNTU = ForeignFamily("Ubuntu", "/dev/sda1", "/dev/sda1")
"""Canonical's EKS images."""

FOREIGN_FAMILIES: Mapping[str, ForeignFamily] = MappingProxyType({family.name: family for family in (AL2, UBUNTU)})

ROOT_DEVICES: frozenset[str] = frozenset(
    {family.root_device for family in AmiFamily} | {family.root_device for family in FOREIGN_FAMILIES.values()}
)
"""Every device that some family boots from. On the wrong family it is a second, empty disk."""
