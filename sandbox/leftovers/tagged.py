"""What bears the tag of a stack.

The Resource Groups Tagging API is asked first: of the real AWS it would be enough for nearly everything. moto's knows
neither EKS, EventBridge and IAM nor some of EC2's kinds, whose own operations are asked beside it.

Not everything in AWS can bear a tag. Routes, associations of route tables, mount targets, targets of rules, aliases of
keys, inline policies and attachments of policies cannot, and the rules of security groups get none from the stand-ins.
Those go with what they belong to, or are found by what the engine noted (`sandbox.leftovers.interruptions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from eks_gpu.facts import tags as tag_keys
from sandbox.leftovers.kinds import Leftover, by_arn
from sandbox.providers.aws.account import arn
from sandbox.providers.aws.api import Api, ApiError

_Tags = Iterable[Mapping[str, str]] | Mapping[str, str] | None

_IAM: Final = (
    ("list_roles", "Roles", "get_role", "Role", "RoleName"),
    ("list_instance_profiles", "InstanceProfiles", "get_instance_profile", "InstanceProfile", "InstanceProfileName"),
)
"""IAM's kinds whose lists leave the tags out and whose single answers have them."""


def with_tag(api: Api, stack: str, *, and_global: bool) -> list[Leftover]:
    """Return what bears the stack's tag in the API's region, and ``and_global`` in none, sorted.

    Things that are gone may be among it: AWS lists some of them for a while.
    """
    found = {*_by_tagging_api(api, stack), *_in_ec2(api, stack), *_in_eks(api, stack), *_in_events(api, stack)}
    if and_global:
        found |= set(_in_iam(api, stack))
    unique = {(each.region, each.kind.token, each.id): each for each in map(by_arn, sorted(found))}
    return [unique[key] for key in sorted(unique)]


def without_cluster(api: Api) -> list[Leftover]:
    """Return the security groups that EKS made for clusters which are gone.

    EKS takes such a group away together with its cluster. The stand-in does it with a second call to moto, and may be
    killed before.
    """
    key = tag_keys.EKS_CLUSTER
    groups = api.pages(
        "ec2", "describe_security_groups", "SecurityGroups", Filters=[{"Name": "tag-key", "Values": [key]}]
    )
    clusters = set(api.pages("eks", "list_clusters", "clusters")) if groups else set()
    return [by_arn(_ec2(api, group["GroupId"])) for group in groups if _value(group["Tags"], key) not in clusters]


def _by_tagging_api(api: Api, stack: str) -> Iterator[str]:
    for each in api.pages(
        "resourcegroupstaggingapi",
        "get_resources",
        "ResourceTagMappingList",
        TagFilters=[{"Key": tag_keys.STACK, "Values": [stack]}],
    ):
        yield each["ResourceARN"]


def _in_ec2(api: Api, stack: str) -> Iterator[str]:
    filters = [{"Name": "key", "Values": [tag_keys.STACK]}, {"Name": "value", "Values": [stack]}]
    for each in api.pages("ec2", "describe_tags", "Tags", Filters=filters):
        yield _ec2(api, each["ResourceId"])


def _ec2(api: Api, id_: str) -> str:
    return arn("ec2", f"resource/{id_}", api.region)


def _in_eks(api: Api, stack: str) -> Iterator[str]:
    for name in api.pages("eks", "list_clusters", "clusters"):
        cluster = _answer(api, "eks", "describe_cluster", name=name).get("cluster", {})
        if _bears(cluster.get("tags"), stack):
            yield cluster["arn"]
        for group in api.pages("eks", "list_nodegroups", "nodegroups", clusterName=name):
            asked = {"clusterName": name, "nodegroupName": group}
            known = _answer(api, "eks", "describe_nodegroup", **asked).get("nodegroup", {})
            if _bears(known.get("tags"), stack):
                yield known["nodegroupArn"]


def _in_events(api: Api, stack: str) -> Iterator[str]:
    for rule in api.pages("events", "list_rules", "Rules"):
        if _bears(_answer(api, "events", "list_tags_for_resource", ResourceARN=rule["Arn"]).get("Tags"), stack):
            yield rule["Arn"]


def _in_iam(api: Api, stack: str) -> Iterator[str]:
    for listed, key, described, single, name in _IAM:
        for each in api.pages("iam", listed, key):
            found = _answer(api, "iam", described, **{name: each[name]}).get(single, {})
            if _bears(found.get("Tags"), stack):
                yield each["Arn"]
    for policy in api.pages("iam", "list_policies", "Policies", Scope="Local"):
        if _bears(_answer(api, "iam", "list_policy_tags", PolicyArn=policy["Arn"]).get("Tags"), stack):
            yield policy["Arn"]
    for provider in api.call("iam", "list_open_id_connect_providers")["OpenIDConnectProviderList"]:
        asked = {"OpenIDConnectProviderArn": provider["Arn"]}
        if _bears(_answer(api, "iam", "list_open_id_connect_provider_tags", **asked).get("Tags"), stack):
            yield provider["Arn"]


def _answer(api: Api, service: str, operation: str, **arguments: object) -> Mapping[str, Any]:
    """Return what an operation tells of one thing that was listed just now; nothing if it is gone meanwhile."""
    try:
        return api.call(service, operation, **arguments)
    except ApiError as error:
        if error.gone:
            return {}
        raise


def _bears(tags: _Tags, stack: str) -> bool:
    return _value(tags, tag_keys.STACK) == stack


def _value(tags: _Tags, key: str) -> str | None:
    """Return the value of a tag in either of the forms that services have: a map, or a list of keys and values."""
    if isinstance(tags, Mapping):
        return tags.get(key)
    return next((tag["Value"] for tag in tags or () if tag["Key"] == key), None)
