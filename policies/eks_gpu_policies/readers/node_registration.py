"""The labels and taints that user data has the kubelet register its node with.

Managed groups and Karpenter register them by themselves; nodes of a self-managed group are told so at boot only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.taints import Effect, Taint
from eks_gpu.planning.reading import NotKnown, NotKnownError, View
from eks_gpu_policies.readers.user_data import UserData

_LABELS: Final = "node-labels"
_TAINTS: Final = "register-with-taints"
_VALUE: Final = r"(?:[= ])[\"'\\]{0,3}([^\s\"'\\]*)"
_FLAG: Final = {name: re.compile(rf"--{name}{_VALUE}") for name in (_LABELS, _TAINTS)}
_VARIABLE: Final = re.compile(r"[$`]|\{\{")
_EFFECTS: Final = {effect.value: effect for effect in Effect}


def registered_labels(told: UserData, source: str) -> dict[str, str]:
    """Return the labels that nodes register with; raise ``NotKnownError`` where a script works them out.

    ``source`` is the URN of the group, for that error.
    """
    found = told.settings.at("kubernetes", _LABELS).text_map()
    for entry in _flags(told, _LABELS, source):
        key, separator, value = entry.partition("=")
        if separator:
            found[key] = value
    return found


def registered_taints(told: UserData, source: str) -> tuple[Taint, ...]:
    """Return the taints that nodes register with; raise ``NotKnownError`` where a script works them out."""
    found = [_taint(entry) for entry in _flags(told, _TAINTS, source)]
    for config in told.node_configs:
        for item in config.at("spec", "kubelet", "config", "registerWithTaints").items():
            texts = (item[key].text() or "" for key in ("key", "value", "effect"))
            found.append(_taint("{}={}:{}".format(*texts)))
    for key, place in told.settings.at("kubernetes", "node-taints").entries():
        found.extend(_taint(f"{key}={text}") for text in place.texts() or (place.text() or "",))
    return tuple(taint for taint in found if taint is not None)


def _flags(told: UserData, name: str, source: str) -> Iterator[str]:
    """Yield the entries of a flag of the kubelet, wherever it is said."""
    if told.unread:
        raise NotKnownError(NotKnown(source, "userData", "a part of it is in a form that nobody reads here"))
    texts = [*told.lines, *_flags_of(told.node_configs)]
    for value in (value for text in texts for value in _FLAG[name].findall(text)):
        if _VARIABLE.search(value):
            raise NotKnownError(NotKnown(source, "userData", f"a script works out what --{name} is"))
        yield from (entry for entry in value.split(",") if entry)


def _flags_of(configs: tuple[View, ...]) -> Iterator[str]:
    for config in configs:
        yield from config.at("spec", "kubelet", "flags").texts()


def _taint(entry: str) -> Taint | None:
    """Read a taint as ``kubectl taint`` writes it; None for what is none."""
    rest, _, effect = entry.rpartition(":")
    key, _, value = rest.partition("=")
    return Taint(key, value, _EFFECTS[effect]) if key and effect in _EFFECTS else None
