from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instance_labels import DESCRIBED, instance_labels
from eks_gpu.facts.instances import CATALOGUE
from sandbox.errors import SandboxError
from sandbox.kubernetes import instance_types
from sandbox.kubernetes.instance_types import ON_DEMAND, RESERVED, SPOT, Market, Reservation, Shortage

ZONES = ("us-east-1a", "us-east-1b")
MARKET = Market(zones=ZONES)


def entry(name: str, market: Market = MARKET) -> dict[str, Any]:
    return {entry["name"]: entry for entry in instance_types.document(market)}[name]


def offers(entry: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for offering in entry["offerings"]:
        values = {each["key"]: each.get("values", [None])[0] for each in offering["Requirements"]}
        found[values[labels.CAPACITY_TYPE], values[labels.ZONE]] = offering
    return found


def absent(offering: dict[str, Any]) -> set[str]:
    return {each["key"] for each in offering["Requirements"] if each["operator"] == "DoesNotExist"}


def test_every_type_with_a_price_is_offered_in_every_zone_and_spot_is_cheaper() -> None:
    for name, instance in CATALOGUE.items():
        if instance.usd_per_hour is None:
            continue
        found = offers(entry(name))
        assert set(found) == {(capacity, zone) for capacity in (ON_DEMAND, SPOT) for zone in ZONES}
        assert found[ON_DEMAND, ZONES[0]]["Price"] == pytest.approx(instance.usd_per_hour)
        assert found[SPOT, ZONES[0]]["Price"] < found[ON_DEMAND, ZONES[0]]["Price"]


def test_a_type_without_a_price_is_sold_in_reservations_only() -> None:
    name = next(name for name, instance in CATALOGUE.items() if instance.usd_per_hour is None)
    assert name not in {entry["name"] for entry in instance_types.document(MARKET)}
    block = Reservation(id="cr-1", instance_type=name, zone=ZONES[1], count=2, kind="capacity-block")
    offering = offers(entry(name, Market(zones=ZONES, reservations=(block,))))[RESERVED, ZONES[1]]
    assert offering["ReservationCapacity"] == 2
    assert {"key": labels.RESERVATION_ID, "operator": "In", "values": ["cr-1"]} in offering["Requirements"]
    assert {"key": labels.RESERVATION_TYPE, "operator": "In", "values": ["capacity-block"]} in offering["Requirements"]


def test_a_reservation_is_cheaper_than_spot_and_any_other_offering_has_none() -> None:
    reservation = Reservation(id="cr-1", instance_type="p4d.24xlarge", zone=ZONES[0], count=1)
    found = offers(entry("p4d.24xlarge", Market(zones=ZONES, reservations=(reservation,))))
    assert 0 < found[RESERVED, ZONES[0]]["Price"] < found[SPOT, ZONES[0]]["Price"]
    assert labels.RESERVATION_ID in absent(found[SPOT, ZONES[0]])


@pytest.mark.parametrize(
    ("shortage", "left"),
    [
        (Shortage(capacity_type=SPOT), {(ON_DEMAND, zone) for zone in ZONES}),
        (Shortage(zone=ZONES[0]), {(capacity, ZONES[1]) for capacity in (ON_DEMAND, SPOT)}),
        (
            Shortage(instance_type="g5.xlarge", capacity_type=ON_DEMAND, zone=ZONES[1]),
            {(ON_DEMAND, ZONES[0]), (SPOT, ZONES[0]), (SPOT, ZONES[1])},
        ),
    ],
)
def test_a_shortage_takes_away_what_it_covers(shortage: Shortage, left: set[tuple[str, str]]) -> None:
    assert set(offers(entry("g5.xlarge", Market(zones=ZONES, shortages=(shortage,))))) == left


def test_a_type_that_cannot_be_had_at_all_is_left_out() -> None:
    market = Market(shortages=(Shortage(instance_type="g5.xlarge"),))
    names = {entry["name"] for entry in instance_types.document(market)}
    assert "g5.xlarge" not in names
    assert "g5.2xlarge" in names


def test_what_the_kwok_cloud_leaves_is_what_pods_can_have() -> None:
    for name, instance in CATALOGUE.items():
        if instance.usd_per_hour is None:
            continue
        capacity = entry(name)["resources"]
        assert capacity[resources.CPU] == f"{instance.allocatable_cpu_millicores + 100}m"
        assert capacity[resources.MEMORY] == f"{instance.allocatable_memory_mib + 10}Mi"
        assert int(capacity.get(resources.GPU, 0)) == instance.gpu_count
        assert int(capacity.get(resources.EFA, 0)) == instance.efa_interfaces


def test_a_type_without_gpu_says_so_because_karpenter_would_take_silence_for_any_gpu() -> None:
    offering = entry("m7i.xlarge")["offerings"][0]
    assert {labels.INSTANCE_GPU_NAME, labels.INSTANCE_GPU_COUNT} <= absent(offering)
    assert labels.INSTANCE_GPU_NAME not in absent(entry("g5.xlarge")["offerings"][0])


def test_every_offering_says_of_each_label_that_describes_a_type_what_it_is_or_that_it_is_not() -> None:
    for entry in instance_types.document(MARKET):
        described = instance_labels(instance_types.known(entry["name"]))
        for offering in entry["offerings"]:
            said = {each["key"]: each.get("values", [None])[0] for each in offering["Requirements"]}
            assert {key: said[key] for key in DESCRIBED} == {**dict.fromkeys(DESCRIBED), **described}


def test_the_formulas_for_types_without_gpu_reproduce_the_catalogue() -> None:
    for instance in CATALOGUE.values():
        cpu = instance_types.allocatable_millicores(instance.vcpu)
        memory = instance_types.allocatable_mib(instance.memory_mib, instance.max_pods, instance.arch)
        assert (cpu, memory) == (instance.allocatable_cpu_millicores, instance.allocatable_memory_mib), instance.name


@pytest.mark.parametrize(
    ("name", "vcpu", "memory_gib", "arch", "pods"),
    [
        ("m7i.large", 2, 8, "amd64", 29),
        ("c7g.medium", 1, 2, "arm64", 8),
        ("r6i.4xlarge", 16, 128, "amd64", 234),
        ("m7i.48xlarge", 192, 768, "amd64", 737),
    ],
)
def test_size_and_architecture_of_a_type_without_gpu_follow_from_its_name(
    name: str, vcpu: int, memory_gib: int, arch: str, pods: int
) -> None:
    known = instance_types.known(name)
    assert (known.vcpu, known.memory_mib, known.arch, known.max_pods) == (vcpu, memory_gib * 1024, arch, pods)
    assert known.gpu_count == 0


@pytest.mark.parametrize("name", ["t3.medium", "m7i.huge", "m7i.metal", "m7i", "x2.xlarge"])
def test_a_type_nobody_knows_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(SandboxError, match=f"does not know how large {name} is: .*families c, m and r"):
        instance_types.known(name)


def test_the_file_holds_the_document(tmp_path: Path) -> None:
    path = tmp_path / "instance-types.json"
    instance_types.write(path, MARKET)
    assert json.loads(path.read_text()) == instance_types.document(MARKET)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_ephemeral_storage_is_the_volume_without_what_the_kubelet_keeps() -> None:
    assert instance_types.allocatable_storage(100) == f"{100 * 1024 * 9 // 10 - 1024}Mi"
