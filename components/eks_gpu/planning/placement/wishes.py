"""What a pod wishes of its node's labels, in a form that pools can answer once for all pods that wish the same.

A selection holds when one of its alternatives does; an alternative, when each wish in it does. All conditions on one
label are one wish, because one value must meet them together: a zone in ``a, b`` and not in ``a`` is zone ``b``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eks_gpu.planning.requirements import Requirement

_KEPT: Final = 65536
"""How many distinct wishes are remembered. Whoever forgets one reckons it anew."""

_WORDS: Final = {"Gt": ">", "Lt": "<", "Gte": ">=", "Lte": "<="}


@dataclass(frozen=True, eq=False, slots=True)
class Wish:
    """All conditions on one label. Two that wish the same are the same object, so that they are quick to look up."""

    key: str
    requirements: tuple[Requirement, ...]

    def admits(self, value: str | None) -> bool:
        """Return whether a label of this value (None: no such label) meets all conditions."""
        for requirement in self.requirements:  # noqa: SIM110 - all() takes twice as long, and this is asked most
            if not requirement.admits(value):
                return False
        return True

    def admits_some(self, within: tuple[Requirement, ...]) -> bool:
        """Return whether some value meets them, where the label may have any that ``within`` admits, too.

        Every bound of a condition changes the answer at one value only, so values at and beside the bounds will do,
        and one that nobody has named.
        """
        both = (*self.requirements, *within)
        named = {value for requirement in both for value in requirement.values}
        numbers = {str(max(0, int(value) + step)) for value in named if value.isdecimal() for step in (-1, 0, 1)}
        return any(self.admits(value) and _all_admit(within, value) for value in (*named, *numbers, _UNHEARD_OF))

    @property
    def asks(self) -> bool:
        """Whether it wants the label to be there, rather than to be absent or different."""
        return not self.admits(None)

    def __str__(self) -> str:
        """Return it as people write it: ``gpu-type=a10g``."""
        return " and ".join(map(_spelled, self.requirements))


_UNHEARD_OF: Final = "\0"


def _all_admit(requirements: tuple[Requirement, ...], value: str) -> bool:
    return all(requirement.admits(value) for requirement in requirements)


def _spelled(requirement: Requirement) -> str:
    key, values = requirement.key, ", ".join(requirement.values)
    match requirement.operator:
        case "In":
            return f"{key}={values}" if len(requirement.values) == 1 else f"{key} in ({values})"
        case "NotIn":
            return f"{key} not in ({values})"
        case "Exists":
            return f"a label {key}"
        case "DoesNotExist":
            return f"no label {key}"
        case operator:
            return f"{key} {_WORDS.get(operator, operator)} {values}"


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """Alternatives of which one must hold. Two that select the same are the same object."""

    alternatives: tuple[tuple[Wish, ...], ...]

    @property
    def keys(self) -> frozenset[str]:
        """The labels that it is about."""
        return frozenset(wish.key for wishes in self.alternatives for wish in wishes)

    def without(self, keys: frozenset[str]) -> Selection:
        """Return the selection that does not care about some labels."""
        return _selection(tuple(tuple(wish for wish in wishes if wish.key not in keys) for wishes in self.alternatives))


@lru_cache(_KEPT)
def _wish(key: str, requirements: tuple[Requirement, ...]) -> Wish:
    return Wish(key, requirements)


@lru_cache(_KEPT)
def _selection(alternatives: tuple[tuple[Wish, ...], ...]) -> Selection:
    return Selection(alternatives)


def wishes(requirements: Iterable[Requirement]) -> tuple[Wish, ...]:
    """Return requirements by label, each label once, in the order in which they are first named."""
    by_key: dict[str, dict[Requirement, None]] = {}
    for requirement in requirements:
        by_key.setdefault(requirement.key, {})[requirement] = None
    return tuple(_wish(key, tuple(found)) for key, found in by_key.items())


def selection(selector: tuple[Requirement, ...], *choices: tuple[tuple[Requirement, ...], ...]) -> Selection:
    """Return what meets ``selector`` and one term of each of ``choices``, which are those that have any term.

    A term without conditions matches nothing, as in Kubernetes.
    """
    alternatives = [selector]
    for terms in choices:
        if terms:
            alternatives = [(*before, *term) for before in alternatives for term in terms if term]
    return _selection(tuple(wishes(each) for each in alternatives))
