"""Turns plain data into a platform, or into everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from eks_gpu.settings.between_blocks import problems_between_blocks
from eks_gpu.settings.explain import explain
from eks_gpu.settings.platform import Platform
from eks_gpu.settings.problems import InvalidSettingsError, Location, Problem

_NOTHING: Final[Mapping[Location, str]] = MappingProxyType({})


def read_platform(
    data: object,
    source: str,
    *,
    written: Mapping[Location, str] = _NOTHING,
    lines: Mapping[Location, int] | None = None,
    known: Iterable[Problem] = (),
) -> Platform:
    """Return the platform that ``data`` describes, or raise ``InvalidSettingsError`` with all its problems.

    ``source`` names where the data comes from. ``written`` has numbers as their author wrote them, ``lines`` the line
    of each value, ``known`` the problems found while reading the text; where one of those is, no other is reported.
    """
    problems = list(known)
    reported = {problem.location for problem in problems}
    platform = None
    try:
        platform = Platform.model_validate(data)
    except ValidationError as error:
        found = explain(error, data, Platform, written)
        problems += [problem for problem in found if problem.location not in reported]
        reported |= {problem.location for problem in found}
    problems += [problem for problem in problems_between_blocks(data) if problem.location not in reported]
    if platform is None or problems:
        raise InvalidSettingsError(source, (_on_its_line(problem, lines or {}) for problem in problems))
    return platform


def _on_its_line(problem: Problem, lines: Mapping[Location, int]) -> Problem:
    """Return the problem with the line of its place, or of the nearest block around a place that is not there."""
    if problem.line is not None:
        return problem
    for length in range(len(problem.location), 0, -1):
        line = lines.get(problem.location[:length])
        if line is not None:
            return replace(problem, line=line)
    return problem
