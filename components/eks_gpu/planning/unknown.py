"""The one marker of a value that is not known yet."""

from __future__ import annotations

from typing import Final, final


@final
class Unknown:
    """The type of :data:`UNKNOWN`: a value that only the cloud can tell, such as an id before creation."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a word that reads well in messages."""
        return "<unknown>"

    def __deepcopy__(self, _memo: object) -> Unknown:
        """Return itself: a copy would no longer be *the* marker."""
        return self

    def __bool__(self) -> bool:
        """Refuse to be taken for empty: a check that did not ask must not pass by accident."""
        raise TypeError("an unknown value has no truth; compare it with `is UNKNOWN` first")


UNKNOWN: Final = Unknown()
"""Stands in plain properties for whatever is not known at preview."""
