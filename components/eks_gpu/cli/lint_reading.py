"""What ``eks-gpu lint`` is given to read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eks_gpu.cli import kustomize
from eks_gpu.cli.exit_codes import CannotRun
from eks_gpu_policies.manifests.documents import Broken
from eks_gpu_policies.manifests.files import STDIN, Reading, read_paths, read_text, shown_name

_STDIN: Final = "-"
_NAMED: Final = 3
"""How many folders a note names."""
_NOTHING: Final = "no Kubernetes object was found, so that nothing was judged; --skipped says what was read and why not"


def read(paths: Sequence[str], *, build: bool) -> tuple[Reading, tuple[str, ...]]:
    """Read everything that was named, and return it with notes for people.

    With ``build`` the folders that have a kustomization are built by kustomize. Raise :class:`CannotRun` for a path
    that is not there, for an empty standard input, and for ``build`` on a machine without kustomize.
    """
    missing = [path for path in paths if path != _STDIN and not Path(path).exists()]
    if missing:
        raise CannotRun(f"{', '.join(missing)}: no such file or folder; give manifests, folders of them, or -")
    here = Path.cwd()
    reading = read_paths([Path(path) for path in paths if path != _STDIN], here)
    if _STDIN in paths:
        _read_stdin(reading)
    notes = _build(reading, here) if build else _offers(reading, here)
    return reading, notes if reading.files else (*notes, _NOTHING)


def _read_stdin(reading: Reading) -> None:
    try:
        text = sys.stdin.buffer.read().decode("utf-8")
        if not text.strip():
            raise CannotRun("standard input is empty: what was to write manifests into it failed, or wrote none")
    except UnicodeDecodeError:
        reading.broken.append(Broken(STDIN, 1, "the input is no UTF-8, which YAML is written in here"))
    else:
        read_text(STDIN, text, reading)


def _build(reading: Reading, here: Path) -> tuple[str, ...]:
    """Put what kustomize builds in the place of the files that it builds from."""
    folders = kustomize.roots(reading.kustomizations)
    if not folders:
        return ()
    command = kustomize.builder()
    if command is None:
        raise CannotRun(
            "neither kustomize nor kubectl is on PATH, so that nothing can be built here; "
            "build it elsewhere and pipe it: kustomize build DIR | eks-gpu lint -"
        )
    built = [folder.resolve() for folder in reading.kustomizations]
    reading.manifests = [item for item in reading.manifests if not kustomize.belongs(here / item.file, built)]
    reading.broken = [item for item in reading.broken if not kustomize.belongs(here / item.file, built)]
    reading.skipped = [item for item in reading.skipped if not kustomize.belongs(here / item.file, built)]
    for folder in folders:
        kustomize.build(folder, command, here, reading)
    return ()


def _offers(reading: Reading, here: Path) -> tuple[str, ...]:
    folders = kustomize.roots(reading.kustomizations)
    if not folders:
        return ()
    names = ", ".join(shown_name(folder, here) for folder in folders[:_NAMED])
    more = f" and {len(folders) - _NAMED} more" if len(folders) > _NAMED else ""
    how = "--kustomize judges what it builds" if kustomize.builder() else "pipe in what it builds"
    note = f"{names}{more}: kustomize changes these files before a cluster sees them, and they were judged as they are"
    return (f"{note}; {how} (kustomize build DIR | eks-gpu lint -)",)
