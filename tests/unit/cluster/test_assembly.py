from __future__ import annotations

import json
from itertools import pairwise

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.cluster import assembly, network
from eks_gpu.recording import Recording, record
from eks_gpu.settings.cluster import ExistingCluster, ExistingControlPlane, NewCluster
from eks_gpu.settings.network import Nat, NewNetwork
from eks_gpu.settings.system_nodes import SystemNodes

NEW = NewCluster(version="1.35")
EXISTING = ExistingCluster(existing=ExistingControlPlane(name="theirs", version="1.35"))


def _record(settings: NewCluster | ExistingCluster, system_nodes: SystemNodes | None) -> Recording:
    def program() -> None:
        there = network.connect("network", NewNetwork(zones=("us-east-1a", "us-east-1b"), nat=Nat.PER_ZONE))
        connection = assembly.connect(settings, there, system_nodes=system_nodes)
        options = pulumi.ResourceOptions(provider=connection.provider, depends_on=connection.ready)
        k8s.core.v1.ConfigMap("probe", opts=options)

    return record(program)


def test_order_is_dependency_routes_then_node_add_ons_then_nodes_then_the_other_add_ons() -> None:
    recording = _record(NEW, SystemNodes())

    chain = [
        recording.named(name)
        for name in (
            "probe",
            "add-ons-coredns",
            "system-nodes-node-group",
            "node-add-ons-vpc-cni",
            "network-private-internet-us-east-1b",
        )
    ]
    assert all(recording.reaches(later, earlier) for later, earlier in pairwise(chain))
    assert not recording.reaches(recording.named("node-add-ons-vpc-cni"), recording.named("system-nodes-node-group"))


def test_what_is_put_in_waits_for_every_add_on_and_node() -> None:
    recording = _record(NEW, SystemNodes())

    probe = recording.named("probe")
    for token in ("aws:eks/addon:Addon", "aws:eks/nodeGroup:NodeGroup", "aws:ec2/route:Route"):
        assert all(recording.reaches(probe, resource) for resource in recording.of_type(token))


def test_no_policy_of_ours_allows_a_wildcard_action() -> None:
    recording = _record(NEW, SystemNodes())

    documents = [json.loads(policy["policy"]) for policy in recording.of_type("aws:iam/rolePolicy:RolePolicy")]
    trusts = [json.loads(role["assumeRolePolicy"]) for role in recording.of_type("aws:iam/role:Role")]
    actions = [action for text in (*documents, *trusts) for one in text["Statement"] for action in one["Action"]]
    assert actions
    assert not any("*" in action for action in actions)


def test_a_new_cluster_without_system_nodes_is_refused_by_property() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match="system_nodes: is missing; a new cluster needs nodes"):
        _record(NEW, None)


def test_an_existing_cluster_keeps_its_owners_add_ons_and_nodes() -> None:
    recording = _record(EXISTING, None)

    assert recording.of_type("aws:eks/addon:Addon") == ()
    assert recording.of_type("aws:eks/nodeGroup:NodeGroup") == ()
    assert recording.of_type("eks:index:Cluster") == ()


def test_system_nodes_are_added_to_an_existing_cluster_on_request() -> None:
    recording = _record(EXISTING, SystemNodes())

    assert recording.one("aws:eks/nodeGroup:NodeGroup")["clusterName"] == "theirs"
    assert recording.reaches(recording.named("probe"), recording.one("aws:eks/nodeGroup:NodeGroup"))
