"""Changes to a Go module's sources: exact replacements in a copy, because Go's module cache must stay as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError


@dataclass(frozen=True, slots=True)
class Patch:
    """One text in one file of a module, and what stands there instead."""

    file: str
    """Relative to the module's folder."""
    old: str
    new: str
    reason: str
    """Completes "patched so that ...": for readers, and for the message where the text is not found."""
    count: int = 1
    """How often ``old`` occurs; any other number means that the module is not the one the patch was written for."""


@dataclass(frozen=True, slots=True)
class PatchedModule:
    """A module that is built from a changed copy."""

    module: str
    patches: tuple[Patch, ...]


def apply(patches: Iterable[Patch], folder: Path) -> None:
    """Change the files of a module's copy in ``folder``, in the order of the patches.

    Raises:
        SandboxError: a file is not there, or its text does not occur as often as it should.

    """
    for patch in patches:
        path = folder / patch.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        found = text.count(patch.old)
        if found != patch.count:
            raise SandboxError(
                f"{patch.file} cannot be patched so that {patch.reason}: {patch.old!r} must occur {patch.count} "
                f"{'time' if patch.count == 1 else 'times'} and occurs {found}; the patch belongs to another version "
                "of the module: compare it with the pinned one"
            )
        path.write_text(text.replace(patch.old, patch.new), encoding="utf-8")
