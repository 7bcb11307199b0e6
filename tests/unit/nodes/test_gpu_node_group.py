from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import xid
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs, update_config
from eks_gpu.recording import Recording, record
from eks_gpu.settings.gpu_pool import LONGEST_NAME, Capacity, Purpose
from eks_gpu.settings.node_group import NodeGroup, NodeRepair
from eks_gpu.settings.node_image import Family, NodeImage
from eks_gpu.settings.reservation import Reservation
from tests.support.clusters import SUBNETS, cluster

GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
G5 = NodeGroup(instance_types=("g5.2xlarge",), count=2)
P4D = NodeGroup(instance_types=("p4d.24xlarge",), count=2, zones=("us-east-1b",), efa=True, purpose=Purpose.TRAINING)
BLOCK = NodeGroup(
    instance_types=("p5.48xlarge",),
    count=2,
    zones=("us-east-1a",),
    capacity=Capacity.RESERVED,
    reservation=Reservation(capacity_block_id="cr-0b", zone="us-east-1a", instance_type="p5.48xlarge", count=4),
)
ODCR = BLOCK.model_copy(update={"reservation": Reservation(on_demand_id="cr-0a")})


def _record(
    settings: NodeGroup,
    *,
    name: str = "inference",
    outputs: bool = False,
    version: str = "1.35",
    given: Mapping[str, str] = MappingProxyType({}),
) -> Recording:
    def program() -> None:
        add_ons = k8s.core.v1.ConfigMap("add-ons")
        connection = cluster(outputs=outputs, version=version, ready=(add_ons,))
        tags = {"owner": "ml-platform"}
        ids = {key: pulumi.Output.from_input(value) if outputs else value for key, value in given.items()}
        GpuNodeGroup(name, GpuNodeGroupArgs(settings=settings, cluster=connection, tags=tags, **ids))

    return record(program)


def _group(settings: NodeGroup, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - those of _record
    return dict(_record(settings, **arguments).one(GROUP).inputs)


@pytest.mark.parametrize("outputs", [False, True])
def test_a_group_is_the_same_with_plain_and_with_output_identities(outputs: bool) -> None:
    group = _group(G5, outputs=outputs)

    assert group["clusterName"] == "prod"
    assert group["subnetIds"] == list(SUBNETS.values())


def test_n01_disk_comes_from_the_launch_template_alone() -> None:
    recording = _record(G5)
    group, template = recording.one(GROUP), recording.one(TEMPLATE)

    assert "diskSize" not in group.inputs
    assert template.urn in group.property_dependencies["launchTemplate"]
    assert template["blockDeviceMappings"][0]["deviceName"] == "/dev/xvda"


def test_n04_nodes_carry_the_labels_of_every_gpu_pool() -> None:
    assert _group(G5)["labels"] == {
        "accelerator": "nvidia",
        "nvidia.com/gpu.present": "true",
        "gpu-type": "a10g",
        "workload": "inference",
    }


def test_n05_nodes_repel_pods_that_asked_for_no_gpu() -> None:
    assert _group(G5)["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]


@pytest.mark.parametrize(
    ("instance_type", "ami_type"), [("g5.2xlarge", "AL2023_x86_64_NVIDIA"), ("g5g.xlarge", "AL2023_ARM_64_NVIDIA")]
)
def test_n07_the_image_drives_the_gpu_and_is_pinned(instance_type: str, ami_type: str) -> None:
    group = _group(NodeGroup(instance_types=(instance_type,), count=1))

    assert (group["amiType"], group["releaseVersion"], group["version"]) == (ami_type, "1.35.6-20260724", "1.35")


@pytest.mark.parametrize("count", [2, 3, 50])
def test_n07_an_update_takes_one_node_at_a_time(count: int) -> None:
    assert update_config(count) == {"max_unavailable": 1}


def test_n07_an_update_of_a_single_node_is_not_declared_as_the_whole_group() -> None:
    assert update_config(1) == {"max_unavailable_percentage": 50}


def test_the_size_is_fixed() -> None:
    assert _group(G5)["scalingConfig"] == {"minSize": 2, "maxSize": 2, "desiredSize": 2}


@pytest.mark.parametrize(("capacity", "expected"), [(Capacity.ON_DEMAND, "ON_DEMAND"), (Capacity.SPOT, "SPOT")])
def test_n09_capacity_is_that_of_the_settings(capacity: Capacity, expected: str) -> None:
    assert _group(G5.model_copy(update={"capacity": capacity}))["capacityType"] == expected


@pytest.mark.parametrize(
    ("instance_type", "ami_type"),
    [("g5.2xlarge", "BOTTLEROCKET_x86_64_NVIDIA"), ("g5g.xlarge", "BOTTLEROCKET_ARM_64_NVIDIA")],
)
def test_n07_bottlerocket_is_pinned_by_version_and_commit(instance_type: str, ami_type: str) -> None:
    settings = NodeGroup(instance_types=(instance_type,), count=1, image=NodeImage(family=Family.BOTTLEROCKET))

    group = _group(settings)

    assert (group["amiType"], group["releaseVersion"], group["version"]) == (ami_type, "1.65.0-0be31b34", "1.35")


def test_n07_a_group_may_try_a_release_of_the_clusters_version_and_of_no_other() -> None:
    settings = G5.model_copy(update={"image": NodeImage(release="1.35.7-20260903")})

    assert _group(settings)["releaseVersion"] == "1.35.7-20260903"
    with pytest.raises(pulumi.InputPropertiesError, match=r"settings\.image\.release: .* the cluster runs 1\.34"):
        _record(settings, version="1.34")


def test_n07_unhealthy_nodes_are_repaired_one_at_a_time() -> None:
    repair = _group(G5)["nodeRepairConfig"]

    assert (repair["enabled"], repair["maxParallelNodesRepairedCount"]) == (True, 1)


def test_n07_repair_knows_every_fatal_xid_and_replaces_what_a_reset_does_not_mend() -> None:
    overrides = {
        each["nodeUnhealthyReason"]: each for each in _group(G5)["nodeRepairConfig"]["nodeRepairConfigOverrides"]
    }

    fatal = {f"NvidiaXID{each.id}Error" for each in xid.table().values() if each.eks_node_repair}
    assert fatal <= set(overrides)
    assert {each["nodeMonitoringCondition"] for each in overrides.values()} == {"AcceleratedHardwareReady"}
    assert {each["minRepairWaitTimeMins"] for each in overrides.values()} == {10}
    actions = {reason: each["repairAction"] for reason, each in overrides.items()}
    assert {actions[f"NvidiaXID{number}Error"] for number in (64, 74, 79, 142)} == {"Replace"}
    assert {actions[f"NvidiaXID{number}Error"] for number in (48, 63, 95, 119)} == {"Reboot"}


def test_repair_waits_as_long_as_it_is_told_or_is_off() -> None:
    patient = _group(G5.model_copy(update={"node_repair": NodeRepair(wait_minutes=60, max_parallel_nodes=2)}))
    off = _group(G5.model_copy(update={"node_repair": NodeRepair(enabled=False)}))

    waits = {each["minRepairWaitTimeMins"] for each in patient["nodeRepairConfig"]["nodeRepairConfigOverrides"]}
    assert (waits, patient["nodeRepairConfig"]["maxParallelNodesRepairedCount"]) == ({60}, 2)
    assert off["nodeRepairConfig"] == {"enabled": False}


def test_n11_a_group_in_a_capacity_block_is_of_that_type_zone_and_market() -> None:
    recording = _record(BLOCK)
    group, template = recording.one(GROUP), recording.one(TEMPLATE)

    assert (group["capacityType"], group["subnetIds"]) == ("CAPACITY_BLOCK", [SUBNETS["us-east-1a"]])
    assert "instanceTypes" not in group.inputs
    assert template["instanceType"] == "p5.48xlarge"
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0b"}


def test_n11_a_group_in_an_on_demand_reservation_names_it_and_pays_on_demand() -> None:
    recording = _record(ODCR)
    group, template = recording.one(GROUP), recording.one(TEMPLATE)

    assert (group["capacityType"], group["instanceTypes"]) == ("ON_DEMAND", ["p5.48xlarge"])
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0a"}
    assert "instanceMarketOptions" not in template.inputs


@pytest.mark.parametrize("settings", [BLOCK, ODCR])
def test_n11_a_reservation_has_no_room_for_two_so_the_old_goes_first(settings: NodeGroup) -> None:
    reserved, other = _record(settings).one(GROUP), _record(G5).one(GROUP)

    assert reserved.options.delete_before_replace is True
    assert reserved["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}
    assert not other.options.delete_before_replace
    assert other["updateConfig"] == {"maxUnavailable": 1}


@pytest.mark.parametrize("argument", ["capacity_block_id", "on_demand_reservation_id"])
def test_n11_a_program_may_make_the_reservation_itself(argument: str) -> None:
    settings = BLOCK.model_copy(update={"reservation": Reservation()})

    recording = _record(settings, outputs=True, given={argument: "cr-0own"})

    target = recording.one(TEMPLATE)["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0own"}
    block = argument == "capacity_block_id"
    assert recording.one(GROUP)["capacityType"] == ("CAPACITY_BLOCK" if block else "ON_DEMAND")


@pytest.mark.parametrize(
    ("settings", "given", "property_"),
    [
        (BLOCK.model_copy(update={"reservation": Reservation()}), {}, "capacity_block_id"),
        (G5, {"capacity_block_id": "cr-0b"}, "capacity_block_id"),
        (BLOCK, {"on_demand_reservation_id": "cr-0a"}, "on_demand_reservation_id"),
        (BLOCK, {"placement_group_name": "close"}, "placement_group_name"),
    ],
)
def test_n11_arguments_that_no_reservation_fits_are_refused(
    settings: NodeGroup, given: dict[str, str], property_: str
) -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=rf"\n  {property_}: is "):
        _record(settings, given=given)


@pytest.mark.parametrize("outputs", [False, True])
def test_g09_adapters_have_a_group_that_lets_all_traffic_through_to_itself(outputs: bool) -> None:
    recording = _record(P4D, outputs=outputs)
    group = recording.one(SECURITY_GROUP)
    rules = [
        recording.one("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"),
        recording.one("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"),
    ]

    for rule in rules:
        assert rule["ipProtocol"] == "-1"
        assert not {"cidrIpv4", "cidrIpv6", "fromPort", "toPort"} & set(rule.inputs)
        for end in ("securityGroupId", "referencedSecurityGroupId"):
            assert rule.property_dependencies[end] == {group.urn}
    assert all(recording.reaches(recording.one(GROUP), rule) for rule in rules)


def test_g09_nodes_with_adapters_stay_in_the_clusters_own_security_group() -> None:
    interfaces = _record(P4D).one(TEMPLATE)["networkInterfaces"]

    assert len(interfaces) == 1 + 4
    assert {each["securityGroups"][0] for each in interfaces} == {"sg-0cluster"}
    assert {len(each["securityGroups"]) for each in interfaces} == {2}


def test_g09_nodes_with_adapters_are_placed_close_together() -> None:
    recording = _record(P4D)

    assert recording.one(PLACEMENT)["strategy"] == "cluster"
    assert recording.one(TEMPLATE).property_dependencies["placement"] == {recording.one(PLACEMENT).urn}


def test_g09_without_adapters_there_is_neither_group() -> None:
    recording = _record(G5)

    assert not recording.of_type(SECURITY_GROUP)
    assert not recording.of_type(PLACEMENT)


def test_a_placement_group_is_the_programs_or_the_reservations_if_there_is_one() -> None:
    own = _record(P4D, outputs=True, given={"placement_group_name": "theirs"})
    inside = Reservation(on_demand_id="cr-0a", placement_group="close")
    reserved = _record(BLOCK.model_copy(update={"reservation": inside, "efa": True}))
    block = _record(BLOCK.model_copy(update={"efa": True}))

    assert not own.of_type(PLACEMENT)
    assert own.one(TEMPLATE)["placement"] == {"groupName": "theirs"}
    assert reserved.one(TEMPLATE)["placement"] == {"groupName": "close"}
    assert "placement" not in block.one(TEMPLATE).inputs


def test_zones_narrow_the_subnets() -> None:
    assert _group(G5.model_copy(update={"zones": ("us-east-1b",)}))["subnetIds"] == [SUBNETS["us-east-1b"]]


def test_tags_and_a_name_reach_the_instances() -> None:
    specifications = _record(G5).one(TEMPLATE)["tagSpecifications"]

    assert {"resourceType": "instance", "tags": {"Name": "inference", "owner": "ml-platform"}} in specifications


def test_the_role_of_the_nodes_is_their_own_and_leaves_pods_nothing() -> None:
    attached = _record(G5).of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")

    assert {attachment["policyArn"].rpartition("/")[2] for attachment in attached} == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }


def test_nodes_come_after_the_policies_of_their_role_and_a_ready_cluster() -> None:
    recording = _record(G5)
    group = recording.one(GROUP)
    needed = recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")

    assert all(recording.reaches(group, resource) for resource in (*needed, recording.named("add-ons")))


def test_a_renamed_group_is_known_by_its_old_names() -> None:
    recording = _record(G5.model_copy(update={"previously": ("gpu", "a10g")}))

    assert recording.one("eks-gpu:index:GpuNodeGroup").options.aliases == ("gpu", "a10g")


def test_names_are_left_to_the_engine_so_that_a_replacement_can_come_first() -> None:
    recording = _record(G5)

    assert "nodeGroupName" not in recording.one(GROUP).inputs
    assert "name" not in recording.one(TEMPLATE).inputs


def test_two_groups_share_nothing() -> None:
    def program() -> None:
        connection = cluster()
        for name in ("first", "second"):
            GpuNodeGroup(name, GpuNodeGroupArgs(settings=G5, cluster=connection))

    recording = record(program)
    alone = _record(G5, name="first")

    ours = {resource.urn for resource in recording.resources if "first" in resource.name}
    assert ours == {resource.urn for resource in alone.resources if "first" in resource.name}


def test_a_version_without_a_pinned_bottlerocket_image_is_refused() -> None:
    settings = G5.model_copy(update={"image": NodeImage(family=Family.BOTTLEROCKET)})

    with pytest.raises(pulumi.InputPropertiesError, match=r"'1\.29' has no pinned Bottlerocket image"):
        _record(settings, version="1.29")


def test_a_version_without_a_pinned_image_is_refused() -> None:
    with pytest.raises(pulumi.InputPropertiesError) as refusal:
        _record(G5, version="1.29")

    assert str(refusal.value) == (
        "inference has 1 bad argument:\n"
        "  cluster.version: '1.29' has no pinned AL2023 image; versions with one are 1.33, 1.34, 1.35, 1.36"
    )


def test_a_cluster_without_zones_is_refused() -> None:
    def program() -> None:
        GpuNodeGroup("inference", GpuNodeGroupArgs(settings=G5, cluster=cluster(subnets={"rack-1": "subnet-0"})))

    with pytest.raises(pulumi.InputPropertiesError, match="'rack-1' is no availability zone"):
        record(program)


def test_training_on_spot_that_cannot_resume_never_reaches_a_component() -> None:
    with pytest.raises(ValueError, match="capacity spot with purpose training loses the work"):
        NodeGroup(instance_types=("p4d.24xlarge",), count=1, capacity=Capacity.SPOT, purpose=Purpose.TRAINING)


def test_the_longest_name_makes_names_that_aws_takes_and_a_longer_one_is_refused() -> None:
    suffix = len("-0123456")

    recording = _record(G5, name="g" * LONGEST_NAME)
    assert len(recording.one(GROUP).name) + suffix <= 63
    assert len(recording.one("aws:iam/role:Role").name) + suffix <= 64
    with pytest.raises(pulumi.InputPropertiesError, match="use up to 40 lowercase letters"):
        _record(G5, name="g" * (LONGEST_NAME + 1))
