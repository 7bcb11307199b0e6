"""What the name of a public node image, or of the parameter that leads to it, says about the image."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts.ami import AL2, UBUNTU, AmiFamily
from eks_gpu.planning.pool import Family

_ARCHITECTURES: Final = {"x86_64": "amd64", "amd64": "amd64", "arm64": "arm64", "aarch64": "arm64"}
_ARCH: Final = "(?P<arch>x86_64|amd64|arm64|aarch64)"
_NVIDIA: Final = "nvidia"


@dataclass(frozen=True, slots=True)
class PublicImage:
    """A node image that AWS or Canonical publishes."""

    family: Family
    arch: str | None
    """As Kubernetes labels nodes; None where the name does not say."""
    nvidia: bool | None
    """Whether it brings NVIDIA's driver; None where something else may install it."""


def _variant(match: re.Match[str]) -> bool:
    return match["variant"] == _NVIDIA


def _plus(match: re.Match[str]) -> bool:
    return match["variant"] is not None


_FORMS: Final[tuple[tuple[re.Pattern[str], Family, Callable[[re.Match[str]], bool | None]], ...]] = (
    (re.compile(rf"/amazon-linux-2023/{_ARCH}/(?P<variant>[a-z]+)/"), AmiFamily.AL2023, _variant),
    (re.compile(rf"^amazon-eks-node-al2023-{_ARCH}-(?P<variant>[a-z]+)-"), AmiFamily.AL2023, _variant),
    (re.compile(rf"/bottlerocket/aws-k8s-[\d.]+(?P<variant>-nvidia)?[^/]*/{_ARCH}/"), AmiFamily.BOTTLEROCKET, _plus),
    (
        re.compile(rf"^bottlerocket-aws-k8s-[\d.]+(?P<variant>-nvidia)?(?:-fips)?-{_ARCH}-"),
        AmiFamily.BOTTLEROCKET,
        _plus,
    ),
    (re.compile(r"/amazon-linux-2-gpu/|^amazon-eks-gpu-node-"), AL2, lambda _: True),
    (re.compile(r"/amazon-linux-2(?:-arm64)?/|^amazon-eks-(?:arm64-)?node-[\d.]+-"), AL2, lambda _: False),
    (re.compile(rf"/canonical/ubuntu/eks(?:-pro)?/.*/{_ARCH}/"), UBUNTU, lambda _: None),
    (re.compile(rf"\bubuntu-eks(?:-pro)?/.*-{_ARCH}-"), UBUNTU, lambda _: None),
    (re.compile(r"\bubuntu-eks(?:-pro)?/|/canonical/ubuntu/eks"), UBUNTU, lambda _: None),
)
"""The parameters under ``/aws/service`` and the names of the images behind them (EKS user guide, "Retrieve recommended
Amazon Linux AMI IDs" and "... Bottlerocket AMI IDs"; Canonical, "Ubuntu on EKS", checked 2026-11-21)."""


def public_image(name: str) -> PublicImage | None:
    """Return what the name or parameter of a public node image says; None for anybody else's image."""
    for form, family, nvidia in _FORMS:
        match = form.search(name)
        if match is not None:
            arch = match.groupdict().get("arch")
            return PublicImage(family, None if arch is None else _ARCHITECTURES[arch], nvidia(match))
    return None
