from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eks_gpu.facts import instances
from eks_gpu.facts.instances import CATALOGUE, InstanceType

EVERY = pytest.mark.parametrize("instance", CATALOGUE.values(), ids=lambda instance: instance.name)


@EVERY
def test_pods_can_have_less_than_the_instance_has(instance: InstanceType) -> None:
    assert 0 < instance.allocatable_cpu_millicores < instance.vcpu * 1000
    assert 0 < instance.allocatable_memory_mib < instance.memory_mib


@EVERY
def test_what_a_type_holds_is_plausible(instance: InstanceType) -> None:
    assert instance.arch in {"amd64", "arm64"}
    assert instance.gpu_memory_mib > 0
    assert 0 <= instance.gpu_count <= 8
    assert instance.max_pods >= 8
    assert instance.local_nvme_gb >= 0
    assert instance.ebs_bandwidth_mbps > 0
    assert instance.network_bandwidth_mbps > 0
    assert instance.name == f"{instance.family}.{instance.size}"


def test_only_fractional_types_have_no_whole_gpu() -> None:
    assert {i.family for i in CATALOGUE.values() if i.gpu_count == 0} == {"g6f", "gr6f"}


def test_only_the_type_sold_in_capacity_blocks_has_no_price() -> None:
    assert [i.name for i in CATALOGUE.values() if i.usd_per_hour is None] == ["p5e.48xlarge"]


def test_within_a_family_more_of_everything_never_costs_less() -> None:
    for family in instances.families().values():
        for count in {i.gpu_count for i in family}:
            same = sorted((i for i in family if i.gpu_count == count), key=lambda i: (i.vcpu, i.memory_mib))
            for smaller, larger in pairwise(same):
                assert smaller.usd_per_hour is not None
                assert larger.usd_per_hour is not None
                assert 0 < smaller.usd_per_hour <= larger.usd_per_hour, (smaller.name, larger.name)


def test_one_gpu_name_agrees_on_architecture_and_mig() -> None:
    for types in instances.by_gpu_name().values():
        assert len({i.mig_capable for i in types}) == 1
        assert len({i.arch for i in types}) == 1


def test_n04_a100_has_two_memory_sizes_that_the_model_tells_apart() -> None:
    assert {i.gpu_model for i in instances.by_gpu_name()["a100"]} == {("a100", 40960), ("a100", 81920)}


def test_g04_types_without_mig_are_not_listed_as_capable() -> None:
    without = {"t4", "t4g", "a10g", "l4", "l40s", "v100"}
    assert {CATALOGUE[name].gpu_name for name in instances.mig_capable()}.isdisjoint(without)
    assert {"p4d.24xlarge", "p5.48xlarge"} <= instances.mig_capable()


def test_g09_efa_types_are_those_with_interfaces() -> None:
    assert "p4d.24xlarge" in instances.efa_capable()
    assert "g5.xlarge" not in instances.efa_capable()
    assert CATALOGUE["p5.48xlarge"].efa_interfaces == 32


def test_groups_hold_every_type_once() -> None:
    for groups in (instances.families(), instances.by_gpu_name()):
        assert sorted(i.name for types in groups.values() for i in types) == sorted(CATALOGUE)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("g5.xlarge", {"vcpu": 4, "memory_mib": 16384, "gpu_name": "a10g", "gpu_count": 1, "usd_per_hour": 1.006}),
        ("p4d.24xlarge", {"vcpu": 96, "gpu_name": "a100", "gpu_count": 8, "efa_interfaces": 4, "local_nvme_gb": 8000}),
        ("p3.2xlarge", {"vcpu": 8, "memory_mib": 62464, "gpu_name": "v100", "gpu_memory_mib": 16384}),
        ("p3dn.24xlarge", {"gpu_name": "v100", "gpu_count": 8, "gpu_memory_mib": 32768, "usd_per_hour": 31.212}),
    ],
)
def test_a_type_holds_what_the_source_says(name: str, expected: dict[str, Any]) -> None:
    assert {key: getattr(CATALOGUE[name], key) for key in expected} == expected


def test_the_catalogue_is_a_mapping_that_nobody_can_change() -> None:
    assert "g5.xlarge" in CATALOGUE
    assert "m7i.large" not in CATALOGUE
    with pytest.raises(KeyError):
        CATALOGUE["m7i.large"]
    with pytest.raises(TypeError):
        CATALOGUE["g5.xlarge"] = CATALOGUE["g5.2xlarge"]  # type: ignore[index] # the point: it is refused
    with pytest.raises(AttributeError):
        CATALOGUE["g5.xlarge"].vcpu = 8  # type: ignore[misc] # the point: it is refused


def test_the_table_names_its_sources_and_dates() -> None:
    head = [line for line in _table().splitlines() if line.startswith("#")]
    assert any("karpenter-provider-aws" in line for line in head)
    assert any("2026-07-20" in line and "us-east-1" in line for line in head)


def test_no_type_is_listed_twice() -> None:
    names = [line.partition(",")[0] for line in _table().splitlines() if line and not line.startswith("#")][1:]
    assert len(names) == len(set(names)) == len(CATALOGUE)


def _table() -> str:
    return (Path(instances.__file__).parent / "instance_types.csv").read_text(encoding="utf-8")
