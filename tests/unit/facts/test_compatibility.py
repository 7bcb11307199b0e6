"""Which versions work together."""

from __future__ import annotations

from eks_gpu.facts import compatibility as facts
from eks_gpu.facts import versions
from eks_gpu.facts.ami import AL2023_RELEASE, AL2023_RELEASE_LACKS
from eks_gpu.facts.instances import CATALOGUE


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("v").split("."))


def test_what_is_pinned_works_together() -> None:
    oldest, newest = facts.OPERATOR_ON[numbers(versions.GPU_OPERATOR.version)[:2]]
    for kubernetes in map(facts.minor, versions.KUBERNETES_VERSIONS):
        assert oldest <= kubernetes <= newest
        assert numbers(versions.KARPENTER.version) >= facts.KARPENTER_AT_LEAST[kubernetes]


def test_nothing_that_is_pinned_is_broken() -> None:
    for broken in facts.BROKEN:
        pinned = numbers(versions.CHARTS[broken.chart].version)
        assert not broken.first <= pinned <= broken.last
        assert numbers(broken.instead) > broken.last


def test_newer_kubernetes_needs_newer_software() -> None:
    assert sorted(facts.KARPENTER_AT_LEAST.values()) == list(facts.KARPENTER_AT_LEAST.values())
    assert sorted(facts.OPERATOR_ON.values()) == list(facts.OPERATOR_ON.values())


def test_families_that_need_a_newer_driver_are_those_that_the_pinned_release_lacks() -> None:
    date = int(AL2023_RELEASE.removeprefix("v"))
    branch = max(driver for since, driver in facts.AL2023_DRIVERS if date >= since)
    assert {family for family, least in facts.DRIVER_AT_LEAST.items() if least > branch} == AL2023_RELEASE_LACKS
    assert facts.DRIVER_AT_LEAST.keys() <= {kind.family for kind in CATALOGUE.values()}


def test_a_newer_cuda_needs_a_newer_driver() -> None:
    assert sorted(facts.CUDA_NEEDS_DRIVER.values()) == list(facts.CUDA_NEEDS_DRIVER.values())
