from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu_policies.manifests.documents import MOST_VALUES, BrokenError, Node, documents


def roots(text: str) -> list[Node]:
    return [node for document in documents(text) for node in document.read()]


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(entry.node) for key, entry in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain(item) for item in node.value]
    return node.value


def only(text: str) -> object:
    (root,) = roots(text)
    return plain(root)


def broken(text: str) -> BrokenError:
    with pytest.raises(BrokenError) as caught:
        roots(text)
    return caught.value


def test_documents_are_cut_at_markers_and_empty_ones_are_none() -> None:
    text = "# nothing\n---\na: 1\n---\n---\n# nothing\n--- # a note\nb: 2\n...\n"
    assert [(plain(root), root.line) for root in roots(text)] == [({"a": 1}, 3), ({"b": 2}, 8)]


def test_a_line_in_a_block_of_text_that_begins_with_a_marker_and_more_is_no_marker() -> None:
    assert only("a: |\n  ---\n  text\nb: ----\n") == {"a": "---\ntext\n", "b": "----"}


def test_a_broken_document_does_not_hide_its_neighbours() -> None:
    first, second, third = documents("a: 1\n---\nb: [1,\n---\nc: 3\n")
    assert plain(first.read()[0]) == {"a": 1}
    assert plain(third.read()[0]) == {"c": 3}
    with pytest.raises(BrokenError) as caught:
        second.read()
    assert caught.value.line in {2, 3, 4}


def test_a_directive_before_a_document_is_no_document() -> None:
    assert only("%YAML 1.1\n---\na: 1\n") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("off", False),
        ("~", None),
        ("12", 12),
        ("-1", -1),
        ("0644", 420),
        ("0x1f", 31),
        ("1_000", 1000),
        ("1.5", 1.5),
        ("1e3", "1e3"),
        ("1:30", "1:30"),
        ("2026-11-21", "2026-11-21"),
        ("2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("=", "="),
        ("", None),
    ],
)
def test_scalars_are_what_kubernetes_reads_and_never_more_than_json_has(text: str, value: object) -> None:
    assert only(f"a: {text}\n") == {"a": value}


def test_the_line_of_a_value_is_that_of_its_key() -> None:
    (root,) = roots("a:\n  b: 1\n  c:\n    - d\n    - e: 2\n")
    assert isinstance(root.value, dict)
    entry = root.value["a"]
    assert entry.line == 1
    assert isinstance(entry.node.value, dict)
    assert {key: item.line for key, item in entry.node.value.items()} == {"b": 2, "c": 3}
    items = entry.node.value["c"].node.value
    assert isinstance(items, tuple)
    assert [item.line for item in items] == [4, 5]


def test_aliases_and_merge_keys_are_written_out() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\nuse:\n  <<: [*b, *m]\n  x: 9\nalso: *b\n"
    assert only(text) == {
        "base": {"x": 1, "y": 2},
        "more": {"y": 3, "z": 4},
        "use": {"x": 9, "y": 2, "z": 4},
        "also": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key a is there twice, first in line 1"),
        ("a:\n\tb: 1\n", 2, "a tab in the indentation"),
        ("a: !Ref b\n", 1, "the tag !Ref is unknown to Kubernetes"),
        ("a: *b\n", 1, "the alias *b names no anchor before it"),
        ("a: &a [*a]\n", 1, "the alias *a names no anchor before it"),
        ("a: {{ b }}\n", 1, "a list or mapping as a key"),
        ("? [a]\n: b\n", 1, "a list or mapping as a key"),
        ("a: &x b\n*x : c\n", 2, "an alias as a key"),
        ("a: 1\nb: <<\n<<: 2\n", 3, "the merge key << takes a mapping"),
        ("a: 'b\n", 1, "no YAML"),
        ("a: b: c\n", 1, "no YAML"),
        ("a: \x07\n", 1, "a character that YAML forbids"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text: str, line: int, words: str) -> None:
    found = broken(text)
    assert words in found.problem
    assert found.line == line


def test_a_text_of_brackets_without_end_is_refused_and_ends_no_process() -> None:
    assert "within each other" in broken("a: " + "[" * 100_000).problem


def test_aliases_that_would_fill_the_memory_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert f"more than {MOST_VALUES:,} values" in broken("\n".join(lines)).problem


def test_json_with_tabs_is_read() -> None:
    text = json.dumps({"a": [1, {"b": "c\td"}], "e": "/"}, indent="\t")
    assert only(text) == {"a": [1, {"b": "c\td"}], "e": "/"}


def test_a_byte_order_mark_and_windows_line_ends_are_no_trouble() -> None:
    assert [(plain(root), root.line) for root in roots("\ufeffa: 1\r\n---\r\nb: 2\r\n")] == [
        ({"a": 1}, 1),
        ({"b": 2}, 3),
    ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=8),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text("abc<=-", max_size=3), below, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_every_json_value_is_read_as_json_reads_it(value: object) -> None:
    assert only(json.dumps({"value": value}, indent=1)) == {"value": value}


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_line_of_it(text: str) -> None:
    refused = []
    for document in documents(text):
        try:
            document.read()
        except BrokenError as error:
            refused.append(error)
    lines = len(text.splitlines()) + 1
    assert [error for error in refused if not 1 <= error.line <= lines or not error.problem] == []
