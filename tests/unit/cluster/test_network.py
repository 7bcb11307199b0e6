from __future__ import annotations

from typing import Any

import pulumi
import pytest

from eks_gpu.cluster.network import Network, NetworkArgs, connect, nat_gateway_zones
from eks_gpu.cluster.network_connection import NetworkConnection
from eks_gpu.cluster.service_endpoints import ServiceEndpoints, ServiceEndpointsArgs
from eks_gpu.facts import labels
from eks_gpu.facts.network import PRIVATE_SERVICES
from eks_gpu.recording import RecordedResource, Recording, record
from eks_gpu.settings.network import ExistingNetwork, ExistingVpc, Nat, NewNetwork

ZONES = ("us-east-1a", "us-east-1c")
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
ROUTE = "aws:ec2/route:Route"
SUBNET = "aws:ec2/subnet:Subnet"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"


def _record(nat: Nat = Nat.SINGLE, zones: tuple[str, ...] = ZONES) -> Recording:
    return record(lambda: connect("network", NewNetwork(cidr="10.40.0.0/16", zones=zones, nat=nat)))


def _routes_to_the_internet(recording: Recording) -> list[RecordedResource]:
    return [route for route in recording.of_type(ROUTE) if route["destinationCidrBlock"] == "0.0.0.0/0"]


def test_each_zone_has_a_private_subnet_that_nodes_and_internal_load_balancers_are_found_by() -> None:
    subnet = _record().named("network-private-us-east-1c")

    assert (subnet["availabilityZone"], subnet["cidrBlock"]) == ("us-east-1c", "10.40.64.0/19")
    assert subnet["tags"]["kubernetes.io/role/internal-elb"] == "1"
    assert subnet["tags"][labels.KARPENTER_DISCOVERY] == "eks-gpu-dev"
    assert "kubernetes.io/role/elb" not in subnet["tags"]


def test_public_subnets_are_for_load_balancers_only() -> None:
    subnet = _record().named("network-public-us-east-1a")

    assert subnet["tags"]["kubernetes.io/role/elb"] == "1"
    assert labels.KARPENTER_DISCOVERY not in subnet["tags"]


def test_no_subnet_gives_its_instances_public_addresses() -> None:
    assert {subnet["mapPublicIpOnLaunch"] for subnet in _record(Nat.PER_ZONE).of_type(SUBNET)} == {False}


def test_the_default_security_group_lets_nothing_through() -> None:
    group = _record().one("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
    assert (group["ingress"], group["egress"]) == ([], [])


def test_one_nat_gateway_serves_all_zones() -> None:
    recording = _record(Nat.SINGLE)

    assert recording.one(NAT_GATEWAY).name == "network-nat-us-east-1a"
    routes = [route for route in _routes_to_the_internet(recording) if "natGatewayId" in route.inputs]
    assert {route.name for route in routes} == {
        "network-private-internet-us-east-1a",
        "network-private-internet-us-east-1c",
    }
    assert all(recording.reaches(route, recording.one(NAT_GATEWAY)) for route in routes)


def test_a_nat_gateway_per_zone_keeps_each_zone_to_itself() -> None:
    recording = _record(Nat.PER_ZONE)

    route = recording.named("network-private-internet-us-east-1c")
    assert recording.reaches(route, recording.named("network-nat-us-east-1c"))
    assert not recording.reaches(route, recording.named("network-nat-us-east-1a"))


def test_a_nat_gateway_comes_after_its_way_to_the_internet() -> None:
    recording = _record(Nat.SINGLE)
    assert recording.reaches(recording.one(NAT_GATEWAY), recording.named("network-public-internet"))


def test_reordering_zones_does_not_move_a_single_gateway() -> None:
    settings = [NewNetwork(zones=zones, nat=Nat.SINGLE) for zones in (ZONES, ZONES[::-1])]
    assert {zone for network in settings for zone in nat_gateway_zones(network).values()} == {"us-east-1a"}


def test_without_nat_there_is_no_way_to_the_internet_and_an_endpoint_for_each_service_that_nodes_call() -> None:
    recording = _record(Nat.NONE)

    assert _routes_to_the_internet(recording) == []
    assert recording.of_type("aws:ec2/internetGateway:InternetGateway") == ()
    interfaces = [endpoint for endpoint in recording.of_type(ENDPOINT) if endpoint["vpcEndpointType"] == "Interface"]
    assert {endpoint["serviceName"] for endpoint in interfaces} == {
        f"com.amazonaws.us-east-1.{service}" for service in PRIVATE_SERVICES
    }
    assert {"sts", "eks-auth", "ecr.api", "ecr.dkr", "ec2", "elasticfilesystem", "ssmmessages"} <= set(PRIVATE_SERVICES)
    assert all(endpoint["privateDnsEnabled"] for endpoint in interfaces)


@pytest.mark.parametrize("nat", list(Nat))
def test_only_a_network_without_nat_is_isolated(nat: Nat) -> None:
    def program() -> None:
        assert connect("network", NewNetwork(zones=ZONES, nat=nat)).isolated is (nat is Nat.NONE)

    record(program)


def test_the_subnets_of_an_existing_network_are_in_the_order_of_their_zones_whoever_read_them() -> None:
    subnets = {"us-east-1b": "subnet-0b1c2d3e", "us-east-1a": "subnet-0a1b2c3d"}
    vpc = ExistingVpc(vpc_id="vpc-0a1b2c3d", private_subnets=subnets)

    assert list(connect("network", ExistingNetwork(existing=vpc)).private_subnets) == ["us-east-1a", "us-east-1b"]


@pytest.mark.parametrize("isolated", [False, True])
def test_an_existing_network_is_isolated_if_it_is_said_to_be(*, isolated: bool) -> None:
    subnets = {"us-east-1a": "subnet-0a1b2c3d", "us-east-1b": "subnet-0b1c2d3e"}
    vpc = ExistingVpc(vpc_id="vpc-0a1b2c3d", private_subnets=subnets, isolated=isolated)

    assert connect("network", ExistingNetwork(existing=vpc)).isolated is isolated


def test_endpoints_answer_https_from_inside_the_vpc_only() -> None:
    group = _record(Nat.NONE).one("aws:ec2/securityGroup:SecurityGroup")

    assert [(rule["fromPort"], rule["toPort"], rule["cidrBlocks"]) for rule in group["ingress"]] == [
        (443, 443, ["10.40.0.0/16"])
    ]
    assert group["egress"] == []


@pytest.mark.parametrize("nat", list(Nat))
def test_images_and_models_in_s3_never_pass_a_nat_gateway(nat: Nat) -> None:
    recording = _record(nat)

    gateway = recording.named("network-endpoints-s3")
    assert (gateway["vpcEndpointType"], gateway["serviceName"]) == ("Gateway", "com.amazonaws.us-east-1.s3")
    assert len(gateway["routeTableIds"]) == len(ZONES)


@pytest.mark.parametrize("nat", list(Nat))
def test_a_further_zone_touches_nothing_of_the_others(nat: Nat) -> None:
    before, after = _record(nat), _record(nat, (*ZONES, "us-east-1b"))

    shared = {resource.urn for resource in before.resources} & {resource.urn for resource in after.resources}
    assert shared == {resource.urn for resource in before.resources}
    subnets = {subnet.urn: subnet.inputs for subnet in after.of_type(SUBNET)}
    assert all(subnets[subnet.urn] == subnet.inputs for subnet in before.of_type(SUBNET))


def test_everything_is_below_the_network_and_named_after_it() -> None:
    recording = _record(Nat.NONE)

    network, endpoints = recording.one("eks-gpu:index:Network"), recording.one("eks-gpu:index:ServiceEndpoints")
    assert {resource.parent for resource in recording.resources} == {None, network.urn, endpoints.urn}
    assert all(resource.name.startswith("network") for resource in recording.resources)


def test_nodes_wait_for_routes_and_endpoints() -> None:
    def program() -> None:
        network = Network("network", NetworkArgs(settings=NewNetwork(zones=ZONES)))
        ready.extend(network.connection.ready)

    ready: list[Any] = []
    record(program)
    assert {resource._name for resource in ready} == {  # noqa: SLF001 - the SDK tells a logical name nowhere else
        "network-private-association-us-east-1a",
        "network-private-association-us-east-1c",
        "network-private-internet-us-east-1a",
        "network-private-internet-us-east-1c",
        "network-endpoints-s3",
    }


def test_a_discovery_tag_of_the_users_own_is_kept() -> None:
    recording = record(
        lambda: Network("network", NetworkArgs(settings=NewNetwork(zones=ZONES), discovery="shared-platform"))
    )
    assert recording.named("network-private-us-east-1a")["tags"][labels.KARPENTER_DISCOVERY] == "shared-platform"


def test_an_existing_network_is_only_pointed_to() -> None:
    subnets = {"us-east-1a": "subnet-0123456a", "us-east-1b": "subnet-0123456b"}
    existing = ExistingNetwork(existing=ExistingVpc(vpc_id="vpc-01234567", private_subnets=subnets))
    found: list[NetworkConnection] = []

    recording = record(lambda: found.append(connect("network", existing)))

    assert recording.resources == ()
    assert found == [NetworkConnection(vpc_id="vpc-01234567", private_subnets=subnets)]


def test_endpoints_of_a_foreign_vpc_take_outputs_and_name_what_is_missing() -> None:
    def program() -> None:
        args = ServiceEndpointsArgs(
            region="eu-west-1",
            vpc_id=pulumi.Output.from_input("vpc-1"),
            cidr=pulumi.Output.from_input("10.0.0.0/16"),
            subnets={"eu-west-1a": pulumi.Output.from_input("subnet-1")},
            route_tables={"eu-west-1a": pulumi.Output.from_input("rtb-1")},
            interfaces=("sts",),
        )
        ServiceEndpoints("endpoints", args)

    assert record(program).named("endpoints-sts")["subnetIds"] == ["subnet-1"]
    empty = ServiceEndpointsArgs(region="eu-west-1", vpc_id="", cidr="10.0.0.0/16", subnets={}, route_tables={"a": ""})
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(lambda: ServiceEndpoints("endpoints", empty))
    assert [error["property_path"] for error in refused.value.errors or ()] == ["vpc_id", "subnets", "route_tables.a"]
