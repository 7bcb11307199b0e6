"""How each environment reaches the internet, and what stands in for it where nothing does."""

from __future__ import annotations

from pathlib import Path

import pytest

from eks_gpu.cli.program import record_stack
from eks_gpu.cli.project import Project
from eks_gpu.facts import network
from eks_gpu.recording import Recording

PROJECT = Project.find(Path(__file__).parents[2])
NAT = "aws:ec2/natGateway:NatGateway"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
ROUTE = "aws:ec2/route:Route"


def recorded(stack: str) -> Recording:
    return record_stack(PROJECT, stack).recording


def private_zones(recording: Recording) -> list[str]:
    return [
        subnet["availabilityZone"]
        for subnet in recording.of_type("aws:ec2/subnet:Subnet")
        if "-private-" in subnet.name
    ]


@pytest.mark.parametrize(("stack", "gateways"), [("dev", 1), ("staging", 1), ("prod", 3)])
def test_a_stack_has_the_gateways_of_its_environment_and_each_zone_a_route_to_one(stack: str, gateways: int) -> None:
    recording = recorded(stack)
    zones = private_zones(recording)
    routes = [route for route in recording.of_type(ROUTE) if route.name.startswith("network-private-internet-")]

    assert len(recording.of_type(NAT)) == gateways
    assert [route.name.removeprefix("network-private-internet-") for route in routes] == zones
    for route in routes:
        assert any(recording.reaches(route, gateway) for gateway in recording.of_type(NAT))


def test_production_loses_no_zone_with_the_gateway_of_another() -> None:
    recording = recorded("prod")
    for route in recording.of_type(ROUTE):
        zone = route.name.removeprefix("network-private-internet-")
        reached = [gateway.name for gateway in recording.of_type(NAT) if recording.reaches(route, gateway)]
        assert reached in ([], [f"network-nat-{zone}"])


def test_without_a_gateway_every_service_that_nodes_and_controllers_call_has_an_endpoint_in_each_zone() -> None:
    recording = recorded("local")
    endpoints = {endpoint["serviceName"]: endpoint for endpoint in recording.of_type(ENDPOINT)}

    assert recording.of_type(NAT) == ()
    assert recording.of_type(ROUTE) == ()
    wanted = (network.S3_SERVICE, *network.PRIVATE_SERVICES)
    assert set(endpoints) == {network.service_name("us-east-1", service) for service in wanted}
    needed = {"ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem", "sqs", "ssm", "sts"}
    assert needed <= set(network.PRIVATE_SERVICES)
    for service in network.PRIVATE_SERVICES:
        endpoint = endpoints[network.service_name("us-east-1", service)]
        assert endpoint["privateDnsEnabled"] is True
        assert len(endpoint["subnetIds"]) == len(private_zones(recording))


def test_nodes_wait_for_their_way_out_whichever_it_is() -> None:
    for stack, kind in (("prod", ROUTE), ("local", ENDPOINT)):
        recording = recorded(stack)
        group = recording.named("system-nodes-node-group")
        ways = [way for way in recording.of_type(kind) if "public" not in way.name]
        assert ways
        assert [way.name for way in ways if not recording.reaches(group, way)] == []


def test_karpenter_knows_that_it_cannot_reach_iam_and_prices_where_there_is_no_gateway() -> None:
    isolated = {
        stack: recorded(stack).named("karpenter-chart")["values"]["settings"].get("isolatedVPC", False)
        for stack in ("local", "prod")
    }
    assert isolated == {"local": True, "prod": False}


def test_nodes_find_their_subnets_by_id_and_others_find_them_by_the_tag_of_the_stack() -> None:
    recording = recorded("prod")
    for subnet in recording.of_type("aws:ec2/subnet:Subnet"):
        tagged = subnet["tags"].get("karpenter.sh/discovery")
        assert tagged == ("eks-gpu-prod" if "-private-" in subnet.name else None)
    for node_class in recording.of_type("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"):
        assert all(set(term) == {"id"} for term in node_class["spec"]["subnetSelectorTerms"])
