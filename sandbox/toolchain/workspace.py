"""Where a binary is built that is more than modules as they are: with sources of our own, or with a patched module."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.toolchain import patches
from sandbox.toolchain.go import Go
from sandbox.toolchain.go_module import fetch
from sandbox.toolchain.tools import GoBinary


@contextmanager
def prepared(go: Go, binary: GoBinary, near: Path) -> Iterator[Path]:
    """Give the folder to build in; if it has to be made, it lies in ``near`` and is gone afterwards.

    Made is a copy of the module files and of our sources, with the files they embed beside them, and with a changed
    copy of each patched module, which ``go.mod`` then points to. What Go compiled stays in its cache: another try takes
    as long as the copying.

    Raises:
        SandboxError: a module cannot be fetched, or a patch does not fit it.

    """
    if not binary.embedded and not binary.patched:
        yield binary.folder
        return
    work = near / f".{binary.name}.work"
    shutil.rmtree(work, ignore_errors=True)
    try:
        work.mkdir()
        _fill(go, binary, work)
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _fill(go: Go, binary: GoBinary, work: Path) -> None:
    for source in binary.sources:
        shutil.copyfile(source, work / source.name)
    for file in binary.embedded:
        module = fetch(go, file.module, binary.pinned[file.module], binary.folder)
        shutil.copyfile(module / file.path, work / file.name)
    for patched in binary.patched:
        module = fetch(go, patched.module, binary.pinned[patched.module], binary.folder)
        copy = work / patched.module
        _copy_writable(module, copy)
        patches.apply(patched.patches, copy)
        with (work / "go.mod").open("a", encoding="utf-8") as written:
            written.write(f"\nreplace {patched.module} => ./{patched.module}\n")


def _copy_writable(source: Path, target: Path) -> None:
    """Copy a folder's contents without its permissions: nothing in Go's module cache can be written."""
    target.mkdir(parents=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy_writable(entry, target / entry.name)
        else:
            shutil.copyfile(entry, target / entry.name)
