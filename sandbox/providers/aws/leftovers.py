"""What is left in moto after everything was destroyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sandbox.providers.aws.api import Api

# EC2 resources by what lists them: operation, key and id.
_EC2_LISTS: Final = (
    ("describe_vpcs", "Vpcs", "VpcId"),
    ("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    ("describe_nat_gateways", "NatGateways", "NatGatewayId"),
    ("describe_addresses", "Addresses", "AllocationId"),
    ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    ("describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
    ("describe_subnets", "Subnets", "SubnetId"),
    ("describe_route_tables", "RouteTables", "RouteTableId"),
    ("describe_security_groups", "SecurityGroups", "GroupId"),
)
_GONE: Final = ("deleted", "deleting")


def leftovers(endpoint: str, region: str) -> list[str]:
    """Return the ids of what remains in the moto server at `endpoint` beyond what it starts with.

    Keys that are scheduled for deletion are gone, as in AWS. All kinds are looked at that the stand-in creates.
    """
    api = Api(region, endpoint)
    return sorted({*_ec2(api), *_iam(api), *_eks(api), *_others(api)})


def _ec2(api: Api) -> Iterator[str]:
    defaults = {vpc["VpcId"] for vpc in api.call("ec2", "describe_vpcs")["Vpcs"] if vpc.get("IsDefault")}
    for operation, key, id_ in _EC2_LISTS:
        for each in api.call("ec2", operation)[key]:
            if _remains(each, defaults):
                yield str(each[id_])


def _remains(resource: dict[str, Any], default_vpcs: set[str]) -> bool:
    if str(resource.get("State", "")).lower() in _GONE:
        return False
    attached = {attachment.get("VpcId") for attachment in resource.get("Attachments", ())}
    return not ({resource.get("VpcId"), *attached} & default_vpcs)


def _iam(api: Api) -> Iterator[str]:
    lists: tuple[tuple[str, str, str, dict[str, str]], ...] = (
        ("list_roles", "Roles", "Arn", {}),
        ("list_policies", "Policies", "Arn", {"Scope": "Local"}),
        ("list_instance_profiles", "InstanceProfiles", "Arn", {}),
    )
    for operation, key, id_, arguments in lists:
        for each in api.pages("iam", operation, key, **arguments):
            yield str(each[id_])
    for provider in api.call("iam", "list_open_id_connect_providers")["OpenIDConnectProviderList"]:
        yield str(provider["Arn"])


def _eks(api: Api) -> Iterator[str]:
    for cluster in api.pages("eks", "list_clusters", "clusters"):
        yield f"eks cluster {cluster}"
        for group in api.pages("eks", "list_nodegroups", "nodegroups", clusterName=cluster):
            yield f"eks node group {cluster}/{group}"


def _others(api: Api) -> Iterator[str]:
    for queue in api.call("sqs", "list_queues").get("QueueUrls", ()):
        yield str(queue)
    for rule in api.call("events", "list_rules")["Rules"]:
        yield str(rule["Arn"])
    for group in api.pages("logs", "describe_log_groups", "logGroups"):
        yield f"log group {group['logGroupName']}"
    for system in api.pages("efs", "describe_file_systems", "FileSystems"):
        yield str(system["FileSystemId"])
    for key in api.pages("kms", "list_keys", "Keys"):
        described = api.call("kms", "describe_key", KeyId=key["KeyId"])["KeyMetadata"]
        if described["KeyState"] != "PendingDeletion" and described["KeyManager"] == "CUSTOMER":
            yield str(key["KeyArn"])
    for alias in api.pages("kms", "list_aliases", "Aliases"):
        if not alias["AliasName"].startswith("alias/aws/"):
            yield str(alias["AliasName"])
