from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from eks_gpu.facts import labels, resources, taints
from sandbox.kubernetes import node_groups, stages
from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet

SUBNET = Subnet("eu-west-1b", "10.40.16.0/28")


def shape(**changes: Any) -> NodeGroupShape:  # noqa: ANN401 - the fields of a shape
    fields: dict[str, Any] = {
        "cluster": "c",
        "name": "g5",
        "region": "eu-west-1",
        "subnets": (Subnet("eu-west-1a", "10.40.0.0/28"), SUBNET),
        "instance_types": ("g5.12xlarge",),
        "size": 1,
        "ami_type": "AL2023_x86_64_NVIDIA",
        "labels": labels.pool_labels("a10g", "inference"),
        "taints": (taints.GPU.eks(),),
        "volume_gib": 150,
        "kubelet_version": "1.35.6",
    }
    return NodeGroupShape(**{**fields, **changes})


def test_a_node_carries_the_labels_and_taints_of_its_group_in_kubernetes_spelling() -> None:
    node = node_groups.new_node(shape(), SUBNET)
    found = node["metadata"]["labels"]
    assert labels.pool_labels("a10g", "inference").items() <= found.items()
    assert found[labels.EKS_NODE_GROUP] == "g5"
    assert found[labels.INSTANCE_TYPE] == "g5.12xlarge"
    assert (found[labels.REGION], found[labels.ZONE]) == ("eu-west-1", "eu-west-1b")
    assert node["spec"]["taints"] == [taints.GPU.kubernetes()]
    assert node["spec"]["providerID"].startswith("aws:///eu-west-1b/i-")
    assert node["metadata"]["annotations"][stages.MANAGED_ANNOTATION] == stages.MANAGED


def test_a_taint_without_a_value_stays_without() -> None:
    node = node_groups.new_node(shape(taints=({"key": "startup", "effect": "NO_EXECUTE"},)), SUBNET)
    assert node["spec"]["taints"] == [{"key": "startup", "effect": "NoExecute"}]


def test_a_node_has_no_gpu_before_a_device_plugin_runs_there() -> None:
    status = node_groups.new_node(shape(), SUBNET)["status"]
    for each in (status["capacity"], status["allocatable"]):
        assert not any(resources.is_gpu(name) for name in each)
        assert each.keys() == {resources.CPU, resources.MEMORY, resources.PODS, resources.EPHEMERAL_STORAGE}


def test_a_node_has_the_disk_of_its_launch_template_and_no_more_pods_than_eks_allows() -> None:
    status = node_groups.new_node(shape(), SUBNET)["status"]
    assert status["capacity"][resources.EPHEMERAL_STORAGE] == "150Gi"
    assert status["capacity"][resources.PODS] == "250"
    small = node_groups.new_node(shape(instance_types=("m7i.4xlarge",)), SUBNET)["status"]
    assert small["allocatable"][resources.PODS] == "110"


def test_the_address_is_one_of_the_subnet_that_aws_leaves_free() -> None:
    network = ipaddress.ip_network(SUBNET.cidr)
    usable = {str(address) for address in list(network)[4:-1]}
    drawn = {node_groups.new_node(shape(), SUBNET)["status"]["addresses"][0]["address"] for _ in range(200)}
    assert drawn <= usable
    assert len(drawn) > 1


@pytest.mark.parametrize(
    ("region", "domain"), [("us-east-1", "ec2.internal"), ("eu-west-1", "eu-west-1.compute.internal")]
)
def test_a_node_is_named_after_its_address_as_ec2_does(region: str, domain: str) -> None:
    node = node_groups.new_node(shape(region=region), SUBNET)
    address = node["status"]["addresses"][0]["address"]
    assert node["metadata"]["name"] == f"ip-{address.replace('.', '-')}.{domain}"
    assert node["metadata"]["labels"][labels.HOSTNAME] == node["metadata"]["name"]


@pytest.mark.parametrize(
    "change",
    [
        {"launched_from": "lt-1 2"},
        {"instance_types": ("g5.2xlarge",)},
        {"ami_type": "BOTTLEROCKET_x86_64_NVIDIA"},
        {"volume_gib": 200},
        {"capacity_type": "SPOT"},
    ],
)
def test_what_an_instance_is_started_from_replaces_it_when_it_changes(change: dict[str, Any]) -> None:
    assert shape(**change).launch != shape().launch


@pytest.mark.parametrize("change", [{"size": 5}, {"labels": {}}, {"taints": ()}])
def test_size_labels_and_taints_replace_no_instance(change: dict[str, Any]) -> None:
    assert shape(**change).launch == shape().launch
