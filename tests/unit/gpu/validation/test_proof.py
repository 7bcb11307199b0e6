from __future__ import annotations

from typing import Any

import pytest

from eks_gpu.gpu.validation.proof import Proof, prove
from eks_gpu.settings.gpu_pool import Purpose
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.sharing import Mig, MigStrategy, Mps, Sharing, TimeSlicing
from eks_gpu.settings.validation import Collectives, Validation

EXCLUSIVE = Sharing()


def _group(kind: str, count: int = 2, **more: Any) -> NodeGroup:  # noqa: ANN401 - those of a group
    return NodeGroup(instance_types=(kind,), count=count, **more)


def _names(proof: Proof) -> list[str]:
    return [check.name for check in proof.checks]


def _prove(pool: NodeGroup | NodePool, validation: Validation | None = None, sharing: Sharing = EXCLUSIVE) -> Proof:
    return prove(pool, validation or Validation(), sharing)


def test_g08_every_node_of_a_group_is_proven_whole() -> None:
    proof = _prove(_group("g5.2xlarge", count=3))
    assert (proof.pods, proof.whole_nodes) == (3, True)
    assert proof.resources == (("nvidia.com/gpu", 1),)
    assert _names(proof) == ["device-count", "vector-add", "diagnostic", "host-bandwidth"]


def test_g08_several_gpus_of_a_node_must_be_able_to_talk() -> None:
    proof = _prove(_group("p4d.24xlarge", count=1))
    assert _names(proof)[-1] == "all-reduce-node"
    told = proof.checks[-1].variables
    assert (told["GPUS"], told["NODES"]) == ("8", "1")
    assert proof.resources == (("nvidia.com/gpu", 8),)


@pytest.mark.parametrize("nccl", [Collectives.NONE, Collectives.NODE, Collectives.AUTO])
def test_g08_the_huge_image_is_pulled_only_where_it_is_of_use(nccl: Collectives) -> None:
    one, several = (_prove(_group(kind), Validation(nccl=nccl)) for kind in ("g5.xlarge", "g5.12xlarge"))
    images = {
        name: [check.image.repository for check in proof.checks] for name, proof in [("one", one), ("8", several)]
    }
    assert not any("pytorch" in image for image in images["one"])
    assert any("pytorch" in image for image in images["8"]) == (nccl is not Collectives.NONE)


def test_g08_the_diagnostic_has_the_level_that_was_asked_for() -> None:
    levels = {
        level: _prove(_group("g5.xlarge"), Validation(diagnostic_level=level, timeout_minutes=60)).checks[2].variables
        for level in (1, 2, 3)
    }
    assert {level: told["TEST"] for level, told in levels.items()} == {1: "1", 2: "2", 3: "3"}


def test_g08_the_bandwidth_is_held_against_the_interface_of_the_gpu() -> None:
    # PCIe 4.0 x16 is 31.5 GB/s in one direction, 3.0 half of it.
    expected = {"g5.xlarge": "7.9", "g4dn.xlarge": "3.9", "p5.48xlarge": "15.8"}
    told = {kind: _prove(_group(kind)).checks[3].variables["PARAMETERS"] for kind in expected}
    assert told == {
        kind: f"pcie.h2d_d2h_single_pinned.min_bandwidth={least};pcie.is_allowed=true"
        for kind, least in expected.items()
    }


def test_g08_without_bandwidth_nothing_is_measured() -> None:
    assert "host-bandwidth" not in _names(_prove(_group("g5.xlarge"), Validation(bandwidth=False)))


def test_g08_of_several_types_the_one_with_the_fewest_gpus_counts() -> None:
    pool = NodeGroup(instance_types=("g5.12xlarge", "g5.2xlarge"), count=2)
    assert _prove(pool).resources == (("nvidia.com/gpu", 1),)


def test_g03_as_many_pods_as_there_are_shares_so_that_some_must_share() -> None:
    pool = _group("g5.12xlarge", count=2, sharing=Sharing(time_slicing=TimeSlicing(replicas=4)))
    proof = _prove(pool)
    assert proof.pods == 2 * 4 * 4
    assert proof.resources == (("nvidia.com/gpu", 1),)
    assert not proof.whole_nodes
    assert int(proof.checks[1].variables["SECONDS_LONG"]) > 0


@pytest.mark.parametrize(
    ("sharing", "resource"),
    [
        (Sharing(time_slicing=TimeSlicing(replicas=3, rename=True)), "nvidia.com/gpu.shared"),
        (Sharing(mps=Mps(replicas=3)), "nvidia.com/gpu"),
    ],
)
def test_g03_shares_are_asked_for_by_the_name_that_they_are_advertised_by(sharing: Sharing, resource: str) -> None:
    proof = _prove(_group("g5.xlarge", count=1), sharing=sharing)
    assert proof.resources == ((resource, 1),)
    assert proof.pods == 3


def test_g03_a_pool_that_says_so_is_not_shared_as_the_others_are() -> None:
    shared = Sharing(time_slicing=TimeSlicing(replicas=4))
    assert _prove(_group("g5.xlarge", sharing=EXCLUSIVE), sharing=shared).whole_nodes
    assert not _prove(_group("g5.xlarge"), sharing=shared).whole_nodes


def test_g03_dcgm_is_not_asked_where_a_pod_has_not_the_whole_gpu() -> None:
    assert _names(_prove(_group("g5.xlarge"), sharing=Sharing(mps=Mps(replicas=2)))) == ["device-count", "vector-add"]


@pytest.mark.parametrize(
    ("strategy", "resource"), [(MigStrategy.MIXED, "nvidia.com/mig-1g.5gb"), (MigStrategy.SINGLE, "nvidia.com/gpu")]
)
def test_g04_one_pod_asks_for_every_partition_of_a_node(strategy: MigStrategy, resource: str) -> None:
    mig = Sharing(mig=Mig(strategy=strategy, profile="all-1g.5gb"))
    proof = _prove(_group("p4d.24xlarge", count=1, sharing=mig))
    assert proof.resources == ((resource, 56),)
    assert proof.checks[0].variables == {"EXPECTED": "56", "DEVICE": "MIG"}
    assert _names(proof) == ["device-count", "vector-add"]


def _training(**more: Any) -> NodePool:  # noqa: ANN401 - those of a pool
    return NodePool(instance_types=("p4d.24xlarge",), purpose=Purpose.TRAINING, **more)


def test_g09_two_nodes_with_efa_must_be_able_to_talk() -> None:
    proof = _prove(_training(max_gpus=16, efa=True))
    assert proof.pods == 2
    assert proof.meets
    assert proof.resources == (("nvidia.com/gpu", 8), ("vpc.amazonaws.com/efa", 4))
    last = proof.checks[-1]
    # 400 Gbit/s are 50 GB/s; half of it, and far more than TCP would give.
    assert (last.name, last.variables["EXPECTED_GB_PER_SECOND"]) == ("all-reduce-nodes", "25")


def test_g09_all_nodes_of_a_group_with_efa_must_be_able_to_talk() -> None:
    zone = {"zones": ("us-east-1a",), "purpose": Purpose.TRAINING}
    proof = _prove(_group("p4d.24xlarge", count=3, efa=True, **zone))
    assert (proof.pods, proof.checks[-1].variables["NODES"]) == (3, "3")
    assert ("vpc.amazonaws.com/efa", 4) in proof.resources


@pytest.mark.parametrize(
    ("pool", "nccl"),
    [
        (_training(max_gpus=8, efa=True), Collectives.AUTO),
        (_training(max_gpus=16), Collectives.AUTO),
        (_training(max_gpus=16, efa=True), Collectives.NODE),
    ],
)
def test_g09_one_node_is_bought_where_two_are_of_no_use(pool: NodePool, nccl: Collectives) -> None:
    proof = _prove(pool, Validation(nccl=nccl))
    assert proof.pods == 1
    assert not proof.meets
    assert "all-reduce-nodes" not in _names(proof)


def test_an_image_that_an_architecture_has_not_is_not_pulled_there() -> None:
    pool = NodeGroup(instance_types=("g5g.16xlarge",), count=1)
    assert _names(_prove(pool)) == ["device-count", "vector-add", "diagnostic", "host-bandwidth"]
