"""Where a model server gets its model from, read off its arguments and environment.

A server is told a model by name, which it fetches from a hub and keeps in a cache; or by a folder; or by the URL of an
object store. Nothing here knows volumes: what is mounted where is another question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from eks_gpu.facts import declarations
from eks_gpu.facts import model_hubs as hubs
from eks_gpu.facts.model_names import model_bytes
from eks_gpu.planning.pod_template import Container, Mount, PodTemplate
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnownError, View, attempt, need
from eks_gpu.planning.told import told_to


class Kind(StrEnum):
    """What the model's name is."""

    HUB = "a name on a hub"
    FOLDER = "a folder"
    STORE = "the URL of an object store"
    OTHER = "a word of the server's own"


@dataclass(frozen=True, slots=True)
class Model:
    """The model that a server is told to serve."""

    name: str
    kind: Kind


_ON_HUB: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_HUB_URL: Final = "hf://"
_OF_THE_SHELL: Final = ";&|\\"
_VARIABLE: Final = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))")
_VLLM: Final = "vllm"


def model_of(container: Container) -> Model | None:
    """Return the model a container is told to serve; None when nothing says it.

    Raises ``NotKnownError`` for one that is not known, or that only the cluster can tell.
    """
    words = _words(container)
    for name in (*_after_flags(words, hubs.MODEL_FLAGS), *_positional(container, words)):
        return _model(name, container)
    named = (attempt(_literal, container, variable) for variable in hubs.MODEL_VARIABLES)
    known = (_classified(value) for value in named if isinstance(value, str))
    return next((model for model in known if model.kind is not Kind.OTHER), None)


def repository_of(container: Container) -> Model | None:
    """Return where Triton finds its models."""
    return next((_model(name, container) for name in _after_flags(_words(container), hubs.REPOSITORY_FLAGS)), None)


def fetches_from_hub(container: Container) -> bool:
    """Return whether a container fetches its model from a hub when it starts and does not have it."""
    if _offline(container):
        return False
    model = model_of(container)
    if model is not None and model.kind is not Kind.OTHER:
        return model.kind is Kind.HUB
    repository = repository_of(container)
    if repository is not None and repository.kind is Kind.STORE:
        return False
    own = _is_nim(container) or _is_ollama(container) or _snapshots(container)
    return own or bool(hubs.TOKEN_VARIABLES & _variables(container).keys())


def _offline(container: Container) -> bool:
    said = (_literal(container, name) for name in sorted(hubs.OFFLINE_VARIABLES & _variables(container).keys()))
    return any((value or "").upper() in hubs.TRUE_VALUES for value in said)


def _is_nim(container: Container) -> bool:
    named = need(container.image).startswith(hubs.NIM_IMAGES)
    return named and bool(hubs.NIM_TOKEN_VARIABLES & _variables(container).keys())


def _is_ollama(container: Container) -> bool:
    """Return whether a container pulls a model of Ollama's, by its command or once it runs."""
    once_it_runs = container.place.at("lifecycle", "postStart", "exec")
    words = (*_words(container), *(word for text in once_it_runs["command"].texts() for word in text.split()))
    return any(before == hubs.OLLAMA and word in hubs.OLLAMA_FETCHES for before, word in pairwise(words))


def _snapshots(container: Container) -> bool:
    return any(hubs.SNAPSHOT_CALL in word for word in _words(container))


@dataclass(frozen=True, slots=True)
class Cache:
    """The folder that keeps what a container fetches."""

    path: str
    """``~`` stands for a home that nothing tells."""
    assumed: bool
    """Whether it is only the default, because nothing that can be seen here says otherwise."""


def cache_of(container: Container) -> Cache:
    """Return the folder that keeps what a container fetches; raise ``NotKnownError`` when it is not known."""
    said = _said_cache(container)
    if said is not None:
        return Cache(said, assumed=False)
    if _is_nim(container):
        return Cache(hubs.NIM_CACHE, assumed=True)
    image = need(container.image)
    own = next((path for part, path in hubs.IMAGE_CACHES.items() if part in image), None)
    home = (_literal(container, hubs.HOME) or _HOME).rstrip("/")
    below = hubs.OLLAMA_HOME_CACHE if _is_ollama(container) else hubs.HOME_CACHE
    return Cache(own or f"{home}/{below}", assumed=True)


def _said_cache(container: Container) -> str | None:
    """Return the folder that options name, else that which the environment names."""
    words = _words(container)
    for flag in hubs.CACHE_FLAGS:
        for path in _after_flags(words, frozenset({flag})):
            return _told(path, container)
    told = ((_literal(container, name), below) for name, below in _cache_variables(container).items())
    return next((value.rstrip("/") + below for value, below in told if value), None)


def _cache_variables(container: Container) -> Mapping[str, str]:
    if _is_nim(container):
        return {hubs.NIM_CACHE_VARIABLE: ""}
    return {hubs.OLLAMA_CACHE_VARIABLE: ""} if _is_ollama(container) else hubs.CACHE_VARIABLES


def mount_over(container: Container, path: str) -> Mount | None:
    """Return the mount that ``path`` is on: the deepest of those it is in. A home may be any that is mounted."""
    over = [mount for mount in need(container.mounts) if _is_over(mount.path, path)]
    return max(over, key=lambda mount: len(mount.path.rstrip("/")), default=None)


def _is_over(mounted: str, path: str) -> bool:
    folder = mounted.rstrip("/")
    if path.startswith(f"{_HOME}/"):
        below = path.removeprefix(_HOME)
        parents = [below[:end] for end in range(len(below) + 1) if below[end : end + 1] in {"", "/"}]
        return _IS_HOME.fullmatch(folder) is not None or any(folder.endswith(part) for part in parents if part)
    return path == folder or path.startswith(f"{folder}/")


_HOME: Final = "~"
_IS_HOME: Final = re.compile(r"/root|/home(?:/[^/]+)?")


def _words(container: Container) -> tuple[str, ...]:
    """Return a container's command line, scripts inside scripts included; ``--option=value`` becomes two words."""
    bare = (word.strip(_OF_THE_SHELL) for text in told_to(container.place) for word in text.split())
    return tuple(part for word in bare if word for part in _pair(word))


def _pair(word: str) -> tuple[str, ...]:
    option, is_pair, value = word.partition("=")
    return (option, value) if is_pair and option.startswith("-") else (word,)


def _after_flags(words: tuple[str, ...], flags: frozenset[str]) -> Iterator[str]:
    yield from (value for flag, value in pairwise(words) if flag in flags)


def _positional(container: Container, words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that follow a server's command, or come first where the image itself is that command."""
    for before, word in pairwise(words):
        if before in hubs.SERVE_COMMANDS and not _is_option(word) and word not in hubs.SERVE_COMMANDS:
            yield word
    for first, second, word in zip(words, words[1:], words[2:], strict=False):
        if first in hubs.DOWNLOAD_COMMANDS and second == hubs.DOWNLOAD and not _is_option(word):
            yield word
    if words and not container.place["command"].exists and _VLLM in need(container.image):
        yield from (words[0],) if _ON_HUB.fullmatch(words[0]) else ()


def _is_option(word: str) -> bool:
    return word.startswith("-")


def _model(word: str, container: Container) -> Model:
    return _classified(_told(word, container))


def _classified(name: str) -> Model:
    if name.startswith(_HUB_URL) or _ON_HUB.fullmatch(name):
        return Model(name.removeprefix(_HUB_URL), Kind.HUB)
    if "://" in name:
        return Model(name, Kind.STORE)
    return Model(name, Kind.FOLDER if name.startswith(("/", ".", "~")) else Kind.OTHER)


def _told(word: str, container: Container) -> str:
    """Return a word with the variables in it replaced; raise ``NotKnownError`` when nothing here tells one."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        found = _literal(container, name)
        if found is None:
            raise NotKnownError(container.place["args"].not_known(f"{name} is not among the container's variables"))
        return found

    return _VARIABLE.sub(value, word)


def _variables(container: Container) -> Mapping[str, View]:
    """Return a container's environment variables by name. What ``envFrom`` brings is not among them."""
    return {name: place for place in container.place["env"].items() if (name := place["name"].text()) is not None}


def _literal(container: Container, name: str) -> str | None:
    """Return the value of an environment variable, None where it is not set.

    Raises ``NotKnownError`` when it is taken from elsewhere, or not known yet.
    """
    place = _variables(container).get(name)
    if place is None:
        return None
    if place["valueFrom"].exists:
        raise NotKnownError(place["valueFrom"].not_known("only the cluster knows it"))
    return place["value"].text() or ""


def bytes_to_read(pod: PodTemplate, container: Container) -> int | None:
    """Return how much a container reads before it can serve: as declared, else by the model's name; None untold.

    Raises ``NotKnownError`` where the declaration or the model's name is not known.
    """
    declared = quantity(need(pod.annotations).get(declarations.MODEL_BYTES, ""))
    if declared is not None and declared > 0:
        return int(declared)
    model = model_of(container)
    return None if model is None else model_bytes(model.name)
