"""What rules read of the groups and pools that our own components emit, with every kind of image and capacity."""

from __future__ import annotations

import pytest

from eks_gpu.cli.judge import as_resource
from eks_gpu.facts import labels
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.planning.pool import ImageChoice, ImageSource, Pool
from eks_gpu.recording import record
from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import Family, NodeImage
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.reservation import Reservation
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.node_groups import read_node_group
from eks_gpu_policies.readers.node_pools import read_node_pool
from eks_gpu_policies.resource import Resource
from tests.support.clusters import cluster
from tests.support.judging import judge, left_open, passes

BOTTLEROCKET = NodeImage(family=Family.BOTTLEROCKET)
GROUPS = {
    "al2023": NodeGroup(instance_types=("g5.2xlarge",), count=2),
    "bottlerocket": NodeGroup(instance_types=("g5.2xlarge",), count=2, image=BOTTLEROCKET),
    "adapters": NodeGroup(instance_types=("p4d.24xlarge",), count=2, zones=("us-east-1a",), efa=True),
    "block": NodeGroup(
        instance_types=("p5.48xlarge",),
        count=1,
        zones=("us-east-1a",),
        capacity=Capacity.RESERVED,
        reservation=Reservation(capacity_block_id="cr-0b"),
    ),
}
POOLS = {
    "al2023": NodePool(instance_types=("g5.2xlarge",), max_gpus=2),
    "bottlerocket": NodePool(instance_types=("g5.2xlarge",), max_gpus=2, image=BOTTLEROCKET),
}


def _group(name: str) -> tuple[Pool, tuple[Resource, ...]]:
    def program() -> None:
        GpuNodeGroup("inference", GpuNodeGroupArgs(settings=GROUPS[name], cluster=cluster(outputs=True)))

    resources = tuple(as_resource(each) for each in record(program).resources)
    read = Program(resources)
    (found,) = read.of_type(tokens.NODE_GROUP)
    return read_node_group(found, read), resources


def _pool(name: str) -> tuple[Pool, tuple[Resource, ...]]:
    def program() -> None:
        karpenter = KarpenterConnection(node_role_name="nodes")
        GpuNodePool("g5", GpuNodePoolArgs(settings=POOLS[name], cluster=cluster(outputs=True), karpenter=karpenter))

    resources = tuple(as_resource(each) for each in record(program).resources)
    read = Program(resources)
    (found,) = read.of_type(tokens.NODE_POOL)
    return read_node_pool(found, read), resources


OURS = {"requiredPoolLabels": sorted(labels.pool_labels("a10g", "inference"))}
RULES = ("NODE001", "NODE002", "NODE003", "NODE004", "NODE005", "NODE006", "NODE007", "NODE008", "NODE014", "NODE017")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", GROUPS)
def test_groups_with_every_image_and_capacity_obey_the_rules_for_nodes(name: str, rule: str) -> None:
    assert passes(judge(rule, *_group(name)[1], options=OURS))


@pytest.mark.parametrize("name", sorted(GROUPS.keys() - {"block"}))
def test_n11_groups_of_every_kind_agree_with_their_sizes(name: str) -> None:
    assert passes(judge("NODE010", *_group(name)[1]))


def test_n11_a_group_in_a_block_that_is_looked_up_is_only_left_open() -> None:
    assert left_open(judge("NODE010", *_group("block")[1])) != []


@pytest.mark.parametrize("rule", [*RULES, "NODE010"])
@pytest.mark.parametrize("name", POOLS)
def test_pools_with_every_image_obey_the_rules_for_nodes(name: str, rule: str) -> None:
    assert passes(judge(rule, *_pool(name)[1], options=OURS))


def test_n08_local_disks_that_hold_images_are_seen_in_user_data_of_both_families() -> None:
    assert _group("al2023")[0].instance_store_raid0 is True
    assert _group("bottlerocket")[0].instance_store_raid0 is True


@pytest.mark.parametrize("name", GROUPS)
def test_instance_types_are_seen_wherever_eks_wants_them(name: str) -> None:
    pool = _group(name)[0]

    assert tuple(kind.name for kind in pool.gpu_types) == GROUPS[name].instance_types


def test_n11_a_capacity_block_is_seen_as_reserved() -> None:
    assert _group("block")[0].capacity_types == frozenset({"reserved"})


def test_n07_the_pinned_bottlerocket_release_is_seen_on_groups_and_pools() -> None:
    group, pool = _group("bottlerocket")[0].image, _pool("bottlerocket")[0].image

    assert getattr(group, "choices", None) == (ImageChoice(ImageSource.RELEASE, "1.65.0-0be31b34"),)
    assert getattr(pool, "choices", None) == (ImageChoice(ImageSource.ALIAS, "bottlerocket@v1.65.0"),)
