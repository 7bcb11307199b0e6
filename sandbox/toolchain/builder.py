"""Builds a tool once per user: resumable, atomic, and by one process at a time."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from sandbox.checkout import user_cache
from sandbox.errors import SandboxError
from sandbox.locks import exclusive
from sandbox.processes import stop
from sandbox.toolchain import go as golang
from sandbox.toolchain.progress import Progress
from sandbox.toolchain.tools import GoBinary, ModuleFile, Tool

TAIL_LINES = 12
"""How much of a failed build's log is shown; the whole of it stays in the log file."""


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
    go = golang.find(max(binary.go_version for binary in tool.binaries), tool.name)
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
    log = target.with_name(f"{binary.name}.log")
    command = [
        *(go.executable, "build", "-C", str(binary.folder), "-v", "-trimpath"),
        *("-ldflags", binary.linker_flags, "-o", str(target), binary.package),
    ]
    progress = Progress(f"{binary.name} {binary.version}", binary.seconds)
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=go.environment(),
        process_group=0,
    ) as process:
        try:
            with log.open("w") as written:
                code = _follow(process, progress, written, tail)
        except BaseException:
            stop(process)
            progress.done("stopped (what is downloaded and compiled is kept; the next run goes on from there)")
            raise
    if code != 0 or not target.exists():
        progress.done("failed")
        raise SandboxError(_failure(binary, go, log, tail))
    progress.done("built")


def _follow(process: subprocess.Popen[str], progress: Progress, log: IO[str], tail: deque[str]) -> int:
    """Read a build's output to its end, while the main thread shows progress and can be interrupted."""

    def read(stream: IO[str]) -> None:
        # A full disk must not stop the reading: the build would wait for ever on a full pipe.
        for line in stream:
            progress.saw(line)
            tail.append(line.rstrip())
            with contextlib.suppress(OSError, ValueError):
                log.write(line)

    reader = threading.Thread(target=read, args=(process.stdout,), daemon=True)
    reader.start()
    while reader.is_alive():
        reader.join(timeout=1)
        progress.tick()
    return process.wait()


def _failure(binary: GoBinary, go: golang.Go, log: Path, tail: deque[str]) -> str:
    reason = golang.explain(log.read_text(errors="replace") if log.exists() else "\n".join(tail), go)
    shown = "\n".join(f"    {line}" for line in tail if line)
    return "\n".join(
        part
        for part in (
            f"building {binary.name} {binary.version} failed" + (f": {reason}" if reason else ""),
            "  the end of what Go said:" if shown else "",
            shown,
            f"  all of it: {log}",
        )
        if part
    )


def _copy(go: golang.Go, binary: GoBinary, file: ModuleFile, target: Path) -> None:
    command = [go.executable, "list", "-C", str(binary.folder), "-m", "-f", "{{.Dir}}", file.module]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=go.environment())
    source = Path(answer.stdout.strip()) / file.path
    if answer.returncode != 0 or not answer.stdout.strip() or not source.is_file():
        said = answer.stderr.strip() or f"{source} is not there"
        raise SandboxError(f"{file.name} cannot be taken from the Go module {file.module}: {said}")
    shutil.copyfile(source, target)
