"""Whether a training workload saves its work where it outlives the node, and goes on from there.

It is read off the pods: what their containers mount, and which paths their arguments and environment name. What
nobody can read off them they may declare by annotation (:mod:`eks_gpu.facts.declarations`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from eks_gpu.facts import declarations
from eks_gpu.planning.pod_template import Container, Mount, PodTemplate, PodVolume
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.told import OBJECT_STORE, Told

LONGEST_INTERVAL: Final = 60
"""Minutes between two checkpoints, at most: what an interruption costs."""

FEWEST_KEPT: Final = 3
"""Checkpoints that are kept, at least: the newest may be half written, the one before damaged."""

_DURABLE: Final = (
    "persistentVolumeClaim",
    "csi",
    "nfs",
    "cephfs",
    "azureFile",
    "glusterfs",
    "awsElasticBlockStore",
    "gcePersistentDisk",
)
"""Kinds of volumes that outlive pod and node; an ``ephemeral`` claim goes with the pod, a host path with its node."""

_HANDS_OUT: Final = re.compile(r"secret|cert|spiffe|identity", re.IGNORECASE)
"""CSI drivers that hand out credentials rather than room."""

_SAVES_TO: Final = re.compile(r"checkpoint|ckpt", re.IGNORECASE)
_NOT_A_TARGET: Final = re.compile(
    r"pretrained|init|load|resume|restore|from|base|import|convert|gradient|activation|interval|every|freq|step|keep|num"
    r"|max|limit|strategy|type|format|name|hash|async|recompute",
    re.IGNORECASE,
)
"""Words in names that speak of checkpoints but not of where they are saved."""

_RESUMES: Final = re.compile(r"resume|load[-_.]?(?:latest|last)|auto[-_.]?load", re.IGNORECASE)
_REFUSES: Final = re.compile(r"(?:no|not|disable|skip)[-_.]?(?:auto[-_.]?)?(?:resume|load)", re.IGNORECASE)
"""Names of settings that speak of resuming, and of those that say that it is not done."""


Settings = tuple[tuple[str, str], ...]
"""Names and values, in the order in which containers are told."""


@dataclass(frozen=True, slots=True)
class Lapse:
    """Something that is wrong with how a workload saves."""

    message: str
    minutes: float | None = None
    """How much work an interruption costs because of it; None for all of it."""


@dataclass(frozen=True, slots=True)
class Saving:
    """What is to be said about how a workload saves."""

    problems: tuple[Lapse, ...] = ()
    open: tuple[NotKnown, ...] = ()
    """What would have to be known to say more."""

    @property
    def verdict(self) -> bool | NotKnown:
        """Whether it saves often, durably, and resumes; what is not known where nobody can tell."""
        if self.problems:
            return False
        return self.open[0] if self.open else True


@dataclass(frozen=True, slots=True)
class _Box:
    """A container with the pod around it."""

    pod: PodTemplate
    container: Container

    def volume_at(self, path: str) -> tuple[Mount, PodVolume | None] | None:
        """Return the innermost mount that holds ``path``, with its volume if the pod lists it."""
        inside = [mount for mount in need(self.container.mounts) if _within(path, mount.path)]
        if not inside:
            return None
        mount = max(inside, key=lambda item: len(item.path))
        return mount, self.pod.volume(mount.volume)

    def is_durable(self, mount: Mount, volume: PodVolume | None) -> bool:
        """Return whether what is written to a mount outlives the node."""
        if mount.read_only:
            return False
        if volume is None:
            # A StatefulSet's claim templates stand outside of the pod.
            return self.pod.owner_kind == "StatefulSet"
        return _outlives(volume)


def saving(pods: Sequence[PodTemplate], declared: Mapping[str, str]) -> Saving:
    """Return what is to be said about the workload that consists of ``pods``; ``declared`` are its annotations."""
    place = pods[0].spec
    boxes = tuple(_Box(pod, container) for pod in pods for container in need(pod.containers))
    told = Told()
    for box in boxes:
        told.hear(box.container.place)
    settings = tuple(told.settings)
    paths = _targets(settings, declared)
    questions: tuple[Callable[[], Lapse | None], ...] = (
        lambda: _nowhere(boxes, settings, (*told.unknown, *told.elsewhere)) if not paths else None,
        *(partial(_outside, name, path, boxes) for name, path in paths),
        lambda: _interval(declared, place),
        lambda: _kept(declared),
        lambda: _resumes(declared, settings, place),
    )
    answers = [attempt(question) for question in questions]
    return Saving(
        problems=tuple(answer for answer in answers if isinstance(answer, Lapse)),
        open=(*told.unknown, *(answer for answer in answers if isinstance(answer, NotKnown))),
    )


def _nowhere(boxes: Sequence[_Box], settings: Settings, hidden: Sequence[NotKnown]) -> Lapse | None:
    """Return that nothing outlives the node; raise ``NotKnownError`` where something may that cannot be seen."""
    if _names_a_store(settings) or _has_durable_mount(boxes):
        return None
    for unseen in hidden:
        raise NotKnownError(unseen)
    return Lapse(
        "saves nowhere that outlives its node: no container mounts a writable claim, and neither arguments nor "
        "environment name an object store"
    )


def _targets(settings: Settings, declared: Mapping[str, str]) -> Settings:
    """Return where checkpoints are said to be written: what says it, and the path."""
    said = declared.get(declarations.CHECKPOINT_PATH)
    if said:
        return ((declarations.CHECKPOINT_PATH, said),)
    environment = dict(settings)
    found = ((name, _expanded(value, environment)) for name, value in settings if _is_target(name))
    return tuple((name, path) for name, path in found if path.startswith("/") or OBJECT_STORE.match(path))


def _is_target(name: str) -> bool:
    return _SAVES_TO.search(name) is not None and _NOT_A_TARGET.search(name) is None


def _expanded(value: str, environment: Mapping[str, str]) -> str:
    """Return a value with the variables that are known put in; a value that still starts with one says nothing."""
    return re.sub(
        r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))",
        lambda match: environment.get(next(filter(None, match.groups())), match.group(0)),
        value,
    )


def _outside(name: str, path: str, boxes: Sequence[_Box]) -> Lapse | None:
    """Return that no container has a checkpoint path on a durable volume."""
    if OBJECT_STORE.match(path):
        return None
    places = [(box, found) for box in boxes if (found := box.volume_at(path)) is not None]
    if any(box.is_durable(*found) for box, found in places):
        return None
    where = _named(places[0][1]) if places else "the container's own file system"
    return Lapse(f"saves to {path} ({name}), which is {where} and is gone with the pod or its node")


def _named(found: tuple[Mount, PodVolume | None]) -> str:
    mount, volume = found
    kind = next((key for key, _ in volume.place.entries() if key != "name"), "unknown") if volume else "unknown"
    read_only = "read-only " if mount.read_only else ""
    return f"the {read_only}volume {mount.volume} ({kind})"


def _interval(declared: Mapping[str, str], place: View) -> Lapse | None:
    said = declared.get(declarations.CHECKPOINT_MINUTES)
    if said is None:
        raise _undeclared(declarations.CHECKPOINT_MINUTES, "how often it saves", place)
    minutes = _number(said)
    if minutes is None or minutes <= 0:
        return Lapse(f"declares {said!r} minutes between checkpoints, so that it saves only when told to go, or never")
    if minutes > LONGEST_INTERVAL:
        return Lapse(f"saves every {minutes:g} minutes instead of every {LONGEST_INTERVAL} at most", minutes)
    return None


def _kept(declared: Mapping[str, str]) -> Lapse | None:
    said = declared.get(declarations.CHECKPOINTS_KEPT)
    kept = None if said is None else _number(said)
    if kept is not None and kept < FEWEST_KEPT:
        return Lapse(
            f"keeps {kept:g} checkpoints instead of {FEWEST_KEPT}: one that is damaged leaves too few to fall back on"
        )
    return None


def _resumes(declared: Mapping[str, str], settings: Settings, place: View) -> Lapse | None:
    said = declared.get(declarations.RESUMES)
    told = [
        _NO_AT_ALL if _REFUSES.match(name) is not None else value
        for name, value in settings
        if _RESUMES.search(name) is not None
    ]
    if said is not None:
        told = [said if said.strip().lower() == _YES else _NO_AT_ALL]
    if not told:
        raise _undeclared(declarations.RESUMES, "whether it resumes", place)
    if all(value.strip().lower() in _NO for value in told):
        return Lapse("does not resume: a restarted pod begins from scratch")
    return None


_YES: Final = "true"
_NO_AT_ALL: Final = "false"
_NO: Final = frozenset({_NO_AT_ALL, "0", "no", "never", "none"})


def _undeclared(annotation: str, what: str, place: View) -> NotKnownError:
    return NotKnownError(NotKnown(place.source, annotation, f"nobody declared {what}"))


def _has_durable_mount(boxes: Iterable[_Box]) -> bool:
    return any(
        box.is_durable(mount, box.pod.volume(mount.volume)) for box in boxes for mount in need(box.container.mounts)
    )


def _outlives(volume: PodVolume) -> bool:
    for key in _DURABLE:
        source = volume.place[key]
        if source.exists and source["readOnly"].boolean() is not True:
            return key != "csi" or _HANDS_OUT.search(source["driver"].text() or "") is None
    return False


def _within(path: str, mount: str) -> bool:
    folder = mount.rstrip("/")
    return path == folder or path.startswith(f"{folder}/")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _names_a_store(settings: Settings) -> bool:
    return any(OBJECT_STORE.search(value) is not None for _, value in settings)
