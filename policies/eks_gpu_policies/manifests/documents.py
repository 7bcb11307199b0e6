"""YAML as Kubernetes reads it, with the line of every value.

Each document is read by itself, so that one that is broken does not hide its neighbours. The parser's events are put
together here rather than by the library: the library recurses, and a text of a hundred thousand brackets ends the
process; it takes the last of two equal keys, which Kubernetes refuses; and it makes dates and sexagesimal numbers of
plain words, which Kubernetes does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

import yaml

DEEPEST: Final = 200
"""Levels of nesting; far more than any object has."""

MOST_VALUES: Final = 500_000
"""Values of one document, those that aliases repeat included: an attack, not a manifest, has more."""

_PARSER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Final[Any] = yaml.resolver.Resolver()
_STANDARD: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_STANDARD}merge"
_MARKER: Final = re.compile(r"---(?=\s|$)")
_BOOLEANS: Final = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_DECIMAL: Final = re.compile(r"[-+]?(0|[1-9][0-9_]*)")

_SURROGATES: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
"""A character in two escapes, as JSON spells those that UTF-16 needs two units for."""


def _character(pair: re.Match[str]) -> str:
    units = b"".join(int(unit, 16).to_bytes(2) for unit in pair.groups()[1:])
    return pair[1] + units.decode("utf-16-be")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the line it is on."""

    line: int
    value: Scalar | tuple[Node, ...] | dict[str, Entry]


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a mapping, with the line of its key."""

    line: int
    node: Node


Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Broken:
    """A document, or a whole file, that cannot be read."""

    file: str
    line: int
    problem: str

    @property
    def text(self) -> str:
        """One line: where it is and what is wrong."""
        return f"{self.file}:{self.line}: {self.problem}"


class BrokenError(ValueError):
    """A document cannot be read."""

    def __init__(self, line: int, problem: str) -> None:
        """Carry the line within the file and the problem in a sentence."""
        super().__init__(problem)
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file, as text."""

    text: str
    first_line: int
    """The line of the file on which its text begins, from 1."""

    def read(self) -> tuple[Node, ...]:
        """Return what is in it: one node, or several where ``...`` ends one; raise :class:`BrokenError`."""
        return tuple(_Composer(self).nodes())


def documents(text: str) -> Iterator[Document]:
    """Cut a text at its document markers, which YAML keeps free at the start of a line even in a block of text."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    start = 0
    for number, line in enumerate([*lines, "---"]):
        if _MARKER.match(line):
            part = lines[start:number]
            if any(_says_something(item) for item in part):
                yield Document("".join(part), start + 1)
            start = number


def _says_something(line: str) -> bool:
    said = _MARKER.sub("", line, count=1).partition("#")[0].strip()
    return bool(said) and not said.startswith("%") and said != "..."


@dataclass
class _Open:
    """A list or mapping that is being read."""

    line: int
    anchor: str | None
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] | None = None
    """None for a list."""
    key: tuple[str, int] | None = None
    """The key of which the value comes next."""
    merged: list[Node] = field(default_factory=list)

    def closed(self) -> Node:
        if self.entries is None:
            return Node(self.line, tuple(self.items))
        entries = dict(self.entries)
        for source in self.merged:
            for place in source.value if isinstance(source.value, tuple) else (source,):
                if not isinstance(place.value, dict):
                    raise BrokenError(source.line, "the merge key << takes a mapping or a list of mappings")
                for key, entry in place.value.items():
                    entries.setdefault(key, entry)
        return Node(self.line, entries)


class _Composer:
    """Puts the events of a document together."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._anchors: dict[str, Node] = {}
        self._sizes: dict[int, int] = {}
        self._open: list[_Open] = []
        self._values = 0

    def nodes(self) -> Iterator[Node]:
        """Yield the root of each document there is."""
        try:
            for event in yaml.parse(self._text(), Loader=_PARSER):
                root = self._take(event)
                if root is not None:
                    yield root
        except yaml.MarkedYAMLError as error:
            raise self._broken(error) from error
        except yaml.reader.ReaderError as error:
            raise BrokenError(self._document.first_line, f"a character that YAML forbids ({error.reason})") from error

    def _text(self) -> str:
        """Return the text; of JSON, what the parser of YAML takes: no tabs, and characters in one escape each."""
        text = self._document.text
        if not text.lstrip().startswith(("{", "[")):
            return text
        return _SURROGATES.sub(_character, text.replace("\t", " "))

    def _line(self, event: yaml.Event) -> int:
        return cast("yaml.Mark", event.start_mark).line + self._document.first_line

    def _take(self, event: yaml.Event) -> Node | None:
        match event:
            case yaml.ScalarEvent():
                return self._scalar(event)
            case yaml.AliasEvent():
                if self._wants_key():
                    raise BrokenError(self._line(event), "an alias as a key; a key must be a word")
                if event.anchor not in self._anchors:
                    raise BrokenError(self._line(event), f"the alias *{event.anchor} names no anchor before it")
                return self._place(self._anchors[event.anchor], None)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._begin(event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                done = self._open.pop()
                return self._place(done.closed(), done.anchor)
        return None

    def _begin(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        line = self._line(event)
        self._refuse_tag(event, line)
        if len(self._open) >= DEEPEST:
            raise BrokenError(line, f"more than {DEEPEST} lists and mappings within each other")
        if self._wants_key():
            raise BrokenError(line, "a list or mapping as a key; a key must be a word (is {{ }} meant as a template?)")
        opened = _Open(line, event.anchor, entries={} if isinstance(event, yaml.MappingStartEvent) else None)
        self._open.append(opened)

    def _wants_key(self) -> bool:
        """Return whether a mapping is open whose next key comes now."""
        return bool(self._open) and self._open[-1].entries is not None and self._open[-1].key is None

    @staticmethod
    def _refuse_tag(event: Any, line: int) -> None:  # noqa: ANN401 - the library has no type for events with a tag
        if event.tag is not None and event.tag != "!" and not event.tag.startswith(_STANDARD):
            raise BrokenError(line, f"the tag {event.tag} is unknown to Kubernetes; write the value itself")

    def _scalar(self, event: yaml.ScalarEvent) -> Node | None:
        line = self._line(event)
        self._refuse_tag(event, line)
        tag = event.tag or _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)
        if not self._wants_key():
            return self._place(Node(line, _value(tag, event.value)), event.anchor)
        self._open[-1].key = (_MERGE if tag == _MERGE else event.value, line)
        first = (self._open[-1].entries or {}).get(event.value)
        if first is not None:
            twice = f"the key {event.value} is there twice, first in line {first.line}"
            raise BrokenError(line, f"{twice}; Kubernetes refuses that")
        return None

    def _place(self, node: Node, anchor: str | None) -> Node | None:
        """Put a whole node where it belongs; return it if it is a root."""
        self._count(node)
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            return node
        above = self._open[-1]
        if above.entries is None:
            above.items.append(node)
        elif above.key is not None:
            key, line = above.key
            above.key = None
            if key == _MERGE:
                above.merged.append(node)
            else:
                above.entries[key] = Entry(line, node)
        return None

    def _count(self, node: Node) -> None:
        """Refuse a document whose aliases, written out, would fill the memory."""
        below: tuple[Node, ...] = ()
        if isinstance(node.value, tuple):
            below = node.value
        elif isinstance(node.value, dict):
            below = tuple(entry.node for entry in node.value.values())
        size = 1 + sum(self._sizes.get(id(item), 1) for item in below)
        if below:
            self._sizes[id(node)] = size
        if size > MOST_VALUES:
            raise BrokenError(node.line, f"more than {MOST_VALUES:,} values, its aliases written out")

    def _broken(self, error: yaml.MarkedYAMLError) -> BrokenError:
        mark = error.problem_mark or error.context_mark
        offset = 0 if mark is None else mark.line
        lines = self._document.text.splitlines()
        at = lines[offset] if offset < len(lines) else ""
        line = min(offset, max(len(lines) - 1, 0)) + self._document.first_line
        if "\t" in at[: len(at) - len(at.lstrip())]:
            return BrokenError(line, "a tab in the indentation; YAML takes spaces only")
        what = " ".join(part for part in (error.problem, error.context) if part)
        return BrokenError(line, f"no YAML: {what}")


def _value(tag: str, text: str) -> Scalar:
    """Return a scalar as Kubernetes reads it; whatever JSON has no type for stays the text that it is."""
    match tag.removeprefix(_STANDARD):
        case "null":
            return None
        case "bool":
            return _BOOLEANS.get(text.lower(), text)
        case "int":
            return _integer(text)
        case "float":
            return _float(text)
        case _:
            return text


def _integer(text: str) -> int | str:
    if ":" in text:
        return text
    try:
        if _DECIMAL.fullmatch(text):
            return int(text)
        sign, digits = (text[0], text[1:]) if text[:1] in "+-" else ("", text)
        plain = digits.replace("_", "")
        base = {"0x": 16, "0b": 2, "0o": 8}.get(plain[:2].lower(), 8)
        return int(sign + (plain[2:] if plain[1:2].isalpha() else plain), base)
    except ValueError:
        return text


def _float(text: str) -> float | str:
    plain = text.replace("_", "").lower()
    if ":" in text or "inf" in plain or "nan" in plain:
        return text
    try:
        return float(plain)
    except ValueError:
        return text
