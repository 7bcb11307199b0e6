"""What can be wrong with settings, and how it is reported: everything at once, each with its place.

::

    SettingsError                    any of the following; its text is complete, a traceback adds nothing
    ├── StackFileMissingError        there is no such stack; names those there are
    ├── MalformedStackFileError      the file is no YAML, or no stack file
    ├── PlatformMissingError         the key ``eks-gpu:platform`` is not there
    ├── InvalidSettingsError         the settings were read and have problems
    └── ConfigSecretMissingError     a secret that the settings refer to is not set
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

Location = tuple[str | int, ...]
"""Keys and list positions from the root to a value."""

_PLAIN_KEY: Final = re.compile(r"[\w:/-]+")
_SECRETIVE: Final = re.compile(
    r"secret|token|password|passphrase|credential|webhook|private_?key|api_?key|url|proxy|endpoints|content",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where."""

    location: Location
    message: str
    """What is wrong, the value unless it may be secret, what is allowed, what to do; no period at the end."""

    line: int | None = None
    """Line in the stack file, from 1; None where the settings did not come from a file."""

    @property
    def path(self) -> str:
        """The place as people write it: ``node_pools.p4d.capacity[0]``; empty for the root."""
        return path_of(self.location)

    def __str__(self) -> str:
        """Return the problem on one line."""
        place = " ".join(part for part in (self.path, f"(line {self.line})" if self.line else "") if part)
        return f"{place}: {self.message}" if place else self.message


def path_of(location: Location) -> str:
    """Return a location as people write it."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _PLAIN_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{key}" if text else key
    return text


def may_be_secret(location: Location) -> bool:
    """Return whether a value at this place may be a secret, judged by the keys that lead to it."""
    return any(isinstance(part, str) and _SECRETIVE.search(part) for part in location)


class SettingsError(Exception):
    """The settings cannot be used. The text says why, where, and what to do."""


class StackFileMissingError(SettingsError):
    """There is no file for the stack that was asked for."""


class MalformedStackFileError(SettingsError):
    """The file is not YAML, or not a stack file."""


class PlatformMissingError(SettingsError):
    """The configuration has no ``eks-gpu:platform``."""


class ConfigSecretMissingError(SettingsError):
    """The settings refer to a secret of the stack's configuration that is not set."""


class InvalidSettingsError(SettingsError):
    """The settings have problems: all of them, not only the first."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        """Collect ``problems`` of the settings that came from ``source``: a file's path or a configuration key."""
        self.source = source
        self.problems = tuple(sorted(set(problems), key=_order))
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.problems) == 1:
            return f"{self.source}: {self.problems[0]}"
        listed = "".join(f"\n  {problem}" for problem in self.problems)
        return f"{self.source} has {len(self.problems)} problems:{listed}"


def _order(problem: Problem) -> tuple[int, str, str]:
    return problem.line or 0, problem.path, problem.message
