"""Judge the inputs of a resource against what its SDK says, and name every mistake by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from sandbox.providers.sdk import Field, Kind, ResourceType, Sdk
from sandbox.providers.wire import SIGNATURE, UNKNOWN, Properties

_PYTHON_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "map": (dict,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One mistake: the path of the property (`ebs[0].volumeSize`) and what is wrong with it."""

    path: str
    reason: str


def problems(sdk: Sdk, resource: ResourceType, inputs: Properties) -> list[Failure]:
    """Return every mistake in `inputs`; unknown values and assets are taken as they are."""
    return list(_Judge(sdk, resource.service).properties(resource.inputs, inputs, "", _short(resource.token)))


def _short(token: str) -> str:
    return token.rsplit(":", 1)[-1]


class _Judge:
    """Walks values beside the types of one service."""

    def __init__(self, sdk: Sdk, service: Path) -> None:
        self._sdk = sdk
        self._service = service

    def properties(
        self, fields: Mapping[str, Field], values: Mapping[str, object], path: str, owner: str
    ) -> Iterator[Failure]:
        for name, value in values.items():
            here = f"{path}.{name}" if path else name
            if name in fields:
                yield from self._value(fields[name].kind, value, here)
            elif not name.startswith("__"):
                yield Failure(here, _unknown_property(name, owner, fields))
        for name, field in fields.items():
            if field.required and values.get(name) is None:
                here = f"{path}.{name}" if path else name
                yield Failure(here, f'missing required property "{name}" of {owner}')

    def _value(self, kind: Kind, value: object, path: str) -> Iterator[Failure]:
        if value is None or value is UNKNOWN or kind.word == "any" or _is_asset(value):
            return
        if kind.word == "either":
            yield from self._either(kind, value, path)
        elif not _is_a(kind.word, value):
            yield Failure(path, f"expected {_worded(kind.word)}, got {_described(value)}")
        else:
            yield from self._inside(kind, value, path)

    def _inside(self, kind: Kind, value: object, path: str) -> Iterator[Failure]:
        if kind.word == "list" and isinstance(value, list):
            for index, each in enumerate(value):
                yield from self._value(kind.parts[0], each, f"{path}[{index}]")
        elif kind.word == "map" and isinstance(value, dict):
            for key, each in value.items():
                yield from self._value(kind.parts[0], each, f'{path}["{key}"]')
        elif kind.word == "object" and isinstance(value, dict):
            fields = self._sdk.nested(self._service, kind.name)
            if fields is not None:
                # A nested type of another module refers to the types of that module.
                judge = _Judge(self._sdk, _home(self._sdk, self._service, kind.name))
                yield from judge.properties(fields, value, path, kind.name.rsplit(".", 1)[-1].removesuffix("Args"))

    def _either(self, kind: Kind, value: object, path: str) -> Iterator[Failure]:
        """Yield nothing if one of the choices fits; otherwise what the choice of the right form objects to."""
        mistakes = [list(self._value(part, value, path)) for part in kind.parts]
        if all(mistakes):
            yield from max(mistakes, key=lambda each: max(failure.path.count(".") for failure in each))


def _home(sdk: Sdk, service: Path, name: str) -> Path:
    modules = name.split(".")[:-1]
    return sdk.root.joinpath(*(module.lstrip("_") for module in modules)) if modules else service


def _unknown_property(name: str, owner: str, fields: Mapping[str, Field]) -> str:
    near = get_close_matches(name, fields, n=1, cutoff=0.6)
    advice = f'did you mean "{near[0]}"' if near else f"known are {', '.join(sorted(fields)) or 'none'}"
    return f'unknown property "{name}" of {owner}; {advice}'


def _is_a(word: str, value: object) -> bool:
    if isinstance(value, bool):
        return word == "boolean"
    if isinstance(value, float) and value.is_integer():
        # The wire knows one kind of number, so that a whole one may arrive as a float.
        value = int(value)
    return isinstance(value, _PYTHON_KINDS[word])


def _worded(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _described(value: object) -> str:
    """Name the kind of `value`, never the value itself, which may be a secret."""
    for word in ("boolean", "integer", "number", "string", "list", "map"):
        if _is_a(word, value):
            return _worded(word)
    return type(value).__name__


def _is_asset(value: object) -> bool:
    return isinstance(value, dict) and SIGNATURE in value
