"""Builds a tool once per user: resumable, atomic, and by one process at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sandbox.checkout import user_cache
from sandbox.errors import SandboxError
from sandbox.locks import exclusive
from sandbox.toolchain import go as golang
from sandbox.toolchain import workspace
from sandbox.toolchain.go_module import fetch
from sandbox.toolchain.progress import Progress, duration
from sandbox.toolchain.running import run
from sandbox.toolchain.tools import GoBinary, ModuleFile, Tool


def built(tool: Tool) -> Path | None:
    """Return the tool's folder if everything in it is there; runs nothing, so that a second start costs nothing."""
    folder = user_cache() / tool.folder_name
    return None if _missing(tool, folder) else folder


def ensure(tool: Tool) -> Path:
    """Return the tool's folder, after building what is missing.

    Raises:
        SandboxError: Go is missing or too old, the disk is full, or the build failed; a re-run goes on.

    """
    ready = built(tool)
    if ready is not None:
        return ready
    folder = user_cache() / tool.folder_name

    def waiting() -> None:
        print(f"waiting: another process is building {tool.name} {tool.version}", flush=True)

    try:
        with exclusive(folder.with_name(f"{folder.name}.lock"), waiting):
            _build_missing(tool, folder)
    except OSError as error:
        raise SandboxError(f"cannot build {tool.name} in {folder}: {error.strerror or error}") from error
    return folder


def _missing(tool: Tool, folder: Path) -> set[str]:
    return {name for name in tool.contents if not os.access(folder / name, os.X_OK)}


def _build_missing(tool: Tool, folder: Path) -> None:
    missing = _missing(tool, folder)
    if not missing:
        return
    needed = max(binary.go_version for binary in tool.binaries)
    otherwise = f"put a ready-made {tool.name} on PATH" if tool.found_on_path else ""
    go = golang.find(needed, f"building {tool.name}", otherwise=otherwise)
    folder.mkdir(parents=True, exist_ok=True)
    for binary in tool.binaries:
        if binary.name in missing:
            _install(folder / binary.name, partial(_build, go, binary))
    for file in tool.files:
        if file.name in missing:
            _install(folder / file.name, partial(_copy, go, tool.binaries[0], file))


def _install(path: Path, make: Callable[[Path], None]) -> None:
    """Make a file under another name and rename it, so that half a file is never taken for a whole one."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        make(temporary)
        temporary.chmod(0o755)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _build(go: golang.Go, binary: GoBinary, target: Path) -> None:
    with workspace.prepared(go, binary, target.parent) as folder:
        arguments = [
            *("build", "-v", "-trimpath", "-ldflags", binary.linker_flags),
            *("-o", str(target), binary.package),
        ]
        progress = Progress(
            "building",
            f"{binary.name} {binary.version}",
            f" with Go, once: about {duration(binary.seconds)} with empty caches on two cores",
        )
        log = target.with_name(f"{binary.name}.log")
        run(go, arguments, folder=folder, log=log, progress=progress)
    progress.done("built")


def _copy(go: golang.Go, binary: GoBinary, file: ModuleFile, target: Path) -> None:
    source = fetch(go, file.module, binary.pinned[file.module], binary.folder) / file.path
    if not source.is_file():
        raise SandboxError(f"{file.name} cannot be taken from the Go module {file.module}: {source} is not there")
    shutil.copyfile(source, target)
