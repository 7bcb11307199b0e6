"""EKS clusters and node groups of a run that uses the sandbox's real Kubernetes, which here only listens."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from eks_gpu.facts import taints
from sandbox.errors import SandboxError
from sandbox.kubernetes import VARIABLE, control_plane, nodes
from sandbox.kubernetes.control_plane import ControlPlane
from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet
from sandbox.providers.aws.provider import Aws
from sandbox.providers.naming import NameRequest
from sandbox.providers.stand_in import StandInError, Stored
from sandbox.providers.wire import Properties

PLANE = ControlPlane("https://127.0.0.1:20000", "Q0E=", "token", Path("kubeconfig"))
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})
GROUP = "aws:eks/nodeGroup:NodeGroup"
CLUSTER = "aws:eks/cluster:Cluster"


@dataclass
class Nodes:
    """What was asked of the nodes."""

    applied: list[NodeGroupShape] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Nodes:
    """Let this run use a Kubernetes, and write down what its nodes are told."""
    heard = Nodes()
    monkeypatch.setenv(VARIABLE, "provider")
    monkeypatch.setattr(control_plane, "in_use", lambda: PLANE)
    monkeypatch.setattr(nodes, "apply", lambda _, group: heard.applied.append(group))
    monkeypatch.setattr(nodes, "leave", lambda _, cluster, name: heard.left.append((cluster, name)))
    return heard


def make(aws: Aws, token: str, inputs: Properties) -> Stored:
    checked = aws.check(token, {}, inputs, NameRequest("name", b"seed"))
    assert checked.failures == []
    return aws.create(token, checked.inputs)


def make_group(aws: Aws, **more: object) -> tuple[Stored, Properties]:
    vpc = make(aws, "aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}).id
    subnets = [
        make(aws, "aws:ec2/subnet:Subnet", {"vpcId": vpc, "cidrBlock": f"10.0.{number}.0/24", "availabilityZone": zone})
        for number, zone in enumerate(("us-east-1a", "us-east-1b"))
    ]
    ids = [subnet.id for subnet in subnets]
    role = make(aws, "aws:iam/role:Role", {"assumeRolePolicy": TRUST}).state["arn"]
    network = {"subnetIds": ids}
    cluster = make(aws, CLUSTER, {"name": "c", "roleArn": role, "vpcConfig": network, "version": "1.35"})
    inputs = {
        "clusterName": cluster.id,
        "nodeGroupName": "g5",
        "nodeRoleArn": role,
        "subnetIds": ids,
        "instanceTypes": ["g5.xlarge"],
        "scalingConfig": {"desiredSize": 2, "minSize": 2, "maxSize": 2},
        "labels": {"a": "b"},
        "taints": [taints.GPU.eks()],
        **more,
    }
    return make(aws, GROUP, inputs), inputs


def test_a_cluster_leads_to_the_real_one(aws: Aws, heard: Nodes) -> None:
    group, _ = make_group(aws)
    assert heard.applied
    cluster = aws.read(CLUSTER, Stored(group.state["clusterName"], {}))
    assert cluster is not None
    assert cluster.state["endpoint"] == PLANE.endpoint
    assert cluster.state["certificateAuthority"] == {"data": PLANE.certificate_authority}


def test_the_nodes_of_a_group_join_with_its_labels_taints_zones_and_disk(aws: Aws, heard: Nodes) -> None:
    devices = [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 150, "encrypted": "true"}}]
    template = make(aws, "aws:ec2/launchTemplate:LaunchTemplate", {"blockDeviceMappings": devices})
    launch = {"id": template.id, "version": "1"}
    make_group(aws, launchTemplate=launch, amiType="AL2023_x86_64_NVIDIA", releaseVersion="1.35.6-20260724")

    (shape,) = heard.applied
    assert (shape.cluster, shape.name, shape.region, shape.size) == ("c", "g5", "us-east-1", 2)
    assert shape.subnets == (Subnet("us-east-1a", "10.0.0.0/24"), Subnet("us-east-1b", "10.0.1.0/24"))
    assert shape.labels == {"a": "b"}
    assert [dict(taint) for taint in shape.taints] == [taints.GPU.eks()]
    assert shape.volume_gib == 150
    assert shape.ami_type == "AL2023_x86_64_NVIDIA"
    assert shape.kubelet_version == "1.35.6"


def test_a_group_in_a_capacity_block_is_of_the_type_of_its_launch_template(aws: Aws, heard: Nodes) -> None:
    template = make(aws, "aws:ec2/launchTemplate:LaunchTemplate", {"instanceType": "p5.48xlarge"})
    launch = {"id": template.id, "version": "1"}
    make_group(aws, launchTemplate=launch, instanceTypes=None, capacityType="CAPACITY_BLOCK")

    (shape,) = heard.applied
    assert (shape.instance_types, shape.capacity_type) == (("p5.48xlarge",), "CAPACITY_BLOCK")


def test_a_group_that_says_no_type_anywhere_is_of_that_of_eks(aws: Aws, heard: Nodes) -> None:
    make_group(aws, instanceTypes=None)
    assert heard.applied[0].instance_types == ("t3.medium",)


def test_a_release_of_bottlerocket_says_nothing_of_its_kubelet(aws: Aws, heard: Nodes) -> None:
    make_group(aws, amiType="BOTTLEROCKET_x86_64_NVIDIA", version="1.35", releaseVersion="1.65.0-0be31b34")
    assert heard.applied[0].kubelet_version == "1.35"


def test_a_group_without_a_launch_template_has_the_disk_it_asks_for_or_that_of_eks(aws: Aws, heard: Nodes) -> None:
    make_group(aws, diskSize=64)
    assert heard.applied[0].volume_gib == 64


def test_a_change_of_size_is_told_and_one_of_the_template_starts_other_nodes(aws: Aws, heard: Nodes) -> None:
    group, inputs = make_group(aws)
    wider = {**inputs, "scalingConfig": {"desiredSize": 3, "minSize": 3, "maxSize": 3}}
    aws.update(GROUP, group, inputs, wider)
    aws.update(GROUP, group, wider, {**wider, "releaseVersion": "1.35.6-20260724"})

    first, second, third = heard.applied
    assert (first.size, second.size, third.size) == (2, 3, 3)
    assert first.launch == second.launch
    assert third.launch != second.launch


def test_the_nodes_leave_when_their_group_is_deleted(aws: Aws, heard: Nodes) -> None:
    group, _ = make_group(aws)
    aws.delete(GROUP, group)
    assert heard.left == [("c", "g5")]


def test_a_kubernetes_that_has_ended_stops_the_run(aws: Aws, heard: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    group, _ = make_group(aws)
    with monkeypatch.context() as patched:
        patched.setattr(control_plane, "in_use", lambda: None)
        with pytest.raises(StandInError, match="the sandbox's Kubernetes has ended"):
            aws.delete(GROUP, group)
    assert heard.left == []


def test_what_kubernetes_refuses_is_told_as_the_provider_tells_everything(
    aws: Aws, heard: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SandboxError("nodes of g5 are not ready")

    monkeypatch.setattr(nodes, "apply", refuse)
    with pytest.raises(StandInError, match="the sandbox's Kubernetes: nodes of g5 are not ready"):
        make_group(aws)
    assert heard.applied == []


def test_a_run_without_kubernetes_has_the_clusters_of_moto(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    group, _ = make_group(aws)
    cluster = aws.read(CLUSTER, Stored(group.state.get("clusterName", "c"), {}))
    assert cluster is not None
    assert cluster.state["endpoint"] != PLANE.endpoint
