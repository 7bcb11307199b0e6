"""Security groups and their rules, in the three ways that the provider has to write a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sandbox.providers.aws.account import ACCOUNT_ID, arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import specification, update_ec2_tags
from sandbox.providers.aws.names import name_on_create
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_EC2: Final = "ec2"
_DIRECTIONS: Final = ("ingress", "egress")


def _create_group(api: Api, inputs: Properties) -> Made:
    description = inputs.get("description", "Managed by Pulumi")
    name = name_on_create(inputs)
    id_ = api.call(
        _EC2,
        "create_security_group",
        GroupName=name,
        Description=description,
        VpcId=inputs.get("vpcId"),
        TagSpecifications=specification("security-group", inputs),
    )["GroupId"]
    _revoke_all(api, id_, "egress")  # the real provider takes away the rule that AWS gives every new group
    for direction in _DIRECTIONS:
        _authorize(api, id_, direction, [_inline(rule, id_) for rule in inputs.get(direction) or ()])
    outputs = {"arn": arn(_EC2, f"security-group/{id_}", api.region), "ownerId": ACCOUNT_ID, "name": name}
    inline = {direction: inputs.get(direction) or [] for direction in _DIRECTIONS}
    return Made(id_, {**outputs, **inline, "description": description})


def _revoke_all(api: Api, id_: str, direction: str) -> None:
    group = found(api, _EC2, "describe_security_groups", "SecurityGroups", GroupIds=[id_]) or {}
    permissions = group.get("IpPermissions" if direction == "ingress" else "IpPermissionsEgress")
    if permissions:
        api.call(_EC2, f"revoke_security_group_{direction}", GroupId=id_, IpPermissions=permissions)


def _authorize(api: Api, id_: str, direction: str, permissions: list[dict[str, Any]]) -> list[Any]:
    if not permissions:
        return []
    answer = api.call(_EC2, f"authorize_security_group_{direction}", GroupId=id_, IpPermissions=permissions)
    return list(answer.get("SecurityGroupRules", ()))


def _inline(rule: Properties, group: str) -> dict[str, Any]:
    """Return a rule as the API takes it: one of a group's own list, or a SecurityGroupRule."""
    description = {"Description": rule["description"]} if rule.get("description") else {}
    groups = [*(rule.get("securityGroups") or ()), *([group] if rule.get("self") else ())]
    if rule.get("sourceSecurityGroupId"):
        groups.append(rule["sourceSecurityGroupId"])
    permission = {
        "IpProtocol": str(rule["protocol"]),
        "FromPort": rule["fromPort"],
        "ToPort": rule["toPort"],
        "IpRanges": [{"CidrIp": cidr, **description} for cidr in rule.get("cidrBlocks") or ()],
        "Ipv6Ranges": [{"CidrIpv6": cidr, **description} for cidr in rule.get("ipv6CidrBlocks") or ()],
        "PrefixListIds": [{"PrefixListId": id_, **description} for id_ in rule.get("prefixListIds") or ()],
        "UserIdGroupPairs": [{"GroupId": id_, **description} for id_ in groups],
    }
    return {key: value for key, value in permission.items() if value != []}


def _read_group(api: Api, existing: Stored) -> Properties | None:
    group = found(api, _EC2, "describe_security_groups", "SecurityGroups", GroupIds=[existing.id])
    return None if group is None else {"name": group["GroupName"], "description": group["Description"]}


def _update_group(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    for direction in _DIRECTIONS:
        if old.get(direction) != new.get(direction):
            _revoke_all(api, existing.id, direction)
            rules = [_inline(rule, existing.id) for rule in new.get(direction) or ()]
            _authorize(api, existing.id, direction, rules)
    return update_ec2_tags(api, existing, old, new)


def _delete_group(api: Api, existing: Stored) -> None:
    with missing_ok():
        if existing.state.get("revokeRulesOnDelete"):
            for direction in _DIRECTIONS:
                _revoke_all(api, existing.id, direction)
        api.call(_EC2, "delete_security_group", GroupId=existing.id)


def _create_rule(api: Api, inputs: Properties) -> Made:
    group = inputs["securityGroupId"]
    made = _authorize(api, group, inputs["type"], [_inline(inputs, group)])
    id_ = str(made[0]["SecurityGroupRuleId"])
    return Made(id_, {"securityGroupRuleId": id_})


def _read_rule(api: Api, existing: Stored) -> Properties | None:
    rules = found(api, _EC2, "describe_security_group_rules", "SecurityGroupRules", SecurityGroupRuleIds=[existing.id])
    return None if rules is None else {}


def _delete_rule(api: Api, existing: Stored) -> None:
    group = existing.state["securityGroupId"]
    with missing_ok():
        permissions = [_inline(existing.state, group)]
        operation = f"revoke_security_group_{existing.state['type']}"
        api.call(_EC2, operation, GroupId=group, IpPermissions=permissions)


def _single(direction: str) -> Kept:
    """Return the keeper of `vpc.SecurityGroupIngressRule` or `vpc.SecurityGroupEgressRule`."""

    def permission(rule: Properties) -> dict[str, Any]:
        description = {"Description": rule["description"]} if rule.get("description") else {}
        sources = {
            "IpRanges": ("CidrIp", rule.get("cidrIpv4")),
            "Ipv6Ranges": ("CidrIpv6", rule.get("cidrIpv6")),
            "PrefixListIds": ("PrefixListId", rule.get("prefixListId")),
            "UserIdGroupPairs": ("GroupId", rule.get("referencedSecurityGroupId")),
        }
        made: dict[str, Any] = {"IpProtocol": str(rule["ipProtocol"])}
        made |= {name: rule[key] for key, name in (("fromPort", "FromPort"), ("toPort", "ToPort")) if key in rule}
        return made | {key: [{name: value, **description}] for key, (name, value) in sources.items() if value}

    def create(api: Api, inputs: Properties) -> Made:
        made = _authorize(api, inputs["securityGroupId"], direction, [permission(inputs)])
        id_ = str(made[0]["SecurityGroupRuleId"])
        return Made(id_, {"securityGroupRuleId": id_, "arn": arn(_EC2, f"security-group-rule/{id_}", api.region)})

    def update(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
        """Write the rule again: the API changes a rule's source and ports in place, moto does not."""
        if permission(old) == permission(new):
            return update_ec2_tags(api, existing, old, new)
        delete(api, existing)
        made = _authorize(api, new["securityGroupId"], direction, [permission(new)])
        return {"securityGroupRuleId": str(made[0]["SecurityGroupRuleId"])}

    def read(api: Api, existing: Stored) -> Properties | None:
        return _read_rule(api, Stored(existing.state.get("securityGroupRuleId", existing.id), existing.state))

    def delete(api: Api, existing: Stored) -> None:
        with missing_ok():
            group = existing.state["securityGroupId"]
            permissions = [permission(existing.state)]
            api.call(_EC2, f"revoke_security_group_{direction}", GroupId=group, IpPermissions=permissions)

    return Kept(create, read, delete, update)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:ec2/securityGroup:SecurityGroup": Kept(_create_group, _read_group, _delete_group, _update_group),
    "aws:ec2/securityGroupRule:SecurityGroupRule": Kept(_create_rule, _read_rule, _delete_rule),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _single("ingress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _single("egress"),
}
