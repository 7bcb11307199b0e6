from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.nodes import kubelet
from eks_gpu.planning.allocatable import Allocatable, allocatable, default_reserved
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import KubeletReserved, NodeImage

TYPES = st.sampled_from(list(CATALOGUE.values()))
EVICTION_MIB = 100
OVERHEAD = 0.075
"""What Karpenter keeps of a virtual machine's memory besides (its chart's ``vmMemoryOverheadPercent``)."""
ARM_MIB = 64
"""What AL2023 on arm64 keeps for contiguous allocations."""


@pytest.mark.parametrize("kind", CATALOGUE.values(), ids=CATALOGUE)
def test_n03_the_catalogue_is_capacity_without_what_eks_reserves(kind: InstanceType) -> None:
    reserved = default_reserved(kind)

    capacity = (kind.memory_mib - (ARM_MIB if kind.arch == "arm64" else 0)) * (1 - OVERHEAD)
    assert kind.allocatable_cpu_millicores == kind.vcpu * 1000 - reserved.cpu_millicores
    assert kind.allocatable_memory_mib == pytest.approx(capacity - reserved.memory_mib - EVICTION_MIB, abs=2)


@given(TYPES)
def test_n03_without_reservations_of_ones_own_the_catalogue_holds(kind: InstanceType) -> None:
    assert allocatable(kind) == Allocatable(kind.allocatable_cpu_millicores, kind.allocatable_memory_mib)


@given(TYPES, st.integers(50, 2000), st.integers(255, 4096))
def test_n03_a_reservation_takes_the_place_of_that_of_eks(kind: InstanceType, cpu: int, memory: int) -> None:
    left, default = allocatable(kind, {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}), default_reserved(kind)

    assert left.cpu_millicores + cpu == kind.allocatable_cpu_millicores + default.cpu_millicores
    assert left.memory_mib + memory == kind.allocatable_memory_mib + default.memory_mib


@given(TYPES, st.integers(0, 10**6))
def test_n03_nothing_is_the_least_that_is_left(kind: InstanceType, gib: int) -> None:
    assert allocatable(kind, {"memory": f"{gib}Gi"}).memory_mib >= 0


def test_n03_less_for_kubelet_gives_seven_gib_of_a_p4d_back_to_the_job() -> None:
    image = NodeImage(kubelet_reserved=KubeletReserved(memory_mib=1024))
    group = NodeGroup(instance_types=("p4d.24xlarge",), count=1, image=image)
    (kind,) = group.types

    left = allocatable(kind, kubelet.reserved(group))

    assert left.memory_mib - kind.allocatable_memory_mib == 255 + 11 * 737 - 1024
    assert left.cpu_millicores == kind.allocatable_cpu_millicores
