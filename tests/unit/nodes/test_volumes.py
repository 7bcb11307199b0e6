from __future__ import annotations

import pytest

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.nodes.volumes import NodeVolume, node_volumes
from eks_gpu.settings.gpu_pool import RootVolume
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import Family, NodeImage


def _volumes(family: Family, **root: int) -> dict[str, NodeVolume]:
    group = NodeGroup(
        instance_types=("g5.xlarge",), count=1, image=NodeImage(family=family), root_volume=RootVolume(**root)
    )
    return {volume.device: volume for volume in node_volumes(group)}


@pytest.mark.parametrize("family", Family)
def test_n01_the_volume_that_the_settings_size_is_the_one_that_holds_images(family: Family) -> None:
    volumes = _volumes(family, size_gib=300, iops=6000, throughput_mibps=1000)

    device = NodeImage(family=family).ami_family.image_device
    assert volumes[device] == NodeVolume(device=device, size_gib=300, iops=6000, throughput_mibps=1000)


def test_n01_al2023_boots_from_it_too() -> None:
    assert set(_volumes(Family.AL2023)) == {AmiFamily.AL2023.root_device}


def test_n01_bottlerocket_boots_from_a_small_one_of_its_own() -> None:
    volumes = _volumes(Family.BOTTLEROCKET, size_gib=300)

    assert volumes["/dev/xvda"] == NodeVolume(device="/dev/xvda", size_gib=4)
    assert set(volumes) == {"/dev/xvda", "/dev/xvdb"}
