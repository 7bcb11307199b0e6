"""The provider functions that programs call: answered from moto, or computed where the answer is fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from sandbox.providers.aws.account import ACCOUNT_ID, arn, partition
from sandbox.providers.aws.documents import render
from sandbox.providers.aws.public_parameters import image_id, names_image
from sandbox.providers.stand_in import StandInError
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api


def answer(api: Api, token: str, arguments: Properties) -> Properties:
    """Answer the function `token`; raise `StandInError`, naming it, if it is not known here."""
    function = FUNCTIONS.get(token)
    if function is None:
        known = ", ".join(sorted(FUNCTIONS))
        raise StandInError(f'the stand-in provider aws has no function "{token}"; it has {known}')
    return function(api, arguments)


def _region(api: Api, arguments: Properties) -> Properties:
    name = arguments.get("region") or arguments.get("name") or api.region
    endpoint = f"ec2.{name}.{_dns_suffix(name)}"
    return {"id": name, "name": name, "region": name, "endpoint": endpoint, "description": f"sandbox:{name}"}


def _dns_suffix(region: str) -> str:
    return "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"


def _caller_identity(api: Api, arguments: Properties) -> Properties:
    del arguments
    return {
        "id": ACCOUNT_ID,
        "accountId": ACCOUNT_ID,
        "arn": f"arn:{partition(api.region)}:sts::{ACCOUNT_ID}:user/moto",
        "userId": "AKIAIOSFODNN7EXAMPLE",
    }


def _partition(api: Api, arguments: Properties) -> Properties:
    del arguments
    name, suffix = partition(api.region), _dns_suffix(api.region)
    reverse = ".".join(reversed(suffix.split(".")))
    return {"id": name, "partition": name, "dnsSuffix": suffix, "reverseDnsPrefix": reverse}


def _filters(arguments: Properties) -> list[Properties]:
    filters = [{"Name": each["name"], "Values": each["values"]} for each in arguments.get("filters", ())]
    return filters + [{"Name": f"tag:{key}", "Values": [value]} for key, value in arguments.get("tags", {}).items()]


def _availability_zones(api: Api, arguments: Properties) -> Properties:
    zones = api.call("ec2", "describe_availability_zones", Filters=_filters(arguments))["AvailabilityZones"]
    excluded = {*arguments.get("excludeNames", ()), *arguments.get("excludeZoneIds", ())}
    kept = [zone for zone in zones if not {zone["ZoneName"], zone["ZoneId"]} & excluded]
    return {
        **arguments,
        "id": api.region,
        "region": api.region,
        "names": [zone["ZoneName"] for zone in kept],
        "zoneIds": [zone["ZoneId"] for zone in kept],
        "groupNames": [api.region],
    }


def _parameter(api: Api, arguments: Properties) -> Properties:
    name = arguments["name"]
    if names_image(name):
        found = {"Name": name, "ARN": arn("ssm", f"parameter{name}", api.region), "Type": "String", "Version": 1}
        found["Value"] = image_id(name)
    else:
        found = api.call("ssm", "get_parameter", Name=name, WithDecryption=True)["Parameter"]
    return {
        **arguments,
        "id": found["Name"],
        "arn": found["ARN"],
        "type": found["Type"],
        "value": found["Value"],
        "insecureValue": found["Value"],
        "version": found["Version"],
        "region": api.region,
    }


def _cluster(api: Api, arguments: Properties) -> Properties:
    from sandbox.providers.aws.kept.control_plane import looked_up  # noqa: PLC0415 - as the registry does

    return {**arguments, "id": arguments["name"], "region": api.region, **looked_up(api, arguments["name"])}


def _vpc(api: Api, arguments: Properties) -> Properties:
    filters = _filters(arguments)
    for name, argument in (("cidr", "cidrBlock"), ("is-default", "default"), ("state", "state")):
        if argument in arguments:
            value = arguments[argument]
            filters.append({"Name": name, "Values": [str(value).lower() if isinstance(value, bool) else value]})
    ids = [arguments["id"]] if arguments.get("id") else None
    vpc = _only("VPC", api.call("ec2", "describe_vpcs", VpcIds=ids, Filters=filters)["Vpcs"])
    return {
        "id": vpc["VpcId"],
        "arn": f"arn:{partition(api.region)}:ec2:{api.region}:{ACCOUNT_ID}:vpc/{vpc['VpcId']}",
        "cidrBlock": vpc["CidrBlock"],
        "default": vpc.get("IsDefault", False),
        "state": vpc["State"],
        "instanceTenancy": vpc["InstanceTenancy"],
        "ownerId": ACCOUNT_ID,
        "region": api.region,
        "tags": {tag["Key"]: tag["Value"] for tag in vpc.get("Tags", ())},
    }


def _subnets(api: Api, arguments: Properties) -> Properties:
    found = api.call("ec2", "describe_subnets", Filters=_filters(arguments))["Subnets"]
    ids = [subnet["SubnetId"] for subnet in found]
    return {**arguments, "id": api.region, "ids": ids, "region": api.region}


def _subnet(api: Api, arguments: Properties) -> Properties:
    filters = _filters(arguments)
    for name, argument in (("vpc-id", "vpcId"), ("cidr-block", "cidrBlock"), ("availability-zone", "availabilityZone")):
        if argument in arguments:
            filters.append({"Name": name, "Values": [arguments[argument]]})
    ids = [arguments["id"]] if arguments.get("id") else None
    subnet = _only("subnet", api.call("ec2", "describe_subnets", SubnetIds=ids, Filters=filters)["Subnets"])
    return {
        "id": subnet["SubnetId"],
        "arn": subnet["SubnetArn"],
        "vpcId": subnet["VpcId"],
        "cidrBlock": subnet["CidrBlock"],
        "availabilityZone": subnet["AvailabilityZone"],
        "availabilityZoneId": subnet["AvailabilityZoneId"],
        "mapPublicIpOnLaunch": subnet["MapPublicIpOnLaunch"],
        "ownerId": ACCOUNT_ID,
        "region": api.region,
        "state": subnet["State"],
        "tags": {tag["Key"]: tag["Value"] for tag in subnet.get("Tags", ())},
    }


def _only(what: str, found: list[Properties]) -> Properties:
    if len(found) != 1:
        raise StandInError(f"the look-up must match one {what}, and it matched {len(found)}; narrow or widen it")
    return found[0]


FUNCTIONS: Final[Mapping[str, Callable[[Api, Properties], Properties]]] = {
    "aws:ec2/getSubnet:getSubnet": _subnet,
    "aws:ec2/getSubnets:getSubnets": _subnets,
    "aws:ec2/getVpc:getVpc": _vpc,
    "aws:eks/getCluster:getCluster": _cluster,
    "aws:iam/getPolicyDocument:getPolicyDocument": lambda _api, arguments: render(arguments),
    "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getRegion:getRegion": _region,
    "aws:ssm/getParameter:getParameter": _parameter,
}
"""The functions that are answered, by their tokens."""
