from __future__ import annotations

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.settings import yaml_document
from eks_gpu.settings.problems import MalformedStackFileError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("~", None),
        ("", None),
        ("Null", None),
        ("nUll", "nUll"),
        ("12", 12),
        ("+12", 12),
        ("-3", -3),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("0", 0),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("1.35", 1.35),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1.2.3", "1.2.3"),
        ("v1", "v1"),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("0 3 * * *", "0 3 * * *"),
        ("2026-13", "2026-13"),
        ('"1.35"', "1.35"),
        ("'yes'", "yes"),
        ('"2026-12-31"', "2026-12-31"),
        ("99999999999999999999", 1e20),
    ],
)
def test_scalars_are_read_as_the_engine_reads_them(text: str, value: object) -> None:
    document = yaml_document.read(f"key: {text}\n", "file")
    assert (document.refused, document.rewritten) == ((), ())
    assert document.data == {"key": value}
    assert isinstance(document.data, dict)
    assert type(document.data["key"]) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-12-31", 'is the date 2026-12-31 without quotes, which the engine rewrites; write "2026-12-31"'),
        (
            "2026-12-31T10:00:00Z",
            'is the date 2026-12-31T10:00:00Z without quotes, which the engine rewrites; write "2026-12-31T10:00:00Z"',
        ),
        ("0755", "is a number 0755 with a leading zero, which the engine rewrites; write it in quotes"),
        (
            "012345678901",
            "is a number 012345678901 with a leading zero, which the engine rewrites; write it in quotes",
        ),
        (".inf", "is .inf; give a number"),
        ("!!binary aGVsbG8=", "has the tag tag:yaml.org,2002:binary; remove it, because settings are plain data"),
        ("!Ref x", "has the tag !Ref; remove it, because settings are plain data"),
    ],
)
def test_what_the_engine_would_rewrite_is_a_problem_with_its_place(text: str, message: str) -> None:
    (problem,) = yaml_document.read(f"a: 1\nkey: {text}\n", "file").rewritten
    assert str(problem) == f"key (line 2): {message}"


def test_a_number_that_may_be_a_secret_is_not_repeated() -> None:
    (problem,) = yaml_document.read("password: 0123\n", "file").rewritten
    assert "0123" not in str(problem)


def test_a_key_given_twice_is_a_problem_that_names_both_lines() -> None:
    document = yaml_document.read("a:\n  b: 1\n  c: 2\n  b: 3\n", "file")
    assert [str(problem) for problem in document.refused] == [
        "a.b (line 4): is given twice, first on line 2; remove one of the two"
    ]
    assert document.data == {"a": {"b": 1, "c": 2}}


@pytest.mark.parametrize("key", ["1", "1.5", "true", "~", "0755", "2026-01-01", ".inf", "01_"])
def test_a_key_that_is_no_text_is_a_problem(key: str) -> None:
    (problem,) = yaml_document.read(f"{key}: x\n", "file").rewritten
    assert problem.message == f'the key {key} is no text; write it in quotes: "{key}"'


def test_merged_keys_give_way_to_those_that_stand_there() -> None:
    text = "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\nmerged:\n  <<: [*base, *other]\n  a: 9\n"
    document = yaml_document.read(text, "file")
    assert isinstance(document.data, dict)
    assert document.data["merged"] == {"a": 9, "b": 2, "c": 4}


def test_values_know_their_lines_and_numbers_how_they_were_written() -> None:
    document = yaml_document.read("a:\n  - x\n  - b: 1.30\n", "file")
    assert document.lines[("a",)] == 1
    assert document.lines[("a", 0)] == 2
    assert document.lines[("a", 1, "b")] == 3
    assert document.written == {("a", 1, "b"): "1.30"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "file is not YAML: expected ',' or ']', but got '<stream end>' (line 1, column 9)"),
        ("a:\n\tb: 1", "file is not YAML: found character '\\t' that cannot start any token (line 2, column 1)"),
        ("a: 1\n b: 2", "file is not YAML: mapping values are not allowed here (line 2, column 3)"),
        ("a: *nowhere", "file is not YAML: found undefined alias 'nowhere' (line 1, column 4)"),
        ("a: 1\n---\nb: 2", "file is not YAML: but found another document (line 2, column 1)"),
        ("a: &a [*a]", "file has an alias that holds itself (line 1)"),
        ("? [x]\n: 1", "file has a key that is no text (line 1)"),
        (r'a: "\ud800"', "file is not YAML: invalid Unicode escape (line 1)"),
        ("a: {<<: 1}", "file: << takes a mapping or a list of them (line 1)"),
        ("a: \x00", "file is not YAML: unacceptable character #x0000: special characters are not allowed"),
    ],
)
def test_what_is_no_yaml_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(MalformedStackFileError) as raised:
        yaml_document.read(text, "file")
    assert str(raised.value) == message


def test_deep_nesting_is_one_sentence() -> None:
    with pytest.raises(MalformedStackFileError, match="file is nested too deeply"):
        yaml_document.read("[" * 5000, "file")


def test_aliases_that_multiply_each_other_end() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(MalformedStackFileError, match=r"file has more than 20000 values; its aliases repeat too much"):
        yaml_document.read("\n".join(lines), "file")


_LONGEST_KEY = 1000
"""YAML allows 1024 characters for a key on one line."""

TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXT.filter(lambda key: len(json.dumps(key)) < _LONGEST_KEY), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_json_is_yaml_and_reads_as_itself(value: object) -> None:
    document = yaml_document.read(json.dumps({"value": value}), "file")
    assert (document.refused, document.rewritten) == ((), ())
    assert isinstance(document.data, dict)
    assert _same(document.data["value"], value)


def _same(read: object, meant: object) -> bool:
    """Compare, with one allowance: YAML has no way to tell 1e3 from a float that is whole."""
    if isinstance(meant, float) and isinstance(read, int | float) and not isinstance(read, bool):
        return math.isclose(read, meant)
    if isinstance(meant, dict):
        return (
            isinstance(read, dict) and read.keys() == meant.keys() and all(_same(read[k], v) for k, v in meant.items())
        )
    if isinstance(meant, list):
        return isinstance(read, list) and len(read) == len(meant) and all(map(_same, read, meant))
    return type(read) is type(meant) and read == meant


@given(st.text())
def test_no_text_makes_a_traceback(text: str) -> None:
    with suppress(MalformedStackFileError):
        assert isinstance(yaml_document.read(text, "file"), yaml_document.Document)
