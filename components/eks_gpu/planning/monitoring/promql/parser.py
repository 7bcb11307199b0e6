"""From the text of a query to its parts.

It takes everything that Prometheus 3.5 takes in a rule and some things that Prometheus refuses: whether a query is
right is Prometheus' business, not ours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from eks_gpu.planning.monitoring.promql.lexer import PromqlError, Word, words
from eks_gpu.planning.monitoring.promql.tree import Aggregation, Binary, Call, Literal, Matcher, Node, Selector

__all__ = ["PromqlError", "parse"]

_AGGREGATIONS: Final = frozenset(
    {
        "sum",
        "avg",
        "count",
        "min",
        "max",
        "group",
        "stddev",
        "stdvar",
        "topk",
        "bottomk",
        "count_values",
        "quantile",
        "limitk",
        "limit_ratio",
    }
)
_PRECEDENCE: Final = {
    "or": 1,
    "and": 2,
    "unless": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%", "atan2"), 5),
    "^": 6,
}
_UNARY: Final = 6
"""A sign binds tighter than a product and less tight than a power."""
_RIGHT_ASSOCIATIVE: Final = "^"
_MATCHING: Final = frozenset({"on", "ignoring", "group_left", "group_right"})
_MATCHERS: Final = frozenset({"=", "!=", "=~", "!~"})
_GROUPING: Final = frozenset({"by", "without"})
_NUMBERS: Final = frozenset({"inf", "nan"})
_NAME_LABEL: Final = "__name__"
_DEEPEST: Final = 100
"""Parentheses within parentheses; a query that anyone has written has fewer."""


@lru_cache(maxsize=4096)
def parse(query: str) -> Node:
    """Return the parts of ``query``; raise :class:`PromqlError` when it cannot be read."""
    reader = _Reader(words(query))
    node = reader.expression(0)
    if reader.next.kind != "end":
        raise PromqlError(f"{reader.next.text!r} is not expected there")
    return node


class _Reader:
    """Takes one word after the other."""

    def __init__(self, found: list[Word]) -> None:
        self._words = found
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Word:
        """The word that is not taken yet."""
        return self._words[self._at]

    def _take(self) -> Word:
        word = self.next
        self._at += word.kind != "end"
        return word

    def _is(self, *texts: str) -> bool:
        return self.next.kind in {"sign", "name"} and self.next.text.lower() in texts

    def _skip(self, text: str) -> bool:
        if not self._is(text):
            return False
        self._take()
        return True

    def _expect(self, text: str) -> None:
        if not self._skip(text):
            raise PromqlError(f"{self.next.text!r} stands where {text!r} is expected")

    def expression(self, least: int) -> Node:
        """Take operands and operators that bind at least as tight as ``least``."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PromqlError("it is nested too deeply")
        left = self._operand()
        while (binding := _PRECEDENCE.get(self.next.text.lower(), 0)) and binding >= max(least, 1):
            operator = self._take().text.lower()
            self._skip("bool")
            self._matching()
            right = self.expression(binding if operator == _RIGHT_ASSOCIATIVE else binding + 1)
            left = Binary(operator, left, right)
        self._depth -= 1
        return left

    def _matching(self) -> None:
        """Pass over how two vectors are joined: it reads no series."""
        while self._is(*_MATCHING):
            self._take()
            if self._is("("):
                self._labels()

    def _operand(self) -> Node:
        word = self.next
        if self._is("+", "-"):
            self._take()
            return self.expression(_UNARY)
        if self._skip("("):
            node = self.expression(0)
            self._expect(")")
            return self._shifted(node)
        if self._is("{"):
            return self._selector("")
        self._take()
        if word.kind in {"number", "string"} or word.text.lower() in _NUMBERS:
            return Literal(word.text)
        if word.kind != "name":
            raise PromqlError(f"{word.text or 'the end'!r} stands where a series or number is expected")
        return self._named(word.text)

    def _named(self, name: str) -> Node:
        if name.lower() in _AGGREGATIONS and self._is("(", *_GROUPING):
            return self._shifted(self._aggregation(name.lower()))
        if self._is("("):
            return self._shifted(Call(name.lower(), self._arguments()))
        return self._selector(name)

    def _aggregation(self, operator: str) -> Node:
        labels, without = self._grouping()
        arguments = self._arguments()
        if not labels and self._is(*_GROUPING):
            labels, without = self._grouping()
        return Aggregation(operator, arguments, labels, without)

    def _grouping(self) -> tuple[tuple[str, ...], bool]:
        if not self._is(*_GROUPING):
            return (), False
        without = self._take().text.lower() == "without"
        return self._labels(), without

    def _labels(self) -> tuple[str, ...]:
        self._expect("(")
        found = []
        while not self._skip(")"):
            word = self._take()
            if word.kind == "end":
                raise PromqlError("a list of labels does not end")
            if word.kind in {"name", "string"}:
                found.append(_unquoted(word))
        return tuple(found)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        found = []
        while not self._skip(")"):
            found.append(self.expression(0))
            if not self._is(")"):
                self._expect(",")
        return tuple(found)

    def _selector(self, name: str) -> Node:
        matchers: list[Matcher] = []
        if self._skip("{"):
            while not self._skip("}"):
                name = self._matcher(name, matchers)
                if not self._is("}"):
                    self._expect(",")
        return self._shifted(Selector(name, tuple(matchers)))

    def _matcher(self, name: str, matchers: list[Matcher]) -> str:
        """Take one matcher; return the name of the series, which may stand among them."""
        label = self._take()
        if label.kind not in {"name", "string"}:
            raise PromqlError(f"{label.text!r} stands where a label is expected")
        if label.kind == "string" and not self._is(*_MATCHERS):
            return _unquoted(label)
        operator, value = self._take(), self._take()
        if operator.text not in _MATCHERS or value.kind != "string":
            raise PromqlError(f"{label.text} is compared with no text")
        if label.text == _NAME_LABEL and operator.text == "=":
            return _unquoted(value)
        matchers.append(Matcher(_unquoted(label), operator.text, _unquoted(value)))
        return name

    def _shifted(self, node: Node) -> Node:
        """Take ranges, subqueries and shifts in time behind something."""
        shifted = False
        while True:
            if self._skip("["):
                while not self._skip("]"):
                    if self._take().kind == "end":
                        raise PromqlError("a range does not end")
            elif self._skip("offset"):
                shifted = True
                self._skip("-")
                self._take()
            elif self._skip("@"):
                shifted = True
                self._moment()
            else:
                break
        return Selector(node.name, node.matchers, shifted=True) if shifted and isinstance(node, Selector) else node

    def _moment(self) -> None:
        """Take what follows an ``@``: a time, or ``start()`` or ``end()``."""
        self._skip("-")
        if self._take().kind == "name":
            self._arguments()


def _unquoted(word: Word) -> str:
    return word.text[1:-1] if word.kind == "string" else word.text
