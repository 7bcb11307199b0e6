from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs, update_config
from eks_gpu.recording import Recording, record
from eks_gpu.settings.gpu_pool import LONGEST_NAME, Capacity, Purpose
from eks_gpu.settings.node_group import NodeGroup, NodeRepair
from tests.support.clusters import SUBNETS, cluster

GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
G5 = NodeGroup(instance_types=("g5.2xlarge",), count=2)


def _record(settings: NodeGroup, *, name: str = "inference", outputs: bool = False, version: str = "1.35") -> Recording:
    def program() -> None:
        add_ons = k8s.core.v1.ConfigMap("add-ons")
        connection = cluster(outputs=outputs, version=version, ready=(add_ons,))
        GpuNodeGroup(name, GpuNodeGroupArgs(settings=settings, cluster=connection, tags={"owner": "ml-platform"}))

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


def test_repair_is_off_until_it_is_asked_for() -> None:
    assert "nodeRepairConfig" not in _group(G5)
    assert _group(G5.model_copy(update={"node_repair": NodeRepair()}))["nodeRepairConfig"] == {
        "enabled": True,
        "maxParallelNodesRepairedCount": 1,
    }


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
