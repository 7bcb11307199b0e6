"""Tags in the forms that the services want."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api


def as_list(tags: Properties | None) -> list[dict[str, Any]]:
    """Return tags as EC2 and IAM take them."""
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def specification(kind: str, inputs: Properties) -> list[dict[str, Any]] | None:
    """Return the tags of `inputs` as EC2 takes them on a create, for a resource of the given kind (`vpc`)."""
    tags = as_list(inputs.get("tags"))
    return [{"ResourceType": kind, "Tags": tags}] if tags else None


def removed(old: Properties, new: Properties) -> list[str]:
    """Return the keys that `new` no longer has among its tags."""
    return [key for key in old.get("tags") or {} if key not in (new.get("tags") or {})]


def update_ec2_tags(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    """Bring the tags of an EC2 resource up to date."""
    gone = removed(old, new)
    if gone:
        api.call("ec2", "delete_tags", Resources=[existing.id], Tags=[{"Key": key} for key in gone])
    tags = as_list(new.get("tags"))
    if tags:
        api.call("ec2", "create_tags", Resources=[existing.id], Tags=tags)
    return {}
