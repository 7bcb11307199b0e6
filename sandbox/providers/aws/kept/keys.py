"""KMS keys and their aliases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sandbox.providers.aws.account import arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import removed
from sandbox.providers.aws.names import name_on_create
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_KMS: Final = "kms"
_DEFAULT_WINDOW_DAYS: Final = 30


def _tags(inputs: Properties) -> list[dict[str, str]]:
    return [{"TagKey": key, "TagValue": value} for key, value in (inputs.get("tags") or {}).items()]


def _create_key(api: Api, inputs: Properties) -> Made:
    key = api.call(
        _KMS,
        "create_key",
        Description=inputs.get("description"),
        KeySpec=inputs.get("customerMasterKeySpec"),
        KeyUsage=inputs.get("keyUsage"),
        MultiRegion=inputs.get("multiRegion"),
        Policy=inputs.get("policy"),
        Tags=_tags(inputs) or None,
    )["KeyMetadata"]
    _switch_rotation(api, key["KeyId"], inputs)
    policy = api.call(_KMS, "get_key_policy", KeyId=key["KeyId"], PolicyName="default")["Policy"]
    computed = {
        "description": key["Description"],
        "multiRegion": key.get("MultiRegion", False),
    }
    return Made(key["KeyId"], {**computed, "arn": key["Arn"], "keyId": key["KeyId"], "policy": policy})


def _switch_rotation(api: Api, id_: str, inputs: Properties) -> None:
    wanted = inputs.get("enableKeyRotation")
    if wanted is not None:
        api.call(_KMS, "enable_key_rotation" if wanted else "disable_key_rotation", KeyId=id_)


def _read_key(api: Api, existing: Stored) -> Properties | None:
    key = found(api, _KMS, "describe_key", "KeyMetadata", KeyId=existing.id)
    return None if key is None or key["KeyState"] == "PendingDeletion" else {"arn": key["Arn"]}


def _update_key(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    _switch_rotation(api, existing.id, new)
    if new.get("description") != old.get("description"):
        api.call(_KMS, "update_key_description", KeyId=existing.id, Description=new.get("description", ""))
    if new.get("policy") and new["policy"] != old.get("policy"):
        api.call(_KMS, "put_key_policy", KeyId=existing.id, PolicyName="default", Policy=new["policy"])
    gone = removed(old, new)
    if gone:
        api.call(_KMS, "untag_resource", KeyId=existing.id, TagKeys=gone)
    if new.get("tags"):
        api.call(_KMS, "tag_resource", KeyId=existing.id, Tags=_tags(new))
    return {}


def _delete_key(api: Api, existing: Stored) -> None:
    """Schedule the deletion: like AWS, moto shows the key as pending until then."""
    days = existing.state.get("deletionWindowInDays") or _DEFAULT_WINDOW_DAYS
    with missing_ok():
        if _read_key(api, existing) is not None:
            api.call(_KMS, "schedule_key_deletion", KeyId=existing.id, PendingWindowInDays=days)


def _create_alias(api: Api, inputs: Properties) -> Made:
    name = name_on_create(inputs)
    key = inputs["targetKeyId"]
    api.call(_KMS, "create_alias", AliasName=name, TargetKeyId=key)
    target = api.call(_KMS, "describe_key", KeyId=key)["KeyMetadata"]["Arn"]
    return Made(name, {"name": name, "arn": arn(_KMS, name, api.region), "targetKeyArn": target})


def _read_alias(api: Api, existing: Stored) -> Properties | None:
    aliases = api.pages(_KMS, "list_aliases", "Aliases")
    return {} if any(alias["AliasName"] == existing.id for alias in aliases) else None


def _update_alias(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del old
    api.call(_KMS, "update_alias", AliasName=existing.id, TargetKeyId=new["targetKeyId"])
    target = api.call(_KMS, "describe_key", KeyId=new["targetKeyId"])["KeyMetadata"]["Arn"]
    return {"targetKeyArn": target}


def _delete_alias(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_KMS, "delete_alias", AliasName=existing.id)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:kms/key:Key": Kept(_create_key, _read_key, _delete_key, _update_key),
    "aws:kms/alias:Alias": Kept(_create_alias, _read_alias, _delete_alias, _update_alias),
}
