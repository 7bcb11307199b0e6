"""Where two property trees differ, and whether a difference needs a replacement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sandbox.providers.wire import UNKNOWN, Properties

_INDEX: Final = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: its path (`ebs[0].size`), what happened (`add`, `delete`, `update`), and whether it replaces."""

    path: str
    action: str
    replaces: bool = False


def changes(old: Properties, new: Properties, replaces: Iterable[str] = ()) -> list[Change]:
    """Return the differences from `old` to `new`.

    `replaces` names the properties that cannot be changed in place, without indices (`vpcConfig.subnetIds`); a change
    above such a property counts if it changes the property too. Names that begin with two underscores belong to the
    provider.
    """
    fixed = tuple(replaces)
    return [
        Change(path, action, any(_touches(path, rule, old, new) for rule in fixed))
        for path, action in _differences(old, new, "")
    ]


def _differences(old: object, new: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if not key.startswith("__"):
                yield from _entry(old.get(key), new.get(key), _joined(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            yield from _entry(_item(old, index), _item(new, index), f"{path}[{index}]")
    elif new is UNKNOWN or old != new:
        yield path, "update"


def _entry(old: object, new: object, path: str) -> Iterator[tuple[str, str]]:
    if old is None and new is not None:
        yield path, "add"
    elif old is not None and new is None:
        yield path, "delete"
    elif old is not None:
        yield from _differences(old, new, path)


def _item(values: list[object], index: int) -> object:
    return values[index] if index < len(values) else None


def _joined(path: str, key: str) -> str:
    if not key.replace("_", "").replace("-", "").isalnum():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def _touches(path: str, rule: str, old: Properties, new: Properties) -> bool:
    plain = _INDEX.sub("", path)
    if plain == rule or plain.startswith((f"{rule}.", f"{rule}[")):
        return True
    return rule.startswith(f"{plain}.") and _at(old, rule) != _at(new, rule)


def _at(properties: Mapping[str, object], path: str) -> object:
    """Return the value at `path`, or None; the first element stands for a list."""
    value: object = properties
    for step in path.split("."):
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value
