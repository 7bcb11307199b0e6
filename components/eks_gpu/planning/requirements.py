"""Requirements on labels: node selectors, node affinity and Karpenter's requirements, as sets of values.

All three are conjunctions of ``key operator values``. A place (an instance type, a pool) is described by the values
that each label may take there; a requirement is met when at least one of them satisfies it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.reading import View


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label."""

    key: str
    operator: str
    """``In``, ``NotIn``, ``Exists``, ``DoesNotExist``, ``Gt``, ``Lt``, ``Gte``, ``Lte``."""
    values: tuple[str, ...] = ()
    min_values: int | None = None
    """For node pools: how many values Karpenter must have to choose from."""

    def admits(self, value: str | None) -> bool:
        """Return whether a node whose label has ``value`` (None: no such label) meets the condition."""
        if value is None:
            return self.operator in {"NotIn", "DoesNotExist"}
        test = _OPERATORS.get(self.operator)
        return test is not None and test(value, self.values)

    def admits_any(self, values: Collection[str] | None) -> bool:
        """Return whether one of the values a label may take meets the condition; None: the label is absent."""
        if not values:
            return self.admits(None)
        return any(self.admits(value) for value in values)


def _compared(value: str, bounds: tuple[str, ...], holds: Callable[[int, int], bool]) -> bool:
    try:
        return len(bounds) == 1 and holds(int(value), int(bounds[0]))
    except ValueError:
        return False


_OPERATORS: Final[Mapping[str, Callable[[str, tuple[str, ...]], bool]]] = MappingProxyType(
    {
        "In": lambda value, values: value in values,
        "NotIn": lambda value, values: value not in values,
        "Exists": lambda _value, _values: True,
        "DoesNotExist": lambda _value, _values: False,
        "Gt": lambda value, values: _compared(value, values, lambda a, b: a > b),
        "Lt": lambda value, values: _compared(value, values, lambda a, b: a < b),
        "Gte": lambda value, values: _compared(value, values, lambda a, b: a >= b),
        "Lte": lambda value, values: _compared(value, values, lambda a, b: a <= b),
    }
)


_AUTO_MODE: Final = f"{labels.EKS_AUTO_DOMAIN}/instance-"
_KARPENTER: Final = f"{labels.KARPENTER_AWS_DOMAIN}/instance-"


def canonical(key: str) -> str:
    """Return the name under which a label is known here; most are known under their own.

    EKS Auto Mode spells Karpenter's labels with a domain of its own, and some labels of Kubernetes have former names.
    """
    if key.startswith(_AUTO_MODE):
        return _KARPENTER + key.removeprefix(_AUTO_MODE)
    return labels.FORMER_NAMES.get(key, key)


def read_requirements(places: Iterable[View]) -> tuple[Requirement, ...]:
    """Read ``[{key, operator, values}]``. An entry without key or operator is left out."""
    found = []
    for place in places:
        key, operator = place["key"].text(), place["operator"].text()
        if key is not None and operator is not None:
            values = place["values"].texts() if place["values"].exists else ()
            found.append(Requirement(canonical(key), operator, values, place["minValues"].integer()))
    return tuple(found)


def read_terms(terms: View) -> tuple[tuple[Requirement, ...], ...]:
    """Read the terms of a node selector. The one field that a term can name is the node's name.

    On EKS that is what the label of the hostname says, too.
    """
    return tuple(
        (
            *read_requirements(term["matchExpressions"].items()),
            *(replace(each, key=labels.HOSTNAME) for each in read_requirements(term["matchFields"].items())),
        )
        for term in terms.items()
    )


def from_labels(selector: Mapping[str, str]) -> tuple[Requirement, ...]:
    """Return what a node selector requires: each label with exactly that value."""
    return tuple(Requirement(canonical(key), "In", (value,)) for key, value in selector.items())


def narrowed(requirements: Iterable[Requirement], key: str, values: Collection[str]) -> frozenset[str]:
    """Return those of ``values`` that every requirement on ``key`` admits."""
    concerned = [requirement for requirement in requirements if requirement.key == key]
    return frozenset(value for value in values if all(requirement.admits(value) for requirement in concerned))
