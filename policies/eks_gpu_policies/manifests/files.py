"""Which files are manifests: what is read, what is passed over and why, and what should be read and cannot be."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eks_gpu_policies.manifests.documents import Broken, BrokenError, documents
from eks_gpu_policies.manifests.kustomizations import FILE_NAMES, parts
from eks_gpu_policies.manifests.objects import NOT_IN_A_CLUSTER, Manifest, objects

SUFFIXES: Final = (".yaml", ".yml", ".json")
STDIN: Final = "<stdin>"
"""The file name of what was piped in."""

_PASSED_OVER: Final = {"node_modules", "venv", "__pycache__"}
"""Folders that hold what others wrote; hidden ones are passed over too."""

_HELM: Final = "a Helm template; judge what it renders: helm template CHART | eks-gpu lint -"
_TEMPLATE: Final = re.compile(r"\{\{-?\s*(\.Values|\.Release|\.Chart|\.Capabilities|include |define |toYaml |tpl )")
_CHART: Final = "Chart.yaml"
_KUSTOMIZATION: Final = "a kustomization, which is no object of a cluster"
_PART: Final = "a part of a kustomization, which patches or generates"
_NO_OBJECT: Final = "no Kubernetes object in it"
_VERSION: Final = re.compile(r"\bapiVersion[\"']?\s*:\s*[\"']?([^\s\"',}]+)")
_KIND: Final = re.compile(r"\bkind[\"']?\s*:")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not judged."""

    file: str
    reason: str


@dataclass
class Reading:
    """What was found in files."""

    manifests: list[Manifest] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    kustomizations: list[Path] = field(default_factory=list)
    """Folders that kustomize would build; their files are read as they are."""

    @property
    def files(self) -> int:
        """How many files had an object in them, or should have had."""
        return len({item.file for item in self.manifests} | {item.file for item in self.broken})


def read_text(file: str, text: str, reading: Reading, *, named: bool = True, built: bool = False) -> None:
    """Read one text; ``named`` if somebody asked for it, so that it must be YAML; ``built`` if it is in no file."""
    if not named and not _may_be_object(text):
        reading.skipped.append(Skipped(file, _NO_OBJECT))
        return
    if _TEMPLATE.search(text):
        reading.skipped.append(Skipped(file, _HELM))
        return
    found: list[Manifest] = []
    broken: list[Broken] = []
    for document in documents(text):
        try:
            found.extend(objects(file, document.read(), len(found), built=built))
        except BrokenError as error:
            if "{{" in document.text or "{%" in document.text:
                reading.skipped.append(Skipped(file, _HELM))
                return
            if named or _may_be_object(document.text):
                broken.append(Broken(file, 1 if built else error.line, error.problem))
    reading.manifests.extend(found)
    reading.broken.extend(broken)
    if not found and not broken:
        reading.skipped.append(Skipped(file, _NO_OBJECT))


def _may_be_object(text: str) -> bool:
    """Return whether a text, readable or not, seems to be meant for an API server."""
    versions = _VERSION.findall(text)
    return _KIND.search(text) is not None and any(not item.startswith(NOT_IN_A_CLUSTER) for item in versions)


def read_paths(paths: Iterable[Path], shown: Path) -> Reading:
    """Read files, and every manifest in folders; files are named as seen from ``shown``."""
    reading = Reading()
    seen: set[Path] = set()
    for path in paths:
        if path.is_dir():
            for file, skip in _walk(path, reading):
                _read_once(file, shown, reading, seen, skip=skip, named=False)
        else:
            _read_once(path, shown, reading, seen, skip=None, named=True)
    return reading


def _read_once(path: Path, shown: Path, reading: Reading, seen: set[Path], *, skip: str | None, named: bool) -> None:  # noqa: PLR0913
    whole = path.resolve()
    if whole in seen:
        return
    seen.add(whole)
    name = shown_name(path, shown)
    if skip is None and path.name in FILE_NAMES:
        skip = _KUSTOMIZATION
    if skip is not None:
        reading.skipped.append(Skipped(name, skip))
        return
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reading.broken.append(Broken(name, 1, "the file is no UTF-8, which YAML is written in here"))
    except OSError as error:
        reading.broken.append(Broken(name, 1, f"the file cannot be read: {error.strerror or error}"))
    else:
        read_text(name, text, reading, named=named)


def shown_name(path: Path, start: Path) -> str:
    """Return a file's name as seen from ``start``, with slashes; whole if it is not below it."""
    whole = path.resolve()
    return whole.relative_to(start).as_posix() if whole.is_relative_to(start) else whole.as_posix()


def _walk(folder: Path, reading: Reading) -> Iterator[tuple[Path, str | None]]:
    """Yield the files of a folder that may be manifests, each with the reason to pass it over, if there is one."""
    patches: set[Path] = set()
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        for name in sorted(names):
            path = Path(place, name)
            if name in FILE_NAMES:
                reading.kustomizations.append(path.parent)
                patches |= parts(path)
            if name.endswith(SUFFIXES) or name in FILE_NAMES:
                found.append(path)
    for path in found:
        yield path, _reason(path, patches)


def _reason(path: Path, patches: set[Path]) -> str | None:
    if path.resolve() in patches:
        return _PART
    if path.name == _CHART or ((path.parent / _CHART).is_file() and path.name.startswith("values")):
        return _NO_OBJECT
    return None
