"""Which AWS resources get a physical name when the program gives none, and how long it may be."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sandbox.providers.sdk import ResourceType
from sandbox.providers.wire import Properties

DIGITS: Final = 7


@dataclass(frozen=True, slots=True)
class AutoName:
    """The property that takes the name, the most characters it holds, and what stands around the name."""

    field: str = "name"
    longest: int = 255
    prefix: str = ""
    suffix: str = ""


# Exceptions from `name` with 255 characters (pulumi-aws provider/resources.go, v7; AWS limits of the services' APIs).
_NAMES: Final[Mapping[str, AutoName]] = {
    "aws:cloudwatch/eventRule:EventRule": AutoName(longest=64),
    "aws:cloudwatch/logGroup:LogGroup": AutoName(longest=512),
    "aws:ec2/keyPair:KeyPair": AutoName("keyName"),
    "aws:ec2/launchTemplate:LaunchTemplate": AutoName(longest=128),
    "aws:eks/cluster:Cluster": AutoName(longest=100),
    "aws:eks/nodeGroup:NodeGroup": AutoName("nodeGroupName", longest=63),
    "aws:iam/instanceProfile:InstanceProfile": AutoName(longest=128),
    "aws:iam/policy:Policy": AutoName(longest=128),
    "aws:iam/role:Role": AutoName(longest=64),
    "aws:iam/rolePolicy:RolePolicy": AutoName(longest=128),
    "aws:kms/alias:Alias": AutoName(prefix="alias/"),
    "aws:s3/bucket:Bucket": AutoName("bucket", longest=63),
    "aws:sqs/queue:Queue": AutoName(longest=80),
}
_RANDOM_BYTES: Final = 13
"""What follows a prefix, written with two hexadecimal digits a byte: 26, as many as the real provider adds."""
_PREFIXED: Final = ("namePrefix", "nodeGroupNamePrefix", "bucketPrefix")


def auto_name(resource: ResourceType, inputs: Properties) -> AutoName | None:
    """Return how a resource is named, or None if it needs no name or has one, or the prefix of one."""
    naming = _NAMES.get(resource.token, AutoName())
    field = resource.inputs.get(naming.field)
    if field is None or field.required or field.kind.word != "string" or inputs.get(naming.field) is not None:
        return None
    if any(inputs.get(prefix) is not None for prefix in _PREFIXED):
        return None
    if inputs.get("fifoQueue") is True:
        return AutoName(naming.field, naming.longest, naming.prefix, ".fifo")
    return naming


def name_on_create(inputs: Properties, field: str = "name") -> str:
    """Return the name of a resource that is made now: the one given, or one that begins with the prefix given."""
    return str(inputs.get(field) or f"{inputs.get(f'{field}Prefix', '')}{secrets.token_hex(_RANDOM_BYTES)}")


def name_field(token: str) -> str:
    """Return the property that holds the physical name of a type."""
    return _NAMES.get(token, AutoName()).field
