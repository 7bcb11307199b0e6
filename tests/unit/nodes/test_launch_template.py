from __future__ import annotations

import base64

import pytest

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.nodes import user_data
from eks_gpu.nodes.launch_template import launch_template_inputs
from eks_gpu.settings.gpu_pool import RootVolume
from eks_gpu.settings.node_group import NodeGroup

GROUP = NodeGroup(instance_types=("g5.2xlarge",), count=2)
EBS = {
    "volume_type": "gp3",
    "volume_size": 100,
    "iops": 3000,
    "throughput": 500,
    "encrypted": "true",
    "delete_on_termination": "true",
}


@pytest.mark.parametrize(("family", "device"), [(AmiFamily.AL2023, "/dev/xvda"), (AmiFamily.BOTTLEROCKET, "/dev/xvdb")])
def test_n01_image_volume_is_100_gib_encrypted_gp3_on_the_device_of_the_family(family: AmiFamily, device: str) -> None:
    (mapping,) = launch_template_inputs(GROUP, family, {})["block_device_mappings"]

    assert mapping == {"device_name": device, "ebs": EBS}


def test_root_volume_settings_reach_the_volume() -> None:
    volume = RootVolume(size_gib=300, throughput_mibps=1000, iops=6000)
    group = GROUP.model_copy(update={"root_volume": volume})

    (mapping,) = launch_template_inputs(group, AmiFamily.AL2023, {})["block_device_mappings"]

    expected = {"volume_size": 300, "throughput": 1000, "iops": 6000}
    assert mapping == {**mapping, "ebs": {**EBS, **expected}}


def test_sec001_metadata_needs_a_token_and_is_out_of_reach_of_pods() -> None:
    options = launch_template_inputs(GROUP, AmiFamily.AL2023, {})["metadata_options"]

    assert (options["http_tokens"], options["http_put_response_hop_limit"]) == ("required", 1)


def test_tags_reach_instances_volumes_and_interfaces() -> None:
    specifications = launch_template_inputs(GROUP, AmiFamily.AL2023, {"owner": "ml"})["tag_specifications"]

    assert {entry["resource_type"]: entry["tags"] for entry in specifications} == {
        "instance": {"owner": "ml"},
        "volume": {"owner": "ml"},
        "network-interface": {"owner": "ml"},
    }


def test_user_data_is_that_of_the_pool() -> None:
    inputs = launch_template_inputs(GROUP, AmiFamily.AL2023, {})

    assert base64.b64decode(inputs["user_data"]).decode() == user_data.render(GROUP)


def test_n07_user_data_upgrades_nothing() -> None:
    words = user_data.render(GROUP).split()

    assert not {"dnf", "yum", "upgrade", "update", "nvidia-smi"} & set(words)
