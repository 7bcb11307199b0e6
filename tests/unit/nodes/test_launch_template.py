from __future__ import annotations

import base64
from typing import Any

import pytest

from eks_gpu.nodes import user_data
from eks_gpu.nodes.launch_template import Identities, launch_template_inputs
from eks_gpu.settings.gpu_pool import Capacity, RootVolume
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import Family, NodeImage
from eks_gpu.settings.reservation import Reservation

GROUP = NodeGroup(instance_types=("g5.2xlarge",), count=2)
BOTTLEROCKET = GROUP.model_copy(update={"image": NodeImage(family=Family.BOTTLEROCKET)})
P4D = NodeGroup(instance_types=("p4d.24xlarge",), count=2, zones=("us-east-1a",), efa=True)
RESERVED = NodeGroup(
    instance_types=("p5.48xlarge",),
    count=2,
    zones=("us-east-1a",),
    capacity=Capacity.RESERVED,
    reservation=Reservation(),
)
EBS = {
    "volume_type": "gp3",
    "volume_size": 100,
    "iops": 3000,
    "throughput": 500,
    "encrypted": "true",
    "delete_on_termination": "true",
}


def _inputs(group: NodeGroup = GROUP, **identities: Any) -> dict[str, Any]:  # noqa: ANN401 - those of Identities
    return dict(launch_template_inputs(group, Identities(**identities)))


def test_n01_image_volume_is_100_gib_encrypted_gp3_on_the_device_of_al2023() -> None:
    assert _inputs()["block_device_mappings"] == [{"device_name": "/dev/xvda", "ebs": EBS}]


def test_n01_image_volume_is_100_gib_encrypted_gp3_on_the_device_of_bottlerocket_beside_its_own_small_one() -> None:
    system, images = _inputs(BOTTLEROCKET)["block_device_mappings"]

    assert images == {"device_name": "/dev/xvdb", "ebs": EBS}
    assert (system["device_name"], system["ebs"]["volume_size"], system["ebs"]["encrypted"]) == ("/dev/xvda", 4, "true")


@pytest.mark.parametrize("group", [GROUP, BOTTLEROCKET])
def test_root_volume_settings_reach_the_volume_that_holds_images(group: NodeGroup) -> None:
    volume = RootVolume(size_gib=300, throughput_mibps=1000, iops=6000)

    *_, images = _inputs(group.model_copy(update={"root_volume": volume}))["block_device_mappings"]

    assert images["ebs"] == {**EBS, "volume_size": 300, "throughput": 1000, "iops": 6000}


def test_sec001_metadata_needs_a_token_and_is_out_of_reach_of_pods() -> None:
    options = _inputs()["metadata_options"]

    assert (options["http_tokens"], options["http_put_response_hop_limit"]) == ("required", 1)


def test_tags_reach_instances_volumes_and_interfaces() -> None:
    specifications = _inputs(tags={"owner": "ml"})["tag_specifications"]

    assert {entry["resource_type"]: entry["tags"] for entry in specifications} == {
        "instance": {"owner": "ml"},
        "volume": {"owner": "ml"},
        "network-interface": {"owner": "ml"},
    }


@pytest.mark.parametrize("group", [GROUP, BOTTLEROCKET])
def test_user_data_is_that_of_the_pool(group: NodeGroup) -> None:
    assert base64.b64decode(_inputs(group)["user_data"]).decode() == user_data.render(group)


def test_a_group_without_wishes_leaves_network_place_and_market_to_eks() -> None:
    assert not {
        "network_interfaces",
        "placement",
        "capacity_reservation_specification",
        "instance_market_options",
        "instance_type",
    } & set(_inputs())


def test_g09_each_network_card_has_its_adapter_in_the_clusters_group_and_in_that_of_the_adapters() -> None:
    first, *adapters = _inputs(P4D, security_group_ids=["sg-cluster", "sg-efa"])["network_interfaces"]

    assert (first["network_card_index"], first["device_index"], first["interface_type"]) == (0, 0, "interface")
    assert [each["network_card_index"] for each in adapters] == [0, 1, 2, 3]
    assert {(each["device_index"], each["interface_type"]) for each in adapters} == {(1, "efa-only")}
    assert all(each["security_groups"] == ["sg-cluster", "sg-efa"] for each in (first, *adapters))


def test_g09_several_interfaces_ask_for_no_public_address_which_ec2_would_refuse() -> None:
    interfaces = _inputs(P4D, security_group_ids=["sg-cluster", "sg-efa"])["network_interfaces"]

    assert not any("associate_public_ip_address" in each or "subnet_id" in each for each in interfaces)


def test_n11_nodes_of_a_capacity_block_are_launched_into_it_and_nowhere_else() -> None:
    inputs = _inputs(RESERVED, capacity_block_id="cr-0b")

    assert inputs["instance_market_options"] == {"market_type": "capacity-block"}
    assert inputs["capacity_reservation_specification"] == {
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0b"}
    }
    assert inputs["instance_type"] == "p5.48xlarge"


def test_n11_nodes_of_an_on_demand_reservation_are_launched_into_it_and_paid_on_demand() -> None:
    inputs = _inputs(RESERVED, on_demand_reservation_id="cr-0a")

    assert inputs["capacity_reservation_specification"] == {
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0a"}
    }
    assert not {"instance_market_options", "instance_type"} & set(inputs)


def test_a_placement_group_is_named() -> None:
    assert _inputs(P4D, placement_group_name="close")["placement"] == {"group_name": "close"}
