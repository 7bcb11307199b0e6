"""What nodes of a pool carry under one label: a column, as in a table of pools by labels.

Many pools offer the same under a label. They share one column, so that a wish is compared with it once for all of them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from eks_gpu.facts.labels import appears_after_boot
from eks_gpu.planning.placement.refusal import Unlabelled
from eks_gpu.planning.placement.wishes import Wish
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.requirements import Requirement


class Chosen(NamedTuple):
    """Which types meet something, as numbers: bit ``n`` stands for the pool's type ``n``."""

    sure: int
    """The types that do."""
    maybe: int
    """Those and the ones of which nobody can tell."""
    unclear: NotKnown | None = None
    """What would have to be known."""


ALL: Final = Chosen(-1, -1)
"""However many types there are."""
NONE: Final = Chosen(0, 0)


@dataclass(frozen=True, slots=True)
class ByType:
    """Each type has its own value, or none. Of a type that is not known here nobody can tell."""

    of_types: tuple[str | None, ...]

    def meets(self, wish: Wish) -> Chosen:
        """Return the types whose value does."""
        met = 0
        for place, value in enumerate(self.of_types):
            if wish.admits(value):
                met |= 1 << place
        return Chosen(met, met | -1 << len(self.of_types))

    def values(self, mask: int) -> frozenset[str]:
        """Return the values of some types."""
        return frozenset(value for place, value in enumerate(self.of_types) if value is not None and mask >> place & 1)

    def variety(self, mask: int) -> int:
        """Return how many values some types have."""
        return len(self.values(mask))


@dataclass(frozen=True, slots=True)
class OneOf:
    """A node of any type can have each of the values; without any, the label is absent."""

    named: frozenset[str]

    def meets(self, wish: Wish) -> Chosen:
        """Return all types when one of the values does."""
        met = any(wish.admits(value) for value in self.named) if self.named else wish.admits(None)
        return ALL if met else NONE

    def variety(self, _mask: int) -> int:
        """Return how many there are."""
        return len(self.named)


@dataclass(frozen=True, slots=True)
class SomeValue:
    """A value that nobody names, within the pool's own requirements."""

    within: tuple[Requirement, ...]
    may_be_absent: bool

    def meets(self, wish: Wish) -> Chosen:
        """Return all types when some value does."""
        absent = self.may_be_absent and wish.admits(None)
        return ALL if absent or wish.admits_some(self.within) else NONE

    def variety(self, _mask: int) -> int:
        """Return that there are as many as anybody wants."""
        return sys.maxsize


@dataclass(frozen=True, slots=True)
class Untold:
    """Nobody can tell."""

    what: NotKnown

    def meets(self, _wish: Wish) -> Chosen:
        """Return that every type may."""
        return Chosen(0, -1, self.what)

    def variety(self, _mask: int) -> NotKnown:
        """Return that nobody knows how many."""
        return self.what


Content = ByType | OneOf | SomeValue | Untold


class Column:
    """What nodes carry under one label, with the wishes that it was compared with."""

    __slots__ = ("__weakref__", "_refusals", "answers", "content")

    def __init__(self, content: Content) -> None:
        """Hold what nodes carry."""
        self.content = content
        self.answers: dict[Wish, Chosen] = {}
        """Which types meet a wish, whichever types the pool has; for those in a hurry."""
        self._refusals: dict[tuple[Wish, int, bool], Unlabelled] = {}

    def answer(self, wish: Wish) -> Chosen:
        """Return which types meet a wish, whichever types the pool has."""
        found = self.answers.get(wish)
        if found is None:
            found = self.answers[wish] = self.content.meets(wish)
        return found

    def unlabelled(self, wish: Wish, others: int, bought_on_demand: bool) -> Unlabelled:
        """Return that a wish is met by nothing here, nor are ``others`` in its place.

        ``bought_on_demand`` is whether nodes are, so that a label which comes later comes too late.
        """
        asked = wish, others, bought_on_demand
        found = self._refusals.get(asked)
        if found is None:
            carried = tuple(sorted(self._named(), key=_naturally))
            later = bought_on_demand and appears_after_boot(wish.key)
            found = self._refusals[asked] = Unlabelled(wish, carried, later, others)
        return found

    def _named(self) -> frozenset[str]:
        """Return the values that are known."""
        match self.content:
            case OneOf(named=named):
                return named
            case ByType():
                return self.content.values(-1)
        return frozenset()


def _naturally(value: str) -> tuple[int, str]:
    return (int(value) if value.isdecimal() else 0, value)


_SHARED: Final[WeakValueDictionary[Content, Column]] = WeakValueDictionary()


def column(content: Content) -> Column:
    """Return the one column that holds this, which lives as long as a pool with it."""
    found = _SHARED.get(content)
    if found is None:
        found = _SHARED[content] = Column(content)
    return found
