"""What kustomize makes of a folder, built by the program that people have for it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from eks_gpu_policies.manifests.documents import Broken
from eks_gpu_policies.manifests.files import Reading, read_text, shown_name
from eks_gpu_policies.manifests.kustomizations import FILE_NAMES, used

_PATIENCE_SECONDS: Final = 120
"""For a build that fetches its bases."""


def builder() -> tuple[str, ...] | None:
    """Return the command that builds a folder; None when this machine has none."""
    for command in (("kustomize", "build"), ("kubectl", "kustomize")):
        program = shutil.which(command[0])
        if program is not None:
            return (program, *command[1:])
    return None


def roots(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders that no other one builds upon: the overlays, not their bases."""
    all_folders = tuple(dict.fromkeys(folder.resolve() for folder in folders))
    bases = {path for folder in all_folders for file in _files(folder) for path in used(file)}
    return tuple(folder for folder in all_folders if folder not in bases)


def _files(folder: Path) -> list[Path]:
    return [folder / name for name in sorted(FILE_NAMES) if (folder / name).is_file()]


def belongs(file: Path, folders: Iterable[Path]) -> bool:
    """Return whether a file is in a folder that is built, so that it is judged as built."""
    whole = file.resolve()
    return any(whole.is_relative_to(folder.resolve()) for folder in folders)


def build(folder: Path, command: tuple[str, ...], shown: Path, reading: Reading) -> None:
    """Add to ``reading`` what kustomize makes of a folder; the objects stand in the kustomization, in its first line.

    The lines of what was built are in no file that anybody could open.
    """
    file = shown_name(_files(folder)[0], shown)
    try:
        done = subprocess.run(  # noqa: S603 - the program is kustomize or kubectl, the folder is no option
            [*command, str(folder.resolve())], capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reading.broken.append(Broken(file, 1, f"kustomize did not build it: {error}"))
        return
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        reading.broken.append(Broken(file, 1, f"kustomize did not build it: {said}"))
        return
    read_text(file, done.stdout, reading, built=True)
