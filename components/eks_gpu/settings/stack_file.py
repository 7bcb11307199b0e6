"""Reads a stack file, ``Pulumi.<stack>.yaml``, without the engine: for checks, editors and tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from eks_gpu.settings import yaml_document
from eks_gpu.settings.explain import nearest
from eks_gpu.settings.platform import FULL_KEY, KEY, REGION_KEY, Platform
from eks_gpu.settings.problems import (
    InvalidSettingsError,
    Location,
    MalformedStackFileError,
    PlatformMissingError,
    Problem,
    StackFileMissingError,
)
from eks_gpu.settings.reading import Origin, read_platform

_Value = TypeVar("_Value")

_PREFIX: Final = "Pulumi."
_SUFFIX: Final = ".yaml"
_CONFIG: Final = "config"
_SECURE: Final = "secure"
_PLATFORM: Final[Location] = (_CONFIG, FULL_KEY)

UNREAD_SECRET: Final = "[secret]"  # noqa: S105 - what stands in a secret's place, not a secret
"""Stands for a secret of the configuration, which is never decrypted here."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A stack's configuration, of whatever program."""

    path: Path
    config: Mapping[str, object]
    """Every key of the configuration with its value as plain data, ``eks-gpu:platform`` included."""

    @property
    def stack(self) -> str:
        """The stack's name: ``dev`` of ``Pulumi.dev.yaml``."""
        return stack_name(self.path)

    @property
    def secrets(self) -> frozenset[str]:
        """The keys of the configuration that are secret."""
        return frozenset(key for key, value in self.config.items() if _holds_secret(value))

    def engine_config(self) -> dict[str, str]:
        """Return the configuration as the engine hands it to a program: text, structured values as JSON.

        Secrets are not decrypted: ``UNREAD_SECRET`` stands in their place.
        """
        return {key: _as_engine_text(value) for key, value in self.config.items()}


@dataclass(frozen=True, slots=True)
class StackFile(Configuration):
    """The configuration of a stack that describes a platform."""

    platform: Platform


def stack_name(path: Path) -> str:
    """Return the name of the stack that a file belongs to."""
    return path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)


def read(path: Path) -> Configuration:
    """Read a stack file that need not describe a platform; return a :class:`StackFile` if it does.

    Raise a ``SettingsError`` that says everything that is wrong with it.
    """
    document = yaml_document.read(_text(path), str(path))
    config = _config(document, path)
    if FULL_KEY in config:
        return StackFile(path, config, _platform(document, config, path))
    if document.refused:
        raise InvalidSettingsError(str(path), document.refused)
    return Configuration(path, config)


def load(path: Path) -> StackFile:
    """Read the stack file at ``path``. Raise a ``SettingsError`` that says everything that is wrong with it."""
    found = read(path)
    if not isinstance(found, StackFile):
        raise PlatformMissingError(f"{path} has no {FULL_KEY} under {_CONFIG}{_nearly_platform(found.config)}")
    return found


def _platform(document: yaml_document.Document, config: Mapping[str, object], path: Path) -> Platform:
    """Return the platform that a file describes."""
    rewritten = (problem for problem in document.rewritten if _concerns_platform(problem))
    region = config.get(REGION_KEY)
    origin = Origin(
        name=str(path),
        region=region if isinstance(region, str) else None,
        written=_within_platform(document.written),
        lines=_within_platform(document.lines),
        problems=tuple(_in_platform(problem) for problem in (*document.refused, *rewritten)),
    )
    return read_platform(config[FULL_KEY], origin)


def _text(path: Path) -> str:
    """Read the file, or say which stacks there are."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        stacks = sorted(stack_name(file) for file in path.parent.glob(f"{_PREFIX}*{_SUFFIX}"))
        stack = stack_name(path)
        there = f"stacks there are: {', '.join(stacks)}{nearest(stack, stacks)}" if stacks else "there are none"
        raise StackFileMissingError(f'no stack "{stack}" in {path.parent}; {there}') from None
    except UnicodeDecodeError as error:
        raise MalformedStackFileError(f"{path} is no UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise StackFileMissingError(f"{path} cannot be read: {error.strerror or error}") from error


def _config(document: yaml_document.Document, path: Path) -> dict[str, object]:
    """Return the file's configuration, empty if there is none."""
    data = {} if document.data is None else document.data
    if not isinstance(data, dict):
        raise MalformedStackFileError(
            f"{path} is no stack file; it must be a block with {_CONFIG}: and {FULL_KEY} in it"
        )
    config = data.get(_CONFIG)
    if config is not None and not isinstance(config, dict):
        raise MalformedStackFileError(f"{path}: {_CONFIG} must be a block of keys such as {FULL_KEY}")
    return config or {}


def _nearly_platform(config: Mapping[str, object]) -> str:
    """Return a hint if a key of the configuration was meant to be the platform."""
    meant = [key for key in config if key.rpartition(":")[2] == KEY]
    return f"; rename {meant[0]} to {FULL_KEY}" if meant else f"; keys there are {', '.join(config) or 'none'}"


def _concerns_platform(problem: Problem) -> bool:
    return len(problem.location) > len(_PLATFORM) and problem.location[: len(_PLATFORM)] == _PLATFORM


def _in_platform(problem: Problem) -> Problem:
    """Return a problem with its place in the platform, if it is there."""
    return replace(problem, location=problem.location[len(_PLATFORM) :]) if _concerns_platform(problem) else problem


def _within_platform(by_location: Mapping[Location, _Value]) -> dict[Location, _Value]:
    """Return what is known of places in the platform, by their place there."""
    depth = len(_PLATFORM)
    return {location[depth:]: value for location, value in by_location.items() if location[:depth] == _PLATFORM}


def _holds_secret(value: object) -> bool:
    if isinstance(value, Mapping):
        return set(value) == {_SECURE} or any(_holds_secret(part) for part in value.values())
    return isinstance(value, list) and any(_holds_secret(part) for part in value)


def _as_engine_text(value: object) -> str:
    revealed = _without_secrets(value)
    return revealed if isinstance(revealed, str) else json.dumps(revealed)


def _without_secrets(value: object) -> object:
    if isinstance(value, Mapping):
        if set(value) == {_SECURE}:
            return UNREAD_SECRET
        return {key: _without_secrets(part) for key, part in value.items()}
    return [_without_secrets(part) for part in value] if isinstance(value, list) else value
