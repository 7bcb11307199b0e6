"""Properties between the engine's protobuf and plain Python.

Secrets and output values are unwrapped. Most stand-ins tell the engine that they take no secrets, and it then marks the
outputs that belong to a secret input by itself; one that builds components must take them, and gives them back marked.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final, TypeAlias

from google.protobuf import struct_pb2

Properties: TypeAlias = dict[str, Any]
"""Property names in camelCase to plain values; `UNKNOWN` stands for what is not known before deployment."""

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""The key by which a map on the wire says that it is a special value: a secret, an output, a resource, an asset."""

_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker of the wire format, not a password
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_RESOURCE: Final = "5cf8f73096256a8f31e491e813e4eb8e"

_UNKNOWN_STRING: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
# One sentinel per kind of value (pulumi sdk/go/common/resource/plugin/rpc.go, v3.259.0).
_UNKNOWNS: Final = frozenset(
    {
        _UNKNOWN_STRING,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)


class Unknown:
    """The type of `UNKNOWN`: equal to nothing but itself, and true, so that `if value` treats it as given."""

    def __repr__(self) -> str:
        """Show the marker by its name."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
"""A value that is not known yet, as in a preview."""


def decode(struct: struct_pb2.Struct) -> Properties:
    """Return the properties of `struct`; entries that are null are left out, as the engine treats them as unset."""
    return {key: _decoded(value) for key, value in struct.fields.items() if not value.HasField("null_value")}


def encode(properties: Mapping[str, Any], secrets: Container[str] = ()) -> struct_pb2.Struct:
    """Return `properties` for the wire, those named in `secrets` as secrets; a value of `None` is left out."""
    struct = struct_pb2.Struct()
    for key, value in properties.items():
        if value is not None:
            _write(struct.fields[key], {SIGNATURE: _SECRET, "value": value} if key in secrets else value)
    return struct


def secret_keys(*structs: struct_pb2.Struct) -> frozenset[str]:
    """Return the names of properties that are secret, or hold a secret anywhere."""
    return frozenset(key for struct in structs for key, value in struct.fields.items() if _holds_secret(value))


def _holds_secret(value: struct_pb2.Value) -> bool:
    fields = value.struct_value.fields
    if SIGNATURE in fields and fields[SIGNATURE].string_value == _SECRET:
        return True
    return any(_holds_secret(each) for each in (*fields.values(), *value.list_value.values))


def contains_unknown(value: object) -> bool:
    """Tell whether `value` is, or holds anywhere, something unknown."""
    if isinstance(value, dict):
        return any(contains_unknown(each) for each in value.values())
    if isinstance(value, list):
        return any(contains_unknown(each) for each in value)
    return value is UNKNOWN


def _decoded(value: struct_pb2.Value) -> Any:  # noqa: ANN401 - the wire carries any JSON value
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [_decoded(each) for each in value.list_value.values]
    if kind == "struct_value":
        return _unwrapped(decode(value.struct_value))
    return None


def _unwrapped(properties: Properties) -> Any:  # noqa: ANN401 - a wrapper may hold any JSON value
    signature = properties.get(SIGNATURE)
    if signature == _SECRET:
        return properties.get("value")
    if signature == _OUTPUT:
        return properties.get("value", UNKNOWN)
    if signature == _RESOURCE:
        return properties.get("id", properties["urn"])
    return properties


def _write(target: struct_pb2.Value, value: object) -> None:
    if value is None:
        target.null_value = struct_pb2.NULL_VALUE
    elif value is UNKNOWN:
        target.string_value = _UNKNOWN_STRING
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int | float):
        target.number_value = value
    elif isinstance(value, str):
        target.string_value = value
    elif isinstance(value, Mapping):
        target.struct_value.CopyFrom(encode(value))
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        for each in value:
            _write(target.list_value.values.add(), each)
    else:
        raise TypeError(f"a property cannot be of type {type(value).__name__}")
