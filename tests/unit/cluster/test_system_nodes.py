from __future__ import annotations

import pulumi
import pytest

from eks_gpu.cluster.system_nodes import SystemNodes, SystemNodesArgs, root_volume, scaling
from eks_gpu.facts import labels
from eks_gpu.recording import Recording, record
from eks_gpu.settings.system_nodes import SystemNodes as Settings
from eks_gpu.settings.system_nodes import SystemSize
from tests.support.clusters import SUBNETS, cluster

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


def _record(settings: Settings | None = None, *, outputs: bool = False, version: str = "1.35") -> Recording:
    def program() -> None:
        connection = cluster(outputs=outputs, version=version)
        args = SystemNodesArgs(settings=settings or Settings(), cluster=connection, tags={"owner": "ml"})
        SystemNodes("system-nodes", args)

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_nodes_are_in_every_zone_of_the_cluster(*, outputs: bool) -> None:
    group = _record(outputs=outputs).one(NODE_GROUP)

    assert group["clusterName"] == "prod"
    assert group["subnetIds"] == list(SUBNETS.values())


def test_n07_the_image_is_pinned_by_release_for_the_clusters_version() -> None:
    group = _record(version="1.34").one(NODE_GROUP)

    assert (group["version"], group["amiType"]) == ("1.34", "AL2023_x86_64_STANDARD")
    assert group["releaseVersion"].startswith("1.34.")


def test_graviton_types_get_the_image_of_their_architecture() -> None:
    group = _record(Settings(instance_types=("m7g.xlarge",))).one(NODE_GROUP)
    assert group["amiType"] == "AL2023_ARM_64_STANDARD"


def test_nodes_carry_no_taint_because_cpu_pods_have_nowhere_else_to_go() -> None:
    group = _record().one(NODE_GROUP)

    assert "taints" not in group.inputs
    assert group["labels"] == {labels.WORKLOAD: labels.WORKLOAD_SYSTEM}


def test_an_update_takes_one_node_at_a_time_and_sick_nodes_are_repaired() -> None:
    group = _record().one(NODE_GROUP)

    assert group["updateConfig"] == {"maxUnavailable": 1}
    assert group["nodeRepairConfig"] == {"enabled": True}


def test_the_group_stays_at_its_minimum_because_nothing_scales_it() -> None:
    assert scaling(SystemSize(min=3, max=5)) == {"min_size": 3, "max_size": 5, "desired_size": 3}


def test_the_root_volume_is_encrypted_gp3_on_the_device_of_the_image() -> None:
    volume = root_volume()
    assert volume["device_name"] == "/dev/xvda"
    assert volume["ebs"] == {
        "volume_type": "gp3",
        "volume_size": 50,
        "iops": 3000,
        "throughput": 125,
        "encrypted": "true",
        "delete_on_termination": "true",
    }


def test_instances_ask_for_a_metadata_token_and_carry_the_tags() -> None:
    template = _record().one("aws:ec2/launchTemplate:LaunchTemplate")

    assert template["metadataOptions"]["httpTokens"] == "required"
    assert template["metadataOptions"]["httpPutResponseHopLimit"] == 1
    assert {kind["resourceType"]: kind["tags"] for kind in template["tagSpecifications"]}["instance"] == {
        "Name": "system-nodes",
        "owner": "ml",
    }


def test_eks_puts_the_clusters_security_group_on_the_nodes_because_the_template_names_none() -> None:
    template = _record().one("aws:ec2/launchTemplate:LaunchTemplate")
    assert "vpcSecurityGroupIds" not in template.inputs
    assert "networkInterfaces" not in template.inputs


def test_nodes_come_after_what_the_role_may_do() -> None:
    recording = _record()
    for attachment in recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment"):
        assert recording.reaches(recording.one(NODE_GROUP), attachment)


def test_names_and_parents_are_stable() -> None:
    recording = _record()

    component = recording.one("eks-gpu:index:SystemNodes")
    assert {child.name for child in recording.children(component)} == {
        "system-nodes-node",
        "system-nodes-launch-template",
        "system-nodes-node-group",
    }


def test_a_cluster_of_a_version_without_pinned_image_is_refused() -> None:
    with pytest.raises(
        pulumi.InputPropertiesError, match=r"cluster: runs Kubernetes 1\.29, for which no node image is pinned"
    ):
        _record(version="1.29")
