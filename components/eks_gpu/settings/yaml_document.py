"""Reads YAML as the Pulumi engine reads it, and remembers where each value stands.

The engine is written in Go and reads stack files with yaml.v3, which is not PyYAML: only ``true`` and ``false`` are
truth values (``yes``, ``on`` and ``off`` are text), ``1:30`` is text and no sexagesimal number, ``0x1f``, ``0o17``
and ``017`` are whole numbers, and a key given twice is an error. Reading it differently here would judge other settings
than those that are deployed. Source: gopkg.in/yaml.v3 v3.0.1 resolve.go, checked 2026-11-21.

Three things that the engine accepts are problems here, because it changes them behind the author's back: dates become
timestamps, numbers with a leading zero become octal, and keys that are no text become text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from eks_gpu.settings.problems import Location, MalformedStackFileError, Problem, may_be_secret

_MOST_VALUES: Final = 20_000
"""More values than any stack file has; aliases that multiply each other reach it soon."""

_TEXT_TAG: Final = "tag:yaml.org,2002:str"
_PLAIN_TAGS: Final = frozenset({_TEXT_TAG, "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_MERGE: Final = "<<"

_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NO_NUMBER: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_LEADING_ZERO: Final = re.compile(r"[-+]?0[0-9]+")
_WHOLE: Final = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[0-9]+)")
_FRACTION: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+(?:[Zz]|[-+][0-9:]+)?)?")
_WHOLE_RANGE: Final = range(-(2**63), 2**64)
"""Beyond it the engine reads a number with a fraction."""
_LONGEST_WHOLE: Final = len("-0b") + 64


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document as plain data, with what is known of its text."""

    data: object
    lines: Mapping[Location, int]
    """Line of each value, from 1."""
    written: Mapping[Location, str]
    """Numbers as their author wrote them: ``1.30`` is the number 1.3."""
    refused: tuple[Problem, ...]
    """What the engine refuses: keys given twice."""
    rewritten: tuple[Problem, ...]
    """What the engine accepts and changes."""


def read(text: str, source: str) -> Document:
    """Read ``text``; ``source`` names it in errors. Raise ``MalformedStackFileError`` if it is no YAML."""
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        raise MalformedStackFileError(f"{source} is not YAML: {_sentence(error)}") from error
    except yaml.YAMLError as error:
        raise MalformedStackFileError(f"{source} is not YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise MalformedStackFileError(f"{source} is nested too deeply") from error
    reading = _Reading(source)
    data = None if root is None else reading.value(root, ())
    return Document(data, reading.lines, reading.written, tuple(reading.refused), tuple(reading.rewritten))


def _sentence(error: yaml.MarkedYAMLError) -> str:
    """Return what the parser found and where, in one line."""
    what = error.problem or error.context or "it cannot be parsed"
    mark = error.problem_mark or error.context_mark
    return f"{what} (line {mark.line + 1}, column {mark.column + 1})" if mark else what


@dataclass(slots=True)
class _Reading:
    """The walk over a document's nodes."""

    source: str
    lines: dict[Location, int] = field(default_factory=dict)
    written: dict[Location, str] = field(default_factory=dict)
    refused: list[Problem] = field(default_factory=list)
    rewritten: list[Problem] = field(default_factory=list)
    _inside: list[Node] = field(default_factory=list)
    _count: int = 0

    def value(self, node: Node, location: Location) -> object:
        """Return a node as plain data."""
        self._count += 1
        if self._count > _MOST_VALUES:
            raise MalformedStackFileError(
                f"{self.source} has more than {_MOST_VALUES} values; its aliases repeat too much"
            )
        if any(outer is node for outer in self._inside):
            raise MalformedStackFileError(f"{self.source} has an alias that holds itself (line {_line(node)})")
        self.lines[location] = _line(node)
        if node.tag not in _PLAIN_TAGS:
            self._report(location, node, f"has the tag {node.tag}; remove it, because settings are plain data")
        self._inside.append(node)
        try:
            return self._data(node, location)
        finally:
            self._inside.pop()

    def _data(self, node: Node, location: Location) -> object:
        if isinstance(node, MappingNode):
            return self._mapping(node, location)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*location, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, location)

    def _mapping(self, node: MappingNode, location: Location) -> dict[str, object]:
        merged: dict[str, object] = {}
        own: dict[str, object] = {}
        for key, value in node.value:
            if _is_merge(key):
                merged = {**self._merged(value, location), **merged}
                continue
            name = self._key(key, location)
            if name in own:
                first = self.lines[(*location, name)]
                message = f"is given twice, first on line {first}; remove one of the two"
                self.refused.append(Problem((*location, name), message, _line(key)))
                continue
            own[name] = self.value(value, (*location, name))
            self.lines[(*location, name)] = _line(key)
        return {**merged, **own}

    def _merged(self, node: Node, location: Location) -> dict[str, object]:
        """Return what ``<<`` brings in: of several mappings the first one that has a key wins."""
        nodes = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, object] = {}
        for part in nodes:
            data = self.value(part, location)
            if not isinstance(data, dict):
                raise MalformedStackFileError(
                    f"{self.source}: << takes a mapping or a list of them (line {_line(part)})"
                )
            merged = {**data, **merged}
        return merged

    def _key(self, node: Node, location: Location) -> str:
        if not isinstance(node, ScalarNode):
            raise MalformedStackFileError(f"{self.source} has a key that is no text (line {_line(node)})")
        name = self._characters(node)
        if node.style is None and not _is_text(name):
            self._report((*location, name), node, f'the key {name} is no text; write it in quotes: "{name}"')
        return name

    def _scalar(self, node: Node, location: Location) -> object:
        text = self._characters(node)
        if isinstance(node, ScalarNode) and node.style is not None:
            return text
        if _DATE.fullmatch(text):
            self._report(
                location, node, f'is the date {text} without quotes, which the engine rewrites; write "{text}"'
            )
            return text
        if _LEADING_ZERO.fullmatch(_digits(text)):
            shown = "" if may_be_secret(location) else f" {text}"
            self._report(
                location, node, f"is a number{shown} with a leading zero, which the engine rewrites; write it in quotes"
            )
            return text
        if _NO_NUMBER.fullmatch(text):
            self._report(location, node, f"is {text}; give a number")
            return text
        value = _resolved(text)
        if isinstance(value, int | float):
            self.written[location] = text
        return value

    def _characters(self, node: Node) -> str:
        """Return the text of a scalar; escapes for half of a character are refused, as the engine does."""
        text = str(node.value)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise MalformedStackFileError(f"{self.source} is not YAML: invalid Unicode escape (line {_line(node)})")
        return text

    def _report(self, location: Location, node: Node, message: str) -> None:
        self.rewritten.append(Problem(location, message, _line(node)))


def _resolved(text: str) -> object:
    """Return what an unquoted scalar is to the engine, dates and numbers with a leading zero excepted."""
    if text in _WORDS:
        return _WORDS[text]
    digits = _digits(text)
    if len(digits) <= _LONGEST_WHOLE and _WHOLE.fullmatch(digits) and int(digits, 0) in _WHOLE_RANGE:
        return int(digits, 0)
    if _FRACTION.fullmatch(digits):
        fraction = float(digits)
        return fraction if math.isfinite(fraction) else text
    return text


def _digits(text: str) -> str:
    """Return a scalar without the underscores that may stand between digits."""
    return text.replace("_", "") if text[:1] in {*"+-0123456789"} else text


def _is_text(key: str) -> bool:
    """Return whether an unquoted key is text to the engine."""
    if _DATE.fullmatch(key) or _LEADING_ZERO.fullmatch(_digits(key)) or _NO_NUMBER.fullmatch(key):
        return False
    return isinstance(_resolved(key), str)


def _is_merge(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.style is None and node.value == _MERGE


def _line(node: Node) -> int:
    """Return the line a node begins on, from 1."""
    return int(node.start_mark.line) + 1
