"""Kustomizations: which of a folder's files are no objects of their own, because kustomize makes something of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from eks_gpu_policies.manifests.documents import BrokenError, Node, documents

FILE_NAMES: Final = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})

_WHOLE_OBJECTS: Final = frozenset({"resources", "bases", "crds", "components"})
"""Fields that name files and folders of whole objects; whatever else a kustomization names is used to change them."""

_LONGEST_NAME: Final = 255
"""Longer texts name no file, and asking for one that long is an error by itself."""


def parts(kustomization: Path) -> set[Path]:
    """Return the files that a kustomization uses to change its objects: patches, generators, values of charts."""
    return {path for key, path in _named(kustomization) if key not in _WHOLE_OBJECTS and path.is_file()}


def used(kustomization: Path) -> set[Path]:
    """Return every file and folder that a kustomization names."""
    return {path for _, path in _named(kustomization) if path.exists()}


def _named(kustomization: Path) -> Iterator[tuple[str, Path]]:
    for key, text in _texts(kustomization):
        if text and len(text) <= _LONGEST_NAME and "\n" not in text and "://" not in text and "\0" not in text:
            # A generator's file may be given as name=path.
            yield key, (kustomization.parent / text.rpartition("=")[2]).resolve()


def _texts(kustomization: Path) -> Iterator[tuple[str, str]]:
    """Yield every text of a kustomization with the field that it is in; nothing of one that cannot be read."""
    try:
        found = [node for document in documents(kustomization.read_text(encoding="utf-8")) for node in document.read()]
    except (OSError, UnicodeDecodeError, BrokenError):
        return
    for node in found:
        if isinstance(node.value, dict):
            for key, entry in node.value.items():
                for text in _below(entry.node):
                    yield key, text


def _below(root: Node) -> Iterator[str]:
    pending = [root]
    while pending:
        value = pending.pop().value
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(entry.node for entry in value.values())
