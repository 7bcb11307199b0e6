"""The words of a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


class PromqlError(ValueError):
    """A query cannot be read."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its kind: ``name``, ``number``, ``string`` or ``sign``."""

    kind: str
    text: str


_WORD: Final = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
      | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:ms|[smhdwy]))+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_:][A-Za-z0-9_:]*)
      | (?P<sign>=~|!~|==|!=|<=|>=|[-+*/%^(){}\[\],=<>@])""",
    re.VERBOSE | re.DOTALL,
)
_END: Final = Word("end", "")


def words(query: str) -> list[Word]:
    """Return the words of ``query`` with an end mark; raise :class:`PromqlError` at what is none."""
    found: list[Word] = []
    position = 0
    while position < len(query):
        match = _WORD.match(query, position)
        if match is None:
            raise PromqlError(f"{query[position]!r} at {position} is not of the language")
        if match.lastgroup != "space":
            found.append(Word(match.lastgroup or "", match.group()))
        position = match.end()
    found.append(_END)
    return found
