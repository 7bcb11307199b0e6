"""VPCs and what lies in them: subnets, gateways, addresses, routes, endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sandbox.providers.aws.account import ACCOUNT_ID, arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import specification, update_ec2_tags
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_EC2: Final = "ec2"
_VPC_SWITCHES: Final = {"enableDnsHostnames": "EnableDnsHostnames", "enableDnsSupport": "EnableDnsSupport"}
_GONE: Final = ("deleting", "deleted")


def _create_vpc(api: Api, inputs: Properties) -> Made:
    vpc = api.call(
        _EC2,
        "create_vpc",
        CidrBlock=inputs.get("cidrBlock"),
        InstanceTenancy=inputs.get("instanceTenancy"),
        AmazonProvidedIpv6CidrBlock=inputs.get("assignGeneratedIpv6CidrBlock"),
        TagSpecifications=specification("vpc", inputs),
    )["Vpc"]
    _switch_vpc(api, vpc["VpcId"], inputs)
    return Made(vpc["VpcId"], _vpc_outputs(api, vpc))


def _switch_vpc(api: Api, id_: str, inputs: Properties) -> None:
    for name, argument in _VPC_SWITCHES.items():
        if inputs.get(name) is not None:
            api.call(_EC2, "modify_vpc_attribute", VpcId=id_, **{argument: {"Value": inputs[name]}})


def _vpc_outputs(api: Api, vpc: Properties) -> Properties:
    """Return what the VPC and the defaults that AWS makes with it look like."""
    own = [{"Name": "vpc-id", "Values": [vpc["VpcId"]]}]
    group = [*own, {"Name": "group-name", "Values": ["default"]}]
    main = [*own, {"Name": "association.main", "Values": ["true"]}]
    table = (found(api, _EC2, "describe_route_tables", "RouteTables", Filters=main) or {}).get("RouteTableId")
    security_group = found(api, _EC2, "describe_security_groups", "SecurityGroups", Filters=group) or {}
    acl = found(api, _EC2, "describe_network_acls", "NetworkAcls", Filters=own) or {}
    return {
        "arn": arn(_EC2, f"vpc/{vpc['VpcId']}", api.region),
        "cidrBlock": vpc["CidrBlock"],
        "instanceTenancy": vpc["InstanceTenancy"],
        "dhcpOptionsId": vpc.get("DhcpOptionsId"),
        "ownerId": ACCOUNT_ID,
        "defaultSecurityGroupId": security_group.get("GroupId"),
        "mainRouteTableId": table,
        "defaultRouteTableId": table,
        "defaultNetworkAclId": acl.get("NetworkAclId"),
    }


def _read_vpc(api: Api, existing: Stored) -> Properties | None:
    vpc = found(api, _EC2, "describe_vpcs", "Vpcs", VpcIds=[existing.id])
    return None if vpc is None else _vpc_outputs(api, vpc)


def _update_vpc(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    _switch_vpc(api, existing.id, new)
    return update_ec2_tags(api, existing, old, new)


def _delete_vpc(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EC2, "delete_vpc", VpcId=existing.id)


def _create_subnet(api: Api, inputs: Properties) -> Made:
    subnet = api.call(
        _EC2,
        "create_subnet",
        VpcId=inputs["vpcId"],
        CidrBlock=inputs.get("cidrBlock"),
        Ipv6CidrBlock=inputs.get("ipv6CidrBlock"),
        AvailabilityZone=inputs.get("availabilityZone"),
        AvailabilityZoneId=inputs.get("availabilityZoneId"),
        TagSpecifications=specification("subnet", inputs),
    )["Subnet"]
    _switch_subnet(api, subnet["SubnetId"], inputs)
    return Made(subnet["SubnetId"], _subnet_outputs(subnet))


def _switch_subnet(api: Api, id_: str, inputs: Properties) -> None:
    public = inputs.get("mapPublicIpOnLaunch")
    if public is not None:
        api.call(_EC2, "modify_subnet_attribute", SubnetId=id_, MapPublicIpOnLaunch={"Value": public})


def _subnet_outputs(subnet: Properties) -> Properties:
    return {
        "arn": subnet["SubnetArn"],
        "availabilityZone": subnet["AvailabilityZone"],
        "availabilityZoneId": subnet["AvailabilityZoneId"],
        "ownerId": subnet["OwnerId"],
    }


def _read_subnet(api: Api, existing: Stored) -> Properties | None:
    subnet = found(api, _EC2, "describe_subnets", "Subnets", SubnetIds=[existing.id])
    return None if subnet is None else _subnet_outputs(subnet)


def _update_subnet(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    _switch_subnet(api, existing.id, new)
    return update_ec2_tags(api, existing, old, new)


def _delete_subnet(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EC2, "delete_subnet", SubnetId=existing.id)


def _create_internet_gateway(api: Api, inputs: Properties) -> Made:
    tags = specification("internet-gateway", inputs)
    gateway = api.call(_EC2, "create_internet_gateway", TagSpecifications=tags)["InternetGateway"]
    id_ = gateway["InternetGatewayId"]
    if inputs.get("vpcId") is not None:
        api.call(_EC2, "attach_internet_gateway", InternetGatewayId=id_, VpcId=inputs["vpcId"])
    outputs = {"arn": arn(_EC2, f"internet-gateway/{id_}", api.region), "ownerId": ACCOUNT_ID}
    return Made(id_, {**outputs, "vpcId": inputs.get("vpcId", "")})


def _read_internet_gateway(api: Api, existing: Stored) -> Properties | None:
    gateway = found(api, _EC2, "describe_internet_gateways", "InternetGateways", InternetGatewayIds=[existing.id])
    if gateway is None:
        return None
    return {"vpcId": next((each["VpcId"] for each in gateway["Attachments"]), "")}


def _update_internet_gateway(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    before, after = old.get("vpcId"), new.get("vpcId")
    if before != after:
        if before:
            api.call(_EC2, "detach_internet_gateway", InternetGatewayId=existing.id, VpcId=before)
        if after:
            api.call(_EC2, "attach_internet_gateway", InternetGatewayId=existing.id, VpcId=after)
    return update_ec2_tags(api, existing, old, new)


def _delete_internet_gateway(api: Api, existing: Stored) -> None:
    with missing_ok():
        vpc = (_read_internet_gateway(api, existing) or {}).get("vpcId")
        if vpc:
            api.call(_EC2, "detach_internet_gateway", InternetGatewayId=existing.id, VpcId=vpc)
        api.call(_EC2, "delete_internet_gateway", InternetGatewayId=existing.id)


def _create_address(api: Api, inputs: Properties) -> Made:
    tags = specification("elastic-ip", inputs)
    address = api.call(_EC2, "allocate_address", Domain="vpc", TagSpecifications=tags)
    id_ = address["AllocationId"]
    made = {"arn": arn(_EC2, f"elastic-ip/{id_}", api.region), "allocationId": id_, "domain": "vpc"}
    return Made(id_, {**made, "publicIp": address["PublicIp"]})


def _read_address(api: Api, existing: Stored) -> Properties | None:
    address = found(api, _EC2, "describe_addresses", "Addresses", AllocationIds=[existing.id])
    return None if address is None else {"publicIp": address["PublicIp"]}


def _delete_address(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EC2, "release_address", AllocationId=existing.id)


def _create_nat_gateway(api: Api, inputs: Properties) -> Made:
    gateway = api.call(
        _EC2,
        "create_nat_gateway",
        SubnetId=inputs["subnetId"],
        AllocationId=inputs.get("allocationId"),
        ConnectivityType=inputs.get("connectivityType"),
        TagSpecifications=specification("natgateway", inputs),
    )["NatGateway"]
    return Made(gateway["NatGatewayId"], _nat_outputs(gateway))


def _nat_outputs(gateway: Properties) -> Properties:
    address: Properties = next(iter(gateway.get("NatGatewayAddresses", ())), {})
    outputs = {
        "publicIp": address.get("PublicIp"),
        "privateIp": address.get("PrivateIp"),
        "networkInterfaceId": address.get("NetworkInterfaceId"),
    }
    return {key: value for key, value in outputs.items() if value is not None}


def _read_nat_gateway(api: Api, existing: Stored) -> Properties | None:
    gateway = found(api, _EC2, "describe_nat_gateways", "NatGateways", NatGatewayIds=[existing.id])
    return None if gateway is None or gateway["State"] in _GONE else _nat_outputs(gateway)


def _delete_nat_gateway(api: Api, existing: Stored) -> None:
    """Delete the gateway and, as AWS does and moto does not, its network interface, and set its address free.

    The gateway goes last: neither of the others would tell whose it was, if only the gateway were deleted.
    """
    gateway = found(api, _EC2, "describe_nat_gateways", "NatGateways", NatGatewayIds=[existing.id])
    if gateway is None or gateway["State"] in _GONE:
        return
    for address in gateway.get("NatGatewayAddresses", ()):
        with missing_ok():
            if address.get("AssociationId"):
                api.call(_EC2, "disassociate_address", AssociationId=address["AssociationId"])
        with missing_ok():
            api.call(_EC2, "delete_network_interface", NetworkInterfaceId=address["NetworkInterfaceId"])
    api.call(_EC2, "delete_nat_gateway", NatGatewayId=existing.id)


def _create_endpoint(api: Api, inputs: Properties) -> Made:
    endpoint = api.call(
        _EC2,
        "create_vpc_endpoint",
        VpcId=inputs["vpcId"],
        ServiceName=inputs.get("serviceName"),
        VpcEndpointType=inputs.get("vpcEndpointType", "Gateway"),
        SubnetIds=inputs.get("subnetIds"),
        SecurityGroupIds=inputs.get("securityGroupIds"),
        RouteTableIds=inputs.get("routeTableIds"),
        PrivateDnsEnabled=inputs.get("privateDnsEnabled"),
        PolicyDocument=inputs.get("policy"),
        TagSpecifications=specification("vpc-endpoint", inputs),
    )["VpcEndpoint"]
    id_ = endpoint["VpcEndpointId"]
    return Made(id_, {"arn": arn(_EC2, f"vpc-endpoint/{id_}", api.region), **_endpoint_outputs(endpoint)})


def _endpoint_outputs(endpoint: Properties) -> Properties:
    entries = [
        {"dnsName": entry.get("DnsName", ""), "hostedZoneId": entry.get("HostedZoneId", "")}
        for entry in endpoint.get("DnsEntries", ())
    ]
    return {"state": endpoint.get("State", "available"), "ownerId": ACCOUNT_ID, "dnsEntries": entries}


def _read_endpoint(api: Api, existing: Stored) -> Properties | None:
    endpoint = found(api, _EC2, "describe_vpc_endpoints", "VpcEndpoints", VpcEndpointIds=[existing.id])
    return None if endpoint is None or endpoint["State"].lower() in _GONE else _endpoint_outputs(endpoint)


def _update_endpoint(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    changed: dict[str, Any] = {}
    for name, argument in (("subnetIds", "SubnetIds"), ("routeTableIds", "RouteTableIds")):
        before, after = old.get(name) or [], new.get(name) or []
        changed[f"Add{argument}"] = [each for each in after if each not in before] or None
        changed[f"Remove{argument}"] = [each for each in before if each not in after] or None
    if new.get("policy") != old.get("policy"):
        changed["PolicyDocument"] = new.get("policy")
    if any(value is not None for value in changed.values()):
        api.call(_EC2, "modify_vpc_endpoint", VpcEndpointId=existing.id, **changed)
    return update_ec2_tags(api, existing, old, new)


def _delete_endpoint(api: Api, existing: Stored) -> None:
    endpoint = found(api, _EC2, "describe_vpc_endpoints", "VpcEndpoints", VpcEndpointIds=[existing.id])
    if endpoint is None or endpoint["State"].lower() in _GONE:
        return
    tables = endpoint.get("RouteTableIds")
    if tables:  # moto fails to delete an endpoint whose route was not made together with it
        api.call(_EC2, "modify_vpc_endpoint", VpcEndpointId=existing.id, RemoveRouteTableIds=tables)
    api.call(_EC2, "delete_vpc_endpoints", VpcEndpointIds=[existing.id])


KEPT: Final[Mapping[str, Kept]] = {
    "aws:ec2/vpc:Vpc": Kept(_create_vpc, _read_vpc, _delete_vpc, _update_vpc),
    "aws:ec2/subnet:Subnet": Kept(_create_subnet, _read_subnet, _delete_subnet, _update_subnet),
    "aws:ec2/internetGateway:InternetGateway": Kept(
        _create_internet_gateway, _read_internet_gateway, _delete_internet_gateway, _update_internet_gateway
    ),
    "aws:ec2/eip:Eip": Kept(_create_address, _read_address, _delete_address, update_ec2_tags),
    "aws:ec2/natGateway:NatGateway": Kept(_create_nat_gateway, _read_nat_gateway, _delete_nat_gateway, update_ec2_tags),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Kept(_create_endpoint, _read_endpoint, _delete_endpoint, _update_endpoint),
}
