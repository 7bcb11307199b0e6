"""Go modules that are read, and never built: custom resource definitions, and what the node simulator needs.

Each is pinned by the ``go.mod`` and ``go.sum`` of a folder in ``modules/`` and lies in Go's module cache, where it is
put by ``python -m sandbox build modules``. The control plane is given the same files the tests read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sandbox.checkout import user_cache
from sandbox.errors import SandboxError
from sandbox.toolchain import go as golang
from sandbox.toolchain.progress import Progress
from sandbox.toolchain.running import run

PINS = Path(__file__).resolve().with_name("modules")

_GO = (1, 24)
"""The oldest Go that reads the files in ``modules/``."""


@dataclass(frozen=True)
class GoModule:
    """A module that is read; ``pin`` names the folder in ``modules/`` with its ``go.mod`` and ``go.sum``."""

    path: str
    pin: str
    pins: Path = PINS

    @cached_property
    def version(self) -> str:
        """The pinned version, without its ``v``."""
        for path, version in _required(self.pins / self.pin):
            if path == self.path:
                return version.removeprefix("v")
        raise LookupError(f"go.mod of {self.pin} requires no {self.path}")

    @cached_property
    def folder(self) -> Path:
        """Where the module lies in Go's cache. Go refuses one that differs from ``go.sum``; nothing is fetched here.

        Raises:
            SandboxError: it is not there, or Go is not.

        """
        found = self._cached(golang.find(_GO, f"reading files of {self.path}"))
        if found is None:
            raise SandboxError(f"{self.path} v{self.version} is not in Go's module cache; run: make modules")
        return found

    def fetch(self) -> Path:
        """Return where the module lies, after downloading it if it is not there.

        Raises:
            SandboxError: Go is missing, the disk is full, or the module proxy cannot be reached.

        """
        return fetch(golang.find(_GO, f"fetching {self.path}"), self.path, f"v{self.version}", self.pins / self.pin)

    def _cached(self, go: golang.Go) -> Path | None:
        return go.cached_module(self.path, f"v{self.version}", self.pins / self.pin)


def fetch(go: golang.Go, module: str, version: str, pins: Path) -> Path:
    """Return where a module lies in Go's cache, after downloading it there; ``pins`` has the ``go.sum`` it must match.

    Raises:
        SandboxError: it could not be downloaded, or is not what was pinned.

    """
    found = go.cached_module(module, version, pins)
    if found is not None:
        return found
    log = user_cache() / "log" / f"{pins.name}.log"
    progress = Progress("fetching", f"{module} {version}")
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        run(go, ["mod", "download", f"{module}@{version}"], folder=pins, log=log, progress=progress)
    except OSError as error:
        raise SandboxError(f"cannot write {log}: {error.strerror or error}") from error
    found = go.cached_module(module, version, pins)
    if found is None:
        raise SandboxError(f"fetching {module} {version} failed: Go has downloaded it, and does not find it")
    progress.done("fetched")
    return found


def fetch_all(pins: Path = PINS) -> list[Path]:
    """Fetch every module that is pinned in ``modules/``, and return where they lie.

    Raises:
        SandboxError: see ``GoModule.fetch``.

    """
    return [module.fetch() for module in _pinned(pins)]


def _pinned(pins: Path) -> Iterator[GoModule]:
    for file in sorted(pins.glob("*/go.mod")):
        for path, _ in _required(file.parent):
            yield GoModule(path, file.parent.name, pins)


def _required(folder: Path) -> list[tuple[str, str]]:
    text = (folder / "go.mod").read_text(encoding="utf-8")
    return re.findall(r"^(?:require |\t)(\S+) (v\S+)", text, re.MULTILINE)
