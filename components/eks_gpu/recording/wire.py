"""Between the engine's wire format (protobuf ``Struct``) and plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime import rpc

from eks_gpu.planning.unknown import UNKNOWN

# The marks by which the engine's protocol tells special values from maps. They are the same in every Pulumi SDK
# (sdk/go/common/resource/properties.go), but this SDK keeps them in private names.
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a type mark, not a password
_RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"


def plain(value: struct_pb2.Value) -> Any:  # noqa: ANN401 - JSON-like
    """Return ``value`` as plain Python: secrets unwrapped, whole floats as ints, unknowns as ``UNKNOWN``."""
    match value.WhichOneof("kind"):
        case "struct_value":
            return _mapping(value.struct_value)
        case "list_value":
            return [plain(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            return UNKNOWN if value.string_value == rpc.UNKNOWN else value.string_value
        case "bool_value":
            return value.bool_value
        case _:
            return None


def properties(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return the top-level properties of a resource as plain Python."""
    return {key: plain(struct.fields[key]) for key in sorted(struct.fields)}


def _mapping(struct: struct_pb2.Struct) -> Any:  # noqa: ANN401 - a special value can be anything
    fields = struct.fields
    if _SIGNATURE not in fields:
        return properties(struct)
    mark = fields[_SIGNATURE].string_value
    if mark == _SECRET:
        return plain(fields["value"])
    if mark == _RESOURCE:
        return fields["urn"].string_value
    return {key: plain(value) for key, value in fields.items() if key != _SIGNATURE}


def to_struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return plain ``values`` in the wire format, ``UNKNOWN`` included."""
    struct = struct_pb2.Struct()
    struct.update({key: _wire(value) for key, value in values.items()})
    return struct


def _wire(value: Any) -> Any:  # noqa: ANN401 - JSON-like
    if value is UNKNOWN:
        return rpc.UNKNOWN
    if isinstance(value, Mapping):
        return {key: _wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_wire(item) for item in value]
    return value
