"""From the engine's analyzer requests to plain resources.

Each request is turned into plain data once, for all rules. Secrets arrive in clear and are unwrapped: a rule must
never put a value into a message that could be one.
"""

from __future__ import annotations

from typing import Final

from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import proxy

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies.resource import Resource

_UNKNOWN: Final = frozenset(
    {
        proxy.UNKNOWN_BOOLEAN_VALUE,
        proxy.UNKNOWN_NUMBER_VALUE,
        proxy.UNKNOWN_STRING_VALUE,
        proxy.UNKNOWN_ARRAY_VALUE,
        proxy.UNKNOWN_ASSET_VALUE,
        proxy.UNKNOWN_ARCHIVE_VALUE,
        proxy.UNKNOWN_OBJECT_VALUE,
    }
)
"""Strings that stand for values of each type that are not known yet."""

# The marks by which the engine tells special values from maps (sdk/go/common/resource/properties.go, the same in
# every version). A resource reference becomes its URN, as in a program's own inputs.
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a type mark, not a password
_REFERENCE: Final = "5cf8f73096256a8f31e491e813e4eb8e"


def program_resource(request: analyzer_pb2.AnalyzeRequest) -> Resource:
    """Return the resource of an ``Analyze`` request: inputs, but no dependencies yet."""
    return Resource(
        urn=request.urn,
        type=request.type,
        name=request.name,
        props=properties(request.properties),
        parent=request.options.parent or None,
        create_timeout_seconds=request.options.customTimeouts.create or None,
    )


def stack_resource(item: analyzer_pb2.AnalyzerResource, seen: Resource | None) -> Resource:
    """Return a resource of an ``AnalyzeStack`` request, with the inputs of ``seen`` where it was analysed before.

    The request itself carries outputs: nothing at all for Kubernetes objects whose provider is not configured yet,
    and resolved values, such as a node group's release, in the place of what the program left open.
    """
    return Resource(
        urn=item.urn,
        type=item.type,
        name=item.name,
        props=properties(item.properties) if seen is None else seen.props,
        parent=item.parent or None,
        dependencies=frozenset(item.dependencies),
        property_dependencies={key: frozenset(value.urns) for key, value in item.propertyDependencies.items()},
        create_timeout_seconds=item.options.customTimeouts.create or (seen and seen.create_timeout_seconds) or None,
    )


def properties(struct: struct_pb2.Struct) -> dict[str, object]:
    """Return a resource's properties as plain data."""
    return {key: _plain(value) for key, value in struct.fields.items()}


def _plain(value: struct_pb2.Value) -> object:
    match value.WhichOneof("kind"):
        case "struct_value":
            return _mapping(value.struct_value)
        case "list_value":
            return [_plain(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            return UNKNOWN if value.string_value in _UNKNOWN else value.string_value
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _mapping(struct: struct_pb2.Struct) -> object:
    fields = struct.fields
    if _SIGNATURE not in fields:
        return properties(struct)
    mark = fields[_SIGNATURE].string_value
    if mark == _SECRET:
        return _plain(fields["value"])
    if mark == _REFERENCE:
        return fields["urn"].string_value
    return {key: _plain(value) for key, value in fields.items() if key != _SIGNATURE}
