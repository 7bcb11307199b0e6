"""Reading plain, untrusted properties: typed, tolerant of anything, and honest about what is not known.

Properties come from programs that nobody has checked, at a time when some values are not known. A reader asks a
:class:`View` for a value of a type. It gets the value; or ``None`` when it is missing or of another type (the API
that owns the property refuses that, not we); or, when the value is needed and not known, :class:`NotKnownError`. That
error carries a :class:`NotKnown`, which models keep in the place of the value, so that a question nobody asks costs
nothing and a question that somebody asks is answered with "not evaluated", never with a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ParamSpec, TypeVar

from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.unknown import UNKNOWN

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class NotKnown:
    """In the place of a value that cannot be had: an id before creation, or a resource that is not in the stack."""

    source: str
    """URN of the resource whose property it is."""
    path: str
    """The property, as ``spec.template.spec.taints[0].value``."""
    reason: str = "not known before creation"


class NotKnownError(Exception):
    """A value was needed and is not known."""

    def __init__(self, what: NotKnown) -> None:
        """Carry ``what`` to whoever records it."""
        super().__init__(f"{what.path} of {what.source} is {what.reason}")
        self.what = what


def need(value: T | NotKnown) -> T:
    """Return ``value``; raise :class:`NotKnownError` when it is not known."""
    if isinstance(value, NotKnown):
        raise NotKnownError(value)
    return value


def attempt(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | NotKnown:
    """Return what ``read`` returns for the arguments, or what it needed and could not have."""
    try:
        return read(*args, **kwargs)
    except NotKnownError as error:
        return error.what


@dataclass(frozen=True, slots=True)
class View:
    """One place in a resource's properties."""

    data: object
    """Plain data; ``None`` where there is nothing, ``UNKNOWN`` where it is not known."""
    source: str
    """URN of the resource."""
    path: str = ""
    partial: bool = False
    """Whether keys that are missing are set elsewhere, as in a ``...Patch`` resource: then missing is not known."""
    beyond: bool = False
    """Whether it lies within something that is not known, so that not even its existence is."""

    def __getitem__(self, key: str) -> View:
        """Return the place ``key`` of a mapping; a place with nothing in it when there is none."""
        path = f"{self.path}.{key}" if self.path else key
        if self.data is UNKNOWN:
            return View(UNKNOWN, self.source, self.path, self.partial, beyond=True)
        if not isinstance(self.data, Mapping):
            return View(None, self.source, path, self.partial)
        if self.partial and key not in self.data:
            return View(UNKNOWN, self.source, path, self.partial, beyond=True)
        return View(self.data.get(key), self.source, path, self.partial)

    def at(self, *keys: str) -> View:
        """Return the place reached through ``keys``."""
        place = self
        for key in keys:
            place = place[key]
        return place

    @property
    def exists(self) -> bool:
        """Whether something is there, its value known or not; :class:`NotKnownError` when that cannot be told."""
        if self.beyond:
            raise NotKnownError(self.not_known())
        return self.data is not None

    def not_known(self, reason: str = "not known before creation") -> NotKnown:
        """Return a record that this place is needed and cannot be read."""
        return NotKnown(self.source, self.path, reason)

    def known(self) -> object:
        """Return the raw data; raise :class:`NotKnownError` when it is not known."""
        if self.data is UNKNOWN:
            raise NotKnownError(self.not_known())
        return self.data

    def text(self) -> str | None:
        """Return a string. Numbers and booleans are spelled as YAML and JSON spell them."""
        match self.known():
            case str() as text:
                return text
            case bool() as flag:
                return "true" if flag else "false"
            case int() | float() as number:
                return str(number)
            case _:
                return None

    def boolean(self) -> bool | None:
        """Return a boolean; the strings ``true`` and ``false`` count, because launch templates spell it so."""
        match self.known():
            case bool() as flag:
                return flag
            case str() as text:
                return {"true": True, "false": False}.get(text.lower())
            case _:
                return None

    def number(self) -> float | None:
        """Return a finite number; a string that spells one counts."""
        match self.known():
            case bool():
                return None
            case int() | float() as number:
                return _finite(number)
            case str() as text:
                return _finite(text)
            case _:
                return None

    def integer(self) -> int | None:
        """Return a whole number; a string that spells one counts."""
        number = self.number()
        return int(number) if number is not None and number.is_integer() else None

    def quantity(self) -> Fraction | None:
        """Return a Kubernetes quantity (``100Gi``, ``500m``, 4) in its base unit."""
        value = self.known()
        return quantity(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None

    def items(self) -> tuple[View, ...]:
        """Return the places of a list; none when it is no list."""
        value = self.known()
        if not isinstance(value, list | tuple):
            return ()
        return tuple(View(item, self.source, f"{self.path}[{n}]", self.partial) for n, item in enumerate(value))

    def entries(self) -> Iterator[tuple[str, View]]:
        """Yield the keys and places of a mapping; none when it is no mapping."""
        value = self.known()
        if isinstance(value, Mapping):
            for key in value:
                if isinstance(key, str):
                    yield key, self[key]

    def texts(self) -> tuple[str, ...]:
        """Return the strings of a list; raise :class:`NotKnownError` when one of them is not known."""
        return tuple(text for item in self.items() if (text := item.text()) is not None)

    def text_map(self) -> dict[str, str]:
        """Return the string values of a mapping; raise :class:`NotKnownError` when one of them is not known."""
        return {key: text for key, place in self.entries() if (text := place.text()) is not None}


def _finite(value: float | str) -> float | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
