"""Turns plain data into a platform, or into everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from eks_gpu.settings.between_blocks import problems_between_blocks
from eks_gpu.settings.explain import explain
from eks_gpu.settings.platform import Platform
from eks_gpu.settings.problems import InvalidSettingsError, Location, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where data comes from, and what is known beside the data itself."""

    name: str
    """The file's path, or the configuration's key."""
    region: str | None = None
    """``aws:region`` of the same stack, if it says one."""
    written: Mapping[Location, str] = field(default_factory=dict)
    """Numbers as their author wrote them."""
    lines: Mapping[Location, int] = field(default_factory=dict)
    """Line of each value."""
    problems: tuple[Problem, ...] = ()
    """What was found while the text was read. Where one of these is, no other is reported."""


def read_platform(data: object, origin: Origin) -> Platform:
    """Return the platform that ``data`` describes, or raise ``InvalidSettingsError`` with all its problems."""
    problems = list(origin.problems)
    reported = {problem.location for problem in problems}
    platform = None
    try:
        platform = Platform.model_validate(data)
    except ValidationError as error:
        found = explain(error, data, Platform, origin.written)
        problems += [problem for problem in found if problem.location not in reported]
        reported |= {problem.location for problem in found}
    problems += [
        problem for problem in problems_between_blocks(data, origin.region) if problem.location not in reported
    ]
    if platform is None or problems:
        raise InvalidSettingsError(origin.name, (_on_its_line(problem, origin.lines) for problem in problems))
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
