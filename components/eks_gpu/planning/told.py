"""What containers are told: the words of their commands, their arguments and their environment."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt

OBJECT_STORE: Final = re.compile(r"\b(?:s3a?|gs|az|abfss?|wasbs?|oci)://", re.IGNORECASE)
"""A path in an object store."""

_MAY_NAME_A_STORE: Final = re.compile(r"checkpoint|ckpt|output|save|bucket|s3|storage", re.IGNORECASE)
"""Variables whose value matters, should it be kept elsewhere."""


@dataclass(slots=True)
class Told:
    """What containers are told, as far as it is known."""

    settings: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[NotKnown] = field(default_factory=list)
    """Not known yet: it may say anything."""
    elsewhere: list[NotKnown] = field(default_factory=list)
    """Kept in another object: it may name an object store."""

    def hear(self, place: View) -> None:
        """Add what a container is told by command, arguments and environment."""
        words, unknown = heard(place)
        self.settings.extend(_pairs(words))
        self.unknown.extend(unknown)
        for read in (self._environment, self._sources):
            missing = attempt(read, place)
            if isinstance(missing, NotKnown):
                self.unknown.append(missing)

    def _environment(self, place: View) -> None:
        for variable in place["env"].items():
            name, value = variable["name"].text() or "", attempt(variable["value"].text)
            if isinstance(value, str):
                self.settings.append((name, value))
            elif _MAY_NAME_A_STORE.search(name) is not None:
                self.elsewhere.append(variable.not_known(f"the value of {name} is kept elsewhere"))

    def _sources(self, place: View) -> None:
        self.elsewhere.extend(
            source.not_known("the environment comes from a ConfigMap")
            for source in place["envFrom"].items()
            if source["configMapRef"].exists
        )


def told_to(place: View) -> list[str]:
    """Return the words of a container's command and arguments, those of a shell's script among them.

    Raises ``NotKnownError`` when one of them is not known.
    """
    words, unknown = heard(place)
    for what in unknown:
        raise NotKnownError(what)
    return words


def heard(place: View) -> tuple[list[str], list[NotKnown]]:
    """Return the same as far as they are known, with an empty word for each that is not, and what is not known."""
    words: list[str] = []
    unknown: list[NotKnown] = []
    for text in (text for key in ("command", "args") for text in _texts(place[key])):
        if isinstance(text, NotKnown):
            unknown.append(text)
            words.append("")
        else:
            words.extend(_words(text) if any(character.isspace() for character in text) else [text])
    return words, unknown


def _texts(place: View) -> Iterator[str | NotKnown]:
    items = attempt(place.items)
    if isinstance(items, NotKnown):
        yield items
        return
    for item in items:
        text = attempt(item.text)
        if text is not None:
            yield text


def _words(script: str) -> list[str]:
    whole = script.replace(_GOES_ON, "")
    try:
        return shlex.split(whole, comments=True)
    except ValueError:
        return whole.split()


_GOES_ON: Final = "\\\n"
"""How a line ends that the next one continues."""


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield ``--name value``, ``--name=value`` and ``name=value``; a flag without value has an empty one."""
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if equals:
            yield name.lstrip("-+"), value
        elif word.startswith("-"):
            following = words[number + 1] if number + 1 < len(words) else ""
            yield word.lstrip("-"), "" if following.startswith("-") else following
        elif OBJECT_STORE.search(word) is not None:
            yield "", word
