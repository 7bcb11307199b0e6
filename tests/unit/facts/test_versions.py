from __future__ import annotations

import re
from datetime import date

import pytest

from eks_gpu.facts import ami, images, versions
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.versions import ADD_ONS, CHARTS, KUBERNETES_VERSIONS, AddOn, Chart

EXACT_CHART = re.compile(r"v?\d+\.\d+\.\d+")
EXACT_ADD_ON = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+")
EVERY_ADD_ON = [add_on for by_version in ADD_ONS.values() for add_on in by_version.values()]
EVERY_IMAGE = [value for value in vars(images).values() if isinstance(value, images.Image)]


@pytest.mark.parametrize("chart", CHARTS.values(), ids=lambda chart: chart.name)
def test_g07_a_chart_has_an_exact_version_a_source_and_a_date(chart: Chart) -> None:
    assert EXACT_CHART.fullmatch(chart.version)
    assert chart.version.removeprefix("v") in chart.source
    assert date.fromisoformat(chart.checked) <= date(2026, 11, 21)
    assert chart.repository.startswith(("https://", "oci://"))


@pytest.mark.parametrize("add_on", EVERY_ADD_ON, ids=lambda add_on: f"{add_on.name}-{add_on.kubernetes}")
def test_g07_an_add_on_has_an_exact_version_a_source_and_a_date(add_on: AddOn) -> None:
    assert EXACT_ADD_ON.fullmatch(add_on.version)
    assert add_on.source
    assert date.fromisoformat(add_on.checked) <= date(2026, 11, 21)


@pytest.mark.parametrize("image", EVERY_IMAGE, ids=lambda image: image.reference)
def test_w10_an_image_has_a_tag_that_does_not_float(image: images.Image) -> None:
    assert re.search(r"\d+\.\d+", image.tag)
    assert image.tag not in {"latest", "main", "nightly"}
    assert image.reference == f"{image.repository}:{image.tag}"
    assert image.source


def test_g07_every_add_on_has_a_version_for_every_kubernetes_version() -> None:
    for name, by_version in ADD_ONS.items():
        assert tuple(by_version) == KUBERNETES_VERSIONS, name
        assert all(add_on.name == name and add_on.kubernetes == key for key, add_on in by_version.items())


def test_g07_both_families_have_a_release_for_every_kubernetes_version() -> None:
    for releases in (ami.AL2023_RELEASE_VERSIONS, ami.BOTTLEROCKET_RELEASE_VERSIONS):
        assert tuple(releases) == KUBERNETES_VERSIONS


def test_kube_proxy_follows_kubernetes() -> None:
    for kubernetes, add_on in versions.KUBE_PROXY.items():
        assert add_on.version.startswith(f"v{kubernetes}.")


def test_kubernetes_versions_are_in_order() -> None:
    assert sorted(KUBERNETES_VERSIONS, key=lambda version: tuple(map(int, version.split(".")))) == list(
        KUBERNETES_VERSIONS
    )


def test_karpenter_and_its_crds_have_one_version() -> None:
    assert versions.KARPENTER.version == versions.KARPENTER_CRD.version
    assert versions.KARPENTER_CRD.reference == "oci://public.ecr.aws/karpenter/karpenter-crd"
    assert versions.GPU_OPERATOR.reference == "gpu-operator"


@pytest.mark.parametrize(
    ("family", "root", "image"),
    [(AmiFamily.AL2023, "/dev/xvda", "/dev/xvda"), (AmiFamily.BOTTLEROCKET, "/dev/xvda", "/dev/xvdb")],
)
def test_n01_images_lie_on_the_familys_own_device(family: AmiFamily, root: str, image: str) -> None:
    assert (family.root_device, family.image_device) == (root, image)


def test_every_family_has_a_type_for_every_architecture_with_and_without_driver() -> None:
    for family in AmiFamily:
        for arch in ("amd64", "arm64"):
            for nvidia in (True, False):
                found = ami.ami_type(family, arch, nvidia=nvidia)
                assert (found.family, found.arch, found.nvidia) == (family, arch, nvidia)
                assert not found.name.endswith("FIPS")


def test_no_family_has_a_type_for_an_unknown_architecture() -> None:
    with pytest.raises(ValueError, match=r"no AMI type for AL2023 on riscv64; architectures are amd64 and arm64"):
        ami.ami_type(AmiFamily.AL2023, "riscv64", nvidia=True)


def test_ami_types_are_spelled_as_eks_spells_them() -> None:
    assert ami.AMI_TYPES["AL2023_x86_64_NVIDIA"].nvidia
    assert ami.AMI_TYPES["BOTTLEROCKET_ARM_64"].arch == "arm64"
    assert ami.AMI_TYPES["BOTTLEROCKET_ARM_64"].family is AmiFamily.BOTTLEROCKET
    assert not ami.AMI_TYPES["AL2023_ARM_64_STANDARD"].nvidia
    assert all(name == ami_type.name for name, ami_type in ami.AMI_TYPES.items())


def test_n07_one_release_is_pinned_for_pools_and_groups() -> None:
    assert ami.alias(AmiFamily.AL2023, ami.AL2023_RELEASE) == "al2023@v20260724"
    assert tuple(ami.AL2023_RELEASE_VERSIONS) == KUBERNETES_VERSIONS
    for kubernetes, release in ami.AL2023_RELEASE_VERSIONS.items():
        patch, _, day = release.partition("-")
        assert patch.startswith(f"{kubernetes}.")
        assert f"v{day}" == ami.AL2023_RELEASE
