"""What a killed engine was in the middle of: deletions are finished, and creations without a tag undone.

The engine notes each operation in the state before it begins it. A refresh drops these notes, so that they are followed
before it.

A deletion that was begun may have taken away half of a thing: a role's policies, a gateway's attachment. A refresh
finds what remains of it and takes it for the whole, so that it is deleted to the end instead.

A creation that was begun may have made something. If it can bear a tag it is found by that; what cannot is found by the
inputs it was made from, such as the route to a destination in a table, and is taken away, or the next attempt would be
refused because it is there. An update of some of these is a deletion and a creation, and is treated alike. What makes
itself undone needs nothing: policies of queues and file systems are properties of them, written anew by the next
attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.leftovers.states import Operation, Recorded
from sandbox.providers.aws.api import Api
from sandbox.providers.aws.kept import kept
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.messaging import target_id
from sandbox.providers.stand_in import StandInError, Stored

_Inputs = Mapping[str, Any]
_Undone = Callable[[Api, str, _Inputs], list[str]]


@dataclass(frozen=True, slots=True)
class Untagged:
    """A type whose resources are known by their inputs."""

    word: str
    """What people call one of them."""
    names: tuple[str, ...]
    """The inputs that together name one."""
    undo: _Undone
    """Removes the one made from some inputs; tells the ids of what it removed."""


def apis(endpoint: str) -> Callable[[str], Api]:
    """Return what gives the API of a region; each has its clients, which take time to make."""
    known: dict[str, Api] = {}
    return lambda region: known.setdefault(region, Api(region, endpoint))


def finish_deletions(endpoint: str, operations: Iterable[Operation]) -> None:
    """Delete to the end what was being deleted; what refuses is left to the refresh and the next attempt."""
    api_of = apis(endpoint)
    for operation in operations:
        keeper = kept(operation.token)
        if operation.action != "deleting" or keeper is None:
            continue
        try:
            keeper.delete(
                api_of(operation.region), Stored(operation.id, dict(operation.outputs), dict(operation.inputs))
            )
        except StandInError as refusal:
            print(f"not deleted to the end: {operation.region} {_name(operation.token)} {operation.id} ({refusal})")


def undo_creations(endpoint: str, operations: Iterable[Operation], recorded: Recorded) -> None:
    """Take away what was being created, cannot bear a tag, and is in no state."""
    api_of = apis(endpoint)
    for operation in operations:
        kind = UNTAGGED.get(operation.token)
        if kind is None or operation.action not in {"creating", "updating"}:
            continue
        if recorded.holds(operation.token, operation.inputs, kind.names):
            continue
        try:
            undone = kind.undo(api_of(operation.region), operation.token, operation.inputs)
        except StandInError as refusal:
            print(f"not removed: {operation.region} {kind.word} ({refusal})")
            continue
        for id_ in undone:
            print(f"removed {operation.region} {kind.word} {id_} (left by an interrupted run)")


def _name(token: str) -> str:
    return token.rpartition(":")[2]


def _by_inputs(id_of: Callable[[_Inputs], str]) -> _Undone:
    """Undo a creation whose inputs alone tell the keeper what was made; without an id they do not."""

    def undo(api: Api, token: str, inputs: _Inputs) -> list[str]:
        keeper, made = kept(token), Stored(id_of(inputs), dict(inputs))
        if keeper is None or not made.id or keeper.read(api, made) is None:
            return []
        keeper.delete(api, made)
        return [made.id]

    return undo


def _joined(*names: str, by: str = " ") -> Callable[[_Inputs], str]:
    return lambda inputs: by.join(str(inputs[name]) for name in names if inputs.get(name))


def _undo_mount_target(api: Api, token: str, inputs: _Inputs) -> list[str]:
    del token
    ours: list[str] = []
    with missing_ok():
        for target in api.pages("efs", "describe_mount_targets", "MountTargets", FileSystemId=inputs["fileSystemId"]):
            if target["SubnetId"] == inputs["subnetId"]:
                api.call("efs", "delete_mount_target", MountTargetId=target["MountTargetId"])
                ours.append(target["MountTargetId"])
    return ours


def _undo_rule(api: Api, token: str, inputs: _Inputs) -> list[str]:
    """Revoke a rule of a security group; its id is known to nobody, so that it is seen by what is missing then."""
    before = set(_rules(api, inputs["securityGroupId"]))
    keeper = kept(token)
    if keeper is not None:
        keeper.delete(api, Stored("", dict(inputs)))
    return sorted(before - set(_rules(api, inputs["securityGroupId"])))


def _rules(api: Api, group: str) -> Iterator[str]:
    filters = [{"Name": "group-id", "Values": [group]}]
    for rule in api.pages("ec2", "describe_security_group_rules", "SecurityGroupRules", Filters=filters):
        yield rule["SecurityGroupRuleId"]


def _undo_alias(api: Api, token: str, inputs: _Inputs) -> list[str]:
    """Delete an alias if it is of the key that it was to be for: somebody else may have one of the same name."""
    key = found(api, "kms", "describe_key", "KeyMetadata", KeyId=inputs.get("name", "alias/"))
    if key is None or inputs["targetKeyId"] not in {key["KeyId"], key["Arn"]}:
        return []
    return _by_inputs(_joined("name"))(api, token, inputs)


def _undo_target(api: Api, token: str, inputs: _Inputs) -> list[str]:
    asked = {**inputs, "targetId": target_id(inputs)}
    return _by_inputs(_joined("rule", "targetId"))(api, token, asked)


def _role_and(name: str, *, by: str) -> Callable[[_Inputs], str]:
    def id_of(inputs: _Inputs) -> str:
        return f"{str(inputs['role']).rpartition('/')[2]}{by}{inputs[name]}" if inputs.get(name) else ""

    return id_of


_ROUTE: Final = ("routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")
_RULE: Final = (
    *("securityGroupId", "type", "protocol", "fromPort", "toPort", "cidrBlocks", "ipv6CidrBlocks", "prefixListIds"),
    *("self", "sourceSecurityGroupId"),
)
_SINGLE_RULE: Final = (
    *("securityGroupId", "ipProtocol", "fromPort", "toPort", "cidrIpv4", "cidrIpv6", "prefixListId"),
    "referencedSecurityGroupId",
)

UNTAGGED: Final[Mapping[str, Untagged]] = {
    "aws:ec2/route:Route": Untagged("route", _ROUTE, _by_inputs(_joined(*_ROUTE))),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Untagged(
        "route table association",
        ("subnetId", "gatewayId"),
        _by_inputs(_joined("routeTableId", "subnetId", "gatewayId")),
    ),
    "aws:ec2/securityGroupRule:SecurityGroupRule": Untagged("security group rule", _RULE, _undo_rule),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Untagged(
        "security group rule", _SINGLE_RULE, _undo_rule
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Untagged(
        "security group rule", _SINGLE_RULE, _undo_rule
    ),
    "aws:efs/mountTarget:MountTarget": Untagged("mount target", ("fileSystemId", "subnetId"), _undo_mount_target),
    "aws:cloudwatch/eventTarget:EventTarget": Untagged(
        "target of a rule", ("rule", "eventBusName", "targetId", "arn"), _undo_target
    ),
    "aws:iam/rolePolicy:RolePolicy": Untagged(
        "policy of a role", ("role", "name"), _by_inputs(_role_and("name", by=":"))
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Untagged(
        "policy attachment", ("role", "policyArn"), _by_inputs(_role_and("policyArn", by="/"))
    ),
    "aws:kms/alias:Alias": Untagged("alias of a key", ("name",), _undo_alias),
}
"""Every type kept in moto whose creation may leave something that bears no tag and that stands in the way."""
