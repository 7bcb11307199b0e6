"""Refusing bad arguments of a component: all at once, each by the name of its property."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, slots=True)
class Problem:
    """One bad argument."""

    property: str
    """Name of the field of the ``Args`` class, with the key for a mapping's entry: ``private_subnets.us-east-1a``."""

    reason: str
    """What is wrong with it, the value, what is allowed and what to do; lowercase start, no final period."""


def refuse(problems: Iterable[Problem], *, component: str = "") -> None:
    """Raise one ``pulumi.InputPropertiesError`` that names every bad property; do nothing if there are none.

    ``component`` is the logical name of the component whose arguments these are. Call it first in ``__init__``,
    so that nothing is registered for a component that cannot be built.
    """
    found = tuple(problems)
    if not found:
        return
    subject = f"{component} has" if component else "there are"
    lines = "".join(f"\n  {problem.property}: {problem.reason}" for problem in found)
    raise pulumi.InputPropertiesError(
        f"{subject} {len(found)} bad argument{'s' if len(found) > 1 else ''}:{lines}",
        [{"property_path": problem.property, "reason": problem.reason} for problem in found],
    )


def missing(args: object, *properties: str, under: str = "") -> list[Problem]:
    """Return a problem for each of ``properties`` of ``args`` that is ``None`` or plainly empty.

    Python does not hold anyone to ``pulumi.Input[str]``: ``None`` and ``""`` arrive from configuration that is
    not set, and the provider would take them for "not given". An Output is never empty here, whatever it turns
    out to hold. ``under`` is the property that ``args`` itself is the value of, if it is not the ``Args`` object.
    """
    return [
        Problem(_path(under, name), "is missing; give the value or the Output that will hold it")
        for name in properties
        if _is_empty(getattr(args, name))
    ]


def missing_entries(args: object, *properties: str, under: str = "") -> list[Problem]:
    """Return a problem for each mapping among ``properties`` that is empty, and for each empty value inside one."""
    problems = missing(args, *properties, under=under)
    for name in properties:
        entries = getattr(args, name) or {}
        problems += [
            Problem(_path(under, name, key), "is missing; give the value or the Output that will hold it")
            for key, value in entries.items()
            if _is_empty(value)
        ]
    return problems


def _path(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _is_empty(value: object) -> bool:
    if isinstance(value, pulumi.Output):
        return False
    return value is None or (isinstance(value, (str, tuple, list, Mapping)) and len(value) == 0)
