"""What the AWS of the sandbox holds: the proof that a destroy left nothing.

A new account is not empty: it has a default VPC in every region, AWS's own policies and keys. Those do not count, and
neither does what AWS itself removes in its own time (a key waiting for its deletion, a terminated instance).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import boto3

from sandbox.checkout import Checkout
from sandbox.environment import REGION

Item = Mapping[str, Any]

_GONE_STATES = frozenset({"deleted", "deleting", "terminated", "shutting-down"})


@dataclass(frozen=True, slots=True)
class Listing:
    """How one kind of thing is listed."""

    service: str
    kind: str
    """What people call one of them."""
    operation: str
    result: str
    """The key of the answer that holds the list."""
    identity: str = ""
    """The key that names one of them; empty if the list holds the names themselves."""
    arguments: Mapping[str, Any] | None = None
    counts: Callable[[Item], bool] = lambda _item: True
    """Tells things somebody made from those every account has."""
    is_global: bool = False


def _not_default(key: str) -> Callable[[Item], bool]:
    return lambda item: not item.get(key)


def _standing(item: Item) -> bool:
    return str(item.get("State", "")).lower() not in _GONE_STATES


def _not_of_aws(item: Item) -> bool:
    return not str(item.get("Path", "")).startswith("/aws-service-role/")


LISTINGS = (
    Listing("ec2", "VPC", "describe_vpcs", "Vpcs", "VpcId", counts=_not_default("IsDefault")),
    Listing("ec2", "subnet", "describe_subnets", "Subnets", "SubnetId", counts=_not_default("DefaultForAz")),
    Listing("ec2", "internet gateway", "describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    Listing("ec2", "NAT gateway", "describe_nat_gateways", "NatGateways", "NatGatewayId", counts=_standing),
    Listing("ec2", "elastic IP", "describe_addresses", "Addresses", "AllocationId"),
    Listing("ec2", "route table", "describe_route_tables", "RouteTables", "RouteTableId"),
    Listing("ec2", "security group", "describe_security_groups", "SecurityGroups", "GroupId"),
    Listing("ec2", "VPC endpoint", "describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", counts=_standing),
    Listing("ec2", "flow log", "describe_flow_logs", "FlowLogs", "FlowLogId"),
    Listing("ec2", "network interface", "describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId"),
    Listing("ec2", "launch template", "describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
    Listing("ec2", "volume", "describe_volumes", "Volumes", "VolumeId"),
    Listing("eks", "EKS cluster", "list_clusters", "clusters"),
    Listing("efs", "file system", "describe_file_systems", "FileSystems", "FileSystemId"),
    Listing("efs", "access point", "describe_access_points", "AccessPoints", "AccessPointId"),
    Listing("sqs", "queue", "list_queues", "QueueUrls"),
    Listing("events", "EventBridge rule", "list_rules", "Rules", "Name"),
    Listing("logs", "log group", "describe_log_groups", "logGroups", "logGroupName"),
    Listing("kms", "KMS key", "list_keys", "Keys", "KeyId"),
    Listing("s3", "bucket", "list_buckets", "Buckets", "Name", is_global=True),
    Listing("sns", "topic", "list_topics", "Topics", "TopicArn"),
    Listing("secretsmanager", "secret", "list_secrets", "SecretList", "Name"),
    Listing("cloudwatch", "alarm", "describe_alarms", "MetricAlarms", "AlarmName"),
    Listing("iam", "role", "list_roles", "Roles", "RoleName", counts=_not_of_aws, is_global=True),
    Listing("iam", "policy", "list_policies", "Policies", "PolicyName", {"Scope": "Local"}, is_global=True),
    Listing(
        "iam", "instance profile", "list_instance_profiles", "InstanceProfiles", "InstanceProfileName", is_global=True
    ),
    Listing(
        *("iam", "OIDC provider", "list_open_id_connect_providers", "OpenIDConnectProviderList", "Arn"), is_global=True
    ),
)


class Account:
    """The account in the sandbox's AWS."""

    def __init__(self, endpoint: str) -> None:
        """Speak to the server at ``endpoint`` only, whatever the user's own settings say."""
        self._endpoint = endpoint
        self._session = boto3.Session(aws_access_key_id="sandbox", aws_secret_access_key="sandbox")  # noqa: S106 - moto takes any

    def client(self, service: str, region: str) -> Any:  # noqa: ANN401 - the service is only known at run time
        """Return boto3's client of one service."""
        return self._session.client(service, region_name=region, endpoint_url=self._endpoint)  # type: ignore[call-overload]  # as above

    def contents(self, regions: Iterable[str]) -> list[str]:
        """Return what somebody made in the account, one line each (``us-east-1 VPC vpc-1``), sorted."""
        found: set[str] = set()
        for number, region in enumerate(sorted(set(regions))):
            found.update(self._in_region(region, with_global=number == 0))
        return sorted(found)

    def _in_region(self, region: str, *, with_global: bool) -> Iterator[str]:
        ours = [listing for listing in LISTINGS if with_global or not listing.is_global]
        clients = {service: self.client(service, region) for service in {listing.service for listing in ours}}
        ignored = _belongings_of_the_default_network(clients["ec2"]) | _keys_of_aws(clients["kms"])
        for listing in ours:
            where = "global" if listing.is_global else region
            for name in _names(clients[listing.service], listing):
                if name not in ignored:
                    yield f"{where} {listing.kind} {name}"


def regions(checkout: Checkout) -> set[str]:
    """Return the regions of all stacks that were ever opened in a sandbox, and the default one."""
    files = checkout.config.glob("*/Pulumi.*.yaml")
    named = {
        found for file in files for found in re.findall(r"aws:region[\"']?:\s*[\"']?([a-z0-9-]+)", file.read_text())
    }
    return named | {REGION}


def _names(client: Any, listing: Listing) -> Iterator[str]:  # noqa: ANN401 - a client of any service
    arguments = listing.arguments or {}
    if client.can_paginate(listing.operation):
        pages = client.get_paginator(listing.operation).paginate(**arguments)
    else:
        pages = [getattr(client, listing.operation)(**arguments)]
    for page in pages:
        for item in page.get(listing.result, ()):
            if not listing.identity:
                yield str(item)
            elif listing.counts(item):
                yield str(item[listing.identity])


def _belongings_of_the_default_network(ec2: Any) -> set[str]:  # noqa: ANN401 - boto3 makes its clients at run time
    """Return what every account has in each region, and the main route table and default group of each VPC."""
    default = {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"] if vpc["IsDefault"]}
    ignored: set[str] = set()
    for table in ec2.describe_route_tables()["RouteTables"]:
        if table["VpcId"] in default:
            ignored.add(table["RouteTableId"])
    for group in ec2.describe_security_groups()["SecurityGroups"]:
        if group["VpcId"] in default and group["GroupName"] == "default":
            ignored.add(group["GroupId"])
    for gateway in ec2.describe_internet_gateways()["InternetGateways"]:
        if {attachment["VpcId"] for attachment in gateway["Attachments"]} & default:
            ignored.add(gateway["InternetGatewayId"])
    return ignored


def _keys_of_aws(kms: Any) -> set[str]:  # noqa: ANN401 - boto3 makes its clients at run time
    """Return the keys AWS keeps for its services (``alias/aws/...``), and those that wait for their deletion."""
    aliases = kms.list_aliases()["Aliases"]
    ignored = {
        alias["TargetKeyId"]
        for alias in aliases
        if alias["AliasName"].startswith("alias/aws/") and "TargetKeyId" in alias
    }
    for key in kms.list_keys()["Keys"]:
        if kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] == "PendingDeletion":
            ignored.add(key["KeyId"])
    return ignored
