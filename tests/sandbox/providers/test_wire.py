from __future__ import annotations

from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st

from sandbox.providers.wire import UNKNOWN, Properties, contains_unknown, decode, encode

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270"}
OUTPUT = {SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"}
REFERENCE = {SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn:pulumi:a::b::c::d"}

names = st.text(min_size=1, max_size=8)
leaves = st.booleans() | st.integers(-(2**50), 2**50) | st.text(max_size=10) | st.just(UNKNOWN)
values = st.recursive(leaves, lambda each: st.lists(each, max_size=3) | st.dictionaries(names, each, max_size=3))


def struct(value: Properties) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(value)
    return made


@given(st.dictionaries(names, values, max_size=4))
def test_what_is_written_to_the_wire_is_read_back_equal(properties: Properties) -> None:
    assert decode(encode(properties)) == properties


def test_secrets_and_outputs_arrive_as_their_values() -> None:
    sent = {
        "secret": {**SECRET, "value": "s"},
        "known": {**OUTPUT, "value": 3, "dependencies": []},
        "unknown": {**OUTPUT, "dependencies": []},
    }

    assert decode(struct(sent)) == {"secret": "s", "known": 3, "unknown": UNKNOWN}


def test_a_resource_reference_arrives_as_its_id_or_else_its_urn() -> None:
    sent = {"custom": {**REFERENCE, "id": "vpc-1"}, "component": REFERENCE}

    assert decode(struct(sent)) == {"custom": "vpc-1", "component": "urn:pulumi:a::b::c::d"}


def test_null_and_none_mean_unset_in_both_directions() -> None:
    assert decode(struct({"a": None, "b": 1})) == {"b": 1}
    assert decode(encode({"a": None, "b": 1})) == {"b": 1}


def test_an_unknown_is_found_at_any_depth() -> None:
    assert contains_unknown({"a": [{"b": UNKNOWN}]})
    assert not contains_unknown({"a": [{"b": "UNKNOWN"}]})
