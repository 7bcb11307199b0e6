"""Outputs that a real AWS would give and moto does not: made up, and marked as such.

A made-up text begins with `sandbox:`, so that it is recognised wherever it turns up; ARNs and ids have the usual form.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from sandbox.providers.aws.account import ACCOUNT_ID, arn
from sandbox.providers.sdk import Kind, ResourceType
from sandbox.providers.wire import Properties

# The ids of resources that are kept only in state, as the real provider forms them; other ids are random.
_IDS: Final[Mapping[str, str]] = {
    "aws:eks/accessEntry:AccessEntry": "{clusterName}:{principalArn}",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": "{clusterName}#{principalArn}#{policyArn}",
    "aws:eks/addon:Addon": "{clusterName}:{addonName}",
    "aws:efs/backupPolicy:BackupPolicy": "{fileSystemId}",
}
_EMPTY: Final[Mapping[str, Any]] = {"integer": 0, "number": 0, "boolean": False, "list": [], "map": {}, "object": {}}


def identity(resource: ResourceType, inputs: Properties) -> str:
    """Return an id for a resource that is kept only in state."""
    template = _IDS.get(resource.token)
    if template is not None:
        return template.format_map(inputs)
    short = resource.token.rsplit(":", 1)[-1].lower()
    return f"{short}-{secrets.token_hex(8)}"


def missing_outputs(resource: ResourceType, known: Properties, id_: str, region: str) -> Properties:
    """Return a value for every output that is always there and that `known` does not have."""
    return {
        name: _value(resource, name, field.kind, id_, region)
        for name, field in resource.outputs.items()
        if field.required and known.get(name) is None
    }


def _value(resource: ResourceType, name: str, kind: Kind, id_: str, region: str) -> object:
    service = resource.token.split(":")[1].split("/")[0]
    short = resource.token.rsplit(":", 1)[-1].lower()
    if name in {"arn", f"{short}Arn"}:
        return arn(service, f"{short}/{id_}", region)
    if name == "ownerId":
        return ACCOUNT_ID
    if name == "associationId":
        return id_
    return _EMPTY.get(kind.word, f"sandbox:{short}:{name}")
