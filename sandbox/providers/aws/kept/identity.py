"""IAM: roles, policies, what ties them together, and OIDC providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import as_list, removed
from sandbox.providers.aws.names import name_on_create
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_IAM: Final = "iam"


def _last(arn_or_name: str) -> str:
    """Return the name of a role that was given by its name or its ARN."""
    return arn_or_name.rsplit("/", 1)[-1]


def _create_role(api: Api, inputs: Properties) -> Made:
    name = name_on_create(inputs)
    role = api.call(
        _IAM,
        "create_role",
        RoleName=name,
        AssumeRolePolicyDocument=inputs["assumeRolePolicy"],
        Path=inputs.get("path"),
        Description=inputs.get("description"),
        MaxSessionDuration=inputs.get("maxSessionDuration"),
        PermissionsBoundary=inputs.get("permissionsBoundary"),
        Tags=as_list(inputs.get("tags")),
    )["Role"]
    _attach_listed(api, name, inputs)
    return Made(name, {"name": name, **_role_outputs(role)})


def _attach_listed(api: Api, name: str, inputs: Properties) -> None:
    for arn in inputs.get("managedPolicyArns") or ():
        api.call(_IAM, "attach_role_policy", RoleName=name, PolicyArn=arn)
    for inline in inputs.get("inlinePolicies") or ():
        if inline.get("policy"):
            api.call(_IAM, "put_role_policy", RoleName=name, PolicyName=inline["name"], PolicyDocument=inline["policy"])


def _detach_listed(api: Api, name: str, inputs: Properties) -> None:
    for arn in inputs.get("managedPolicyArns") or ():
        with missing_ok():
            api.call(_IAM, "detach_role_policy", RoleName=name, PolicyArn=arn)
    for inline in inputs.get("inlinePolicies") or ():
        if inline.get("policy"):
            with missing_ok():
                api.call(_IAM, "delete_role_policy", RoleName=name, PolicyName=inline["name"])


def _role_outputs(role: Properties) -> Properties:
    outputs = {
        "arn": role["Arn"],
        "createDate": role["CreateDate"].isoformat(),
        "uniqueId": role["RoleId"],
        "path": role["Path"],
    }
    return {**outputs, "maxSessionDuration": role.get("MaxSessionDuration", 3600)}


def _read_role(api: Api, existing: Stored) -> Properties | None:
    role = found(api, _IAM, "get_role", "Role", RoleName=existing.id)
    return None if role is None else _role_outputs(role)


def _update_role(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    name = existing.id
    api.call(_IAM, "update_assume_role_policy", RoleName=name, PolicyDocument=new["assumeRolePolicy"])
    duration = new.get("maxSessionDuration")
    api.call(_IAM, "update_role", RoleName=name, Description=new.get("description"), MaxSessionDuration=duration)
    _detach_listed(api, name, old)
    _attach_listed(api, name, new)
    gone = removed(old, new)
    if gone:
        api.call(_IAM, "untag_role", RoleName=name, TagKeys=gone)
    api.call(_IAM, "tag_role", RoleName=name, Tags=as_list(new.get("tags")))
    return {}


def _delete_role(api: Api, existing: Stored) -> None:
    with missing_ok():
        _detach_listed(api, existing.id, existing.state)
        if existing.state.get("forceDetachPolicies"):
            for policy in api.pages(_IAM, "list_attached_role_policies", "AttachedPolicies", RoleName=existing.id):
                api.call(_IAM, "detach_role_policy", RoleName=existing.id, PolicyArn=policy["PolicyArn"])
        api.call(_IAM, "delete_role", RoleName=existing.id)


def _create_policy(api: Api, inputs: Properties) -> Made:
    policy = api.call(
        _IAM,
        "create_policy",
        PolicyName=name_on_create(inputs),
        PolicyDocument=inputs["policy"],
        Path=inputs.get("path"),
        Description=inputs.get("description"),
        Tags=as_list(inputs.get("tags")),
    )["Policy"]
    outputs = {"name": policy["PolicyName"], "path": policy["Path"], **_policy_outputs(policy)}
    return Made(policy["Arn"], outputs)


def _policy_outputs(policy: Properties) -> Properties:
    return {
        "arn": policy["Arn"],
        "policyId": policy["PolicyId"],
        "attachmentCount": policy.get("AttachmentCount", 0),
    }


def _read_policy(api: Api, existing: Stored) -> Properties | None:
    policy = found(api, _IAM, "get_policy", "Policy", PolicyArn=existing.id)
    return None if policy is None else _policy_outputs(policy)


def _update_policy(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    if old["policy"] != new["policy"]:
        _drop_old_versions(api, existing.id)
        document = new["policy"]
        api.call(_IAM, "create_policy_version", PolicyArn=existing.id, PolicyDocument=document, SetAsDefault=True)
    return {}


def _drop_old_versions(api: Api, arn: str) -> None:
    """Delete every version but the default one: IAM keeps five, and a policy goes only with its last."""
    for version in api.pages(_IAM, "list_policy_versions", "Versions", PolicyArn=arn):
        if not version["IsDefaultVersion"]:
            api.call(_IAM, "delete_policy_version", PolicyArn=arn, VersionId=version["VersionId"])


def _delete_policy(api: Api, existing: Stored) -> None:
    with missing_ok():
        _drop_old_versions(api, existing.id)
        api.call(_IAM, "delete_policy", PolicyArn=existing.id)


def _create_attachment(api: Api, inputs: Properties) -> Made:
    role = _last(inputs["role"])
    api.call(_IAM, "attach_role_policy", RoleName=role, PolicyArn=inputs["policyArn"])
    return Made(f"{role}/{inputs['policyArn']}")


def _read_attachment(api: Api, existing: Stored) -> Properties | None:
    role, arn = _last(existing.state["role"]), existing.state["policyArn"]
    if found(api, _IAM, "get_role", "Role", RoleName=role) is None:
        return None
    attached = api.pages(_IAM, "list_attached_role_policies", "AttachedPolicies", RoleName=role)
    return {} if any(policy["PolicyArn"] == arn for policy in attached) else None


def _delete_attachment(api: Api, existing: Stored) -> None:
    role, arn = _last(existing.state["role"]), existing.state["policyArn"]
    with missing_ok():
        api.call(_IAM, "detach_role_policy", RoleName=role, PolicyArn=arn)


def _create_role_policy(api: Api, inputs: Properties) -> Made:
    role, name = _last(inputs["role"]), name_on_create(inputs)
    api.call(_IAM, "put_role_policy", RoleName=role, PolicyName=name, PolicyDocument=inputs["policy"])
    return Made(f"{role}:{name}", {"name": name})


def _read_role_policy(api: Api, existing: Stored) -> Properties | None:
    role, name = existing.id.split(":", 1)
    policy = found(api, _IAM, "get_role_policy", "PolicyName", RoleName=role, PolicyName=name)
    return None if policy is None else {}


def _update_role_policy(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del old
    role, name = existing.id.split(":", 1)
    api.call(_IAM, "put_role_policy", RoleName=role, PolicyName=name, PolicyDocument=new["policy"])
    return {}


def _delete_role_policy(api: Api, existing: Stored) -> None:
    role, name = existing.id.split(":", 1)
    with missing_ok():
        api.call(_IAM, "delete_role_policy", RoleName=role, PolicyName=name)


def _create_profile(api: Api, inputs: Properties) -> Made:
    name = name_on_create(inputs)
    tags = as_list(inputs.get("tags"))
    profile = api.call(_IAM, "create_instance_profile", InstanceProfileName=name, Path=inputs.get("path"), Tags=tags)[
        "InstanceProfile"
    ]
    _set_profile_role(api, name, None, inputs.get("role"))
    outputs = {"name": name, "path": profile["Path"], "role": inputs.get("role", "")}
    return Made(name, {**outputs, **_profile_outputs(profile)})


def _set_profile_role(api: Api, name: str, before: str | None, after: str | None) -> None:
    if before and before != after:
        with missing_ok():
            api.call(_IAM, "remove_role_from_instance_profile", InstanceProfileName=name, RoleName=_last(before))
    if after and before != after:
        api.call(_IAM, "add_role_to_instance_profile", InstanceProfileName=name, RoleName=_last(after))


def _profile_outputs(profile: Properties) -> Properties:
    return {
        "arn": profile["Arn"],
        "createDate": profile["CreateDate"].isoformat(),
        "uniqueId": profile["InstanceProfileId"],
    }


def _read_profile(api: Api, existing: Stored) -> Properties | None:
    profile = found(api, _IAM, "get_instance_profile", "InstanceProfile", InstanceProfileName=existing.id)
    return None if profile is None else _profile_outputs(profile)


def _update_profile(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    _set_profile_role(api, existing.id, old.get("role"), new.get("role"))
    return {}


def _delete_profile(api: Api, existing: Stored) -> None:
    with missing_ok():
        _set_profile_role(api, existing.id, existing.state.get("role"), None)
        api.call(_IAM, "delete_instance_profile", InstanceProfileName=existing.id)


def _create_oidc(api: Api, inputs: Properties) -> Made:
    arn = api.call(
        _IAM,
        "create_open_id_connect_provider",
        Url=inputs["url"],
        ClientIDList=inputs.get("clientIdLists"),
        ThumbprintList=inputs.get("thumbprintLists"),
        Tags=as_list(inputs.get("tags")),
    )["OpenIDConnectProviderArn"]
    return Made(arn, {"arn": arn, "thumbprintLists": inputs.get("thumbprintLists") or []})


def _read_oidc(api: Api, existing: Stored) -> Properties | None:
    arn = existing.id
    url = found(api, _IAM, "get_open_id_connect_provider", "Url", OpenIDConnectProviderArn=arn)
    return None if url is None else {}


def _delete_oidc(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_IAM, "delete_open_id_connect_provider", OpenIDConnectProviderArn=existing.id)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:iam/role:Role": Kept(_create_role, _read_role, _delete_role, _update_role),
    "aws:iam/policy:Policy": Kept(_create_policy, _read_policy, _delete_policy, _update_policy),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Kept(_create_attachment, _read_attachment, _delete_attachment),
    "aws:iam/rolePolicy:RolePolicy": Kept(
        _create_role_policy, _read_role_policy, _delete_role_policy, _update_role_policy
    ),
    "aws:iam/instanceProfile:InstanceProfile": Kept(_create_profile, _read_profile, _delete_profile, _update_profile),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Kept(_create_oidc, _read_oidc, _delete_oidc),
}
