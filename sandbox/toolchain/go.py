"""The Go on this machine, what its failures mean, and the modules in its cache."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

NO_SPACE = "no space left on device"
_NETWORK = re.compile(
    r"dial tcp|no such host|i/o timeout|connection refused|connection reset|TLS handshake", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Go:
    """A usable Go."""

    executable: str
    version: tuple[int, ...]
    module_cache: Path
    build_cache: Path

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment for building: no C compiler, no other Go, no flags that change what is pinned."""
        changed = {
            "CGO_ENABLED": "0",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "GOWORK": "off",
        }
        return {**os.environ, **changed, **more}

    def cached_module(self, module: str, version: str, pins: Path) -> Path | None:
        """Return where a module lies in the cache, if it does; ``pins`` is the folder whose ``go.sum`` it must match.

        Raises:
            SandboxError: what is in the cache is not what was pinned.

        """
        command = [self.executable, "mod", "download", "-json", f"{module}@{version}"]
        offline = self.environment(GOPROXY="off")
        answer = subprocess.run(command, cwd=pins, env=offline, capture_output=True, text=True, check=False)
        try:
            found = json.loads(answer.stdout)
        except ValueError:
            found = {}
        said = f"{found.get('Error', '')}{answer.stderr}"
        if _is_another(said):
            raise SandboxError(f"{module} {version} in Go's module cache: {explain(said, self)}")
        return Path(found["Dir"]) if answer.returncode == 0 and "Dir" in found else None


def find(needed: tuple[int, ...], purpose: str, *, otherwise: str = "") -> Go:
    """Find Go on PATH.

    Args:
        needed: the oldest version that will do.
        purpose: what it is needed for, completing "... needs Go".
        otherwise: what else the user may do than install Go, as a command.

    Raises:
        SandboxError: there is none, it cannot be run, or it is older than ``needed``.

    """
    wanted = ".".join(map(str, needed))
    executable = shutil.which("go")
    if executable is None:
        choice = f", or {otherwise}," if otherwise else ""
        raise SandboxError(
            f"no Go found on PATH, and {purpose} needs it\n"
            f"  install Go {wanted} or newer (https://go.dev/dl){choice} and run again"
        )
    facts = _facts(executable)
    version = _version(facts.get("GOVERSION", ""))
    if version < needed:
        raise SandboxError(
            f"Go is too old: {executable} is {facts.get('GOVERSION', 'of an unknown version')}, "
            f"and {purpose} needs {wanted} or newer\n  install a newer Go (https://go.dev/dl) and run again"
        )
    return Go(executable, version, Path(facts["GOMODCACHE"]), Path(facts["GOCACHE"]))


def explain(log: str, go: Go) -> str:
    """Say in a sentence what a failed run's log means, and what to do; empty if it cannot be told."""
    if NO_SPACE in log:
        return (
            f"the disk is full: Go keeps sources in {go.module_cache} (6 GB when every tool is built) and objects in "
            f"{go.build_cache} (11 GB; both together about 4 GB for the engine alone); free some space and run again, "
            "it goes on where it stopped"
        )
    if _NETWORK.search(log):
        return "the Go module proxy (GOPROXY) cannot be reached; run again when it can, it goes on where it stopped"
    if _is_another(log):
        return "a downloaded module is not the one that was pinned; run `go clean -modcache` and try again"
    return ""


def _is_another(log: str) -> bool:
    return "checksum mismatch" in log or "missing go.sum entry" in log


def _facts(executable: str) -> Mapping[str, str]:
    command = [executable, "env", "-json", "GOVERSION", "GOMODCACHE", "GOCACHE"]
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    try:
        facts = json.loads(answer.stdout)
    except ValueError:
        facts = None
    if answer.returncode != 0 or not isinstance(facts, dict):
        raise SandboxError(
            f"{executable} does not run: {(answer.stderr or answer.stdout).strip()[:200] or 'no answer'}"
        )
    return {str(key): str(value) for key, value in facts.items()}


def _version(text: str) -> tuple[int, ...]:
    """Return the numbers of ``go1.26.8``; none at all for a version that says nothing about its age."""
    found = re.search(r"go(\d+(?:\.\d+)+)", text)
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()
