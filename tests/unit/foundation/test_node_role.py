from __future__ import annotations

import json

import pytest

from eks_gpu.foundation.node_role import NodeRole
from eks_gpu.recording import record
from tests.support.clusters import cluster


def test_nodes_may_join_and_pull_images_and_nothing_that_pods_need() -> None:
    recording = record(lambda: NodeRole("node", cluster()))

    trusted = json.loads(recording.one("aws:iam/role:Role")["assumeRolePolicy"])["Statement"][0]["Principal"]
    assert trusted == {"Service": "ec2.amazonaws.com"}
    assert {
        attachment["policyArn"] for attachment in recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    } == {
        "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    }


def test_nodes_work_for_a_cni_that_has_no_identity_of_its_own() -> None:
    recording = record(lambda: NodeRole("node", cluster().with_cni_on_node_role()))

    assert recording.named("node-AmazonEKS_CNI_Policy")["policyArn"] == "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"


@pytest.mark.parametrize(
    ("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov"), ("eu-west-1", "aws")]
)
def test_policies_are_those_of_the_regions_partition(region: str, partition: str) -> None:
    recording = record(lambda: NodeRole("node", cluster(subnets={f"{region}a": "subnet-0a"})))

    attachment = recording.named("node-AmazonEKSWorkerNodePolicy")
    assert attachment["policyArn"] == f"arn:{partition}:iam::aws:policy/AmazonEKSWorkerNodePolicy"
