"""What a query is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition between the braces of a selector."""

    label: str
    operator: str
    """``=``, ``!=``, ``=~``, ``!~``."""
    value: str


@dataclass(frozen=True, slots=True)
class Selector:
    """Series by name and labels, of an instant or over a range."""

    name: str
    """Empty where the braces say no name either."""
    matchers: tuple[Matcher, ...] = ()
    shifted: bool = False
    """Whether it looks at another time (``offset``, ``@``)."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a string."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function of something."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Aggregation:
    """A sum, maximum, count ... over labels."""

    operator: str
    arguments: tuple[Node, ...]
    labels: tuple[str, ...] = ()
    without: bool = False
    """Whether the labels are those that are dropped."""


@dataclass(frozen=True, slots=True)
class Binary:
    """Two things compared, calculated with or joined."""

    operator: str
    """In lower case: ``or``, ``unless``, ``<``, ``-``."""
    left: Node
    right: Node


Node = Selector | Literal | Call | Aggregation | Binary
"""Any part of a query."""

ABSENT = frozenset({"absent", "absent_over_time"})
"""Functions that return something where there is nothing."""

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts that a part is made of."""
    match node:
        case Call(arguments=arguments) | Aggregation(arguments=arguments):
            return arguments
        case Binary(left=left, right=right):
            return left, right
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """Yield a part and everything in it."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(children(part))


def selectors(node: Node) -> Iterator[Selector]:
    """Yield every selector of series."""
    return (part for part in walk(node) if isinstance(part, Selector))
