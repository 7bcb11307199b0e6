"""Removing what is left over, in an order that works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from sandbox.leftovers.kinds import KINDS, Leftover
from sandbox.providers.aws.api import Api
from sandbox.providers.aws.kept import kept
from sandbox.providers.aws.kept.control_plane import looked_up
from sandbox.providers.aws.kept.lookup import missing_ok
from sandbox.providers.stand_in import StandInError, Stored
from sandbox.providers.wire import Properties

_ORDER: Final = {kind.token: place for place, kind in enumerate(KINDS)}


def still_there(api: Api, thing: Leftover) -> bool:
    """Tell whether something that a list named exists: AWS lists deleted gateways and keys for a while."""
    keeper = kept(thing.kind.token)
    return keeper is None or keeper.read(api, Stored(thing.id, {})) is not None


def remove(things: Iterable[Leftover], api_of: Callable[[Leftover], Api]) -> dict[Leftover, str]:
    """Remove the things, whatever of them uses whatever, and return what could not be removed, and why.

    What is used by others comes after these. Where that order is wrong, AWS refuses; what was refused is tried again
    for as long as anything else was removed.
    """
    left = sorted(things, key=lambda thing: (_ORDER.get(thing.kind.token, len(_ORDER)), thing.region, thing.id))
    while True:
        refused = {thing: reason for thing in left if (reason := _refusal(api_of(thing), thing))}
        if not refused or len(refused) == len(left):
            return refused
        left = list(refused)


def _refusal(api: Api, thing: Leftover) -> str:
    """Remove one thing and what is in it; return why it cannot be, or nothing if it was."""
    keeper = kept(thing.kind.token)
    if keeper is None:
        return "the sandbox has nothing that deletes its kind"
    try:
        keeper.delete(api, Stored(thing.id, _EMPTIED.get(thing.kind.token, _nothing)(api, thing)))
    except StandInError as refusal:
        return str(refusal)
    print(f"removed {thing} (left by an interrupted run)")
    return ""


def _nothing(_api: Api, _thing: Leftover) -> Properties:
    return {}


def _with_its_group(api: Api, thing: Leftover) -> Properties:
    """Return a cluster as its keeper wants it: with the security group that EKS made for it."""
    with missing_ok():
        return {"vpcConfig": looked_up(api, thing.id)["vpcConfig"]}
    return {}


def _without_mount_targets(api: Api, thing: Leftover) -> Properties:
    for target in api.pages("efs", "describe_mount_targets", "MountTargets", FileSystemId=thing.id):
        api.call("efs", "delete_mount_target", MountTargetId=target["MountTargetId"])
    return {}


def _without_targets(api: Api, thing: Leftover) -> Properties:
    between = thing.arn.split("/")[1:-1]
    bus = between[-1] if between else None
    targets = api.call("events", "list_targets_by_rule", Rule=thing.id, EventBusName=bus)["Targets"]
    if targets:
        ids = [target["Id"] for target in targets]
        api.call("events", "remove_targets", Rule=thing.id, EventBusName=bus, Ids=ids)
    return {"eventBusName": bus} if bus else {}


def _without_associations(api: Api, thing: Leftover) -> Properties:
    for table in api.call("ec2", "describe_route_tables", RouteTableIds=[thing.id])["RouteTables"]:
        for association in table["Associations"]:
            if not association["Main"]:
                api.call("ec2", "disassociate_route_table", AssociationId=association["RouteTableAssociationId"])
    return {}


def _without_policies(api: Api, thing: Leftover) -> Properties:
    for name in api.pages("iam", "list_role_policies", "PolicyNames", RoleName=thing.id):
        api.call("iam", "delete_role_policy", RoleName=thing.id, PolicyName=name)
    return {"forceDetachPolicies": True}


def _with_its_role(api: Api, thing: Leftover) -> Properties:
    profile = api.call("iam", "get_instance_profile", InstanceProfileName=thing.id)["InstanceProfile"]
    return {"role": next((role["RoleName"] for role in profile["Roles"]), None)}


_EMPTIED: Final[Mapping[str, Callable[[Api, Leftover], Properties]]] = {
    "aws:eks/cluster:Cluster": _with_its_group,
    "aws:efs/fileSystem:FileSystem": _without_mount_targets,
    "aws:cloudwatch/eventRule:EventRule": _without_targets,
    "aws:ec2/routeTable:RouteTable": _without_associations,
    "aws:iam/role:Role": _without_policies,
    "aws:iam/instanceProfile:InstanceProfile": _with_its_role,
}
"""What takes out of a thing whatever bears no tag and stands in its way, and returns it as its keeper wants it."""
