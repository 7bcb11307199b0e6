"""The Go on this machine, and what its failures mean."""

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
    version: tuple[int, int]
    module_cache: Path
    build_cache: Path

    def environment(self) -> dict[str, str]:
        """Return the environment for building: no C compiler, no other Go, no flags that change what is pinned."""
        changed = {
            "CGO_ENABLED": "0",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "GOWORK": "off",
        }
        return {**os.environ, **changed}


def find(needed: tuple[int, int], purpose: str) -> Go:
    """Find Go on PATH.

    Raises:
        SandboxError: there is none, it cannot be run, or it is older than ``needed``.

    """
    wanted = f"{needed[0]}.{needed[1]}"
    executable = shutil.which("go")
    if executable is None:
        raise SandboxError(
            f"no Go found on PATH, and {purpose} has to be built with it\n"
            f"  install Go {wanted} or newer (https://go.dev/dl), or put a ready-made {purpose} on PATH, and run again"
        )
    facts = _facts(executable)
    version = _version(facts.get("GOVERSION", ""))
    if version is None or version < needed:
        raise SandboxError(
            f"Go is too old: {executable} is {facts.get('GOVERSION', 'of an unknown version')}, "
            f"and {purpose} needs {wanted} or newer\n  install a newer Go (https://go.dev/dl) and run again"
        )
    return Go(executable, version, Path(facts["GOMODCACHE"]), Path(facts["GOCACHE"]))


def explain(log: str, go: Go) -> str:
    """Say in a sentence what a failed build's log means, and what to do; empty if it cannot be told."""
    if NO_SPACE in log:
        return (
            f"the disk is full: Go keeps sources in {go.module_cache} and objects in {go.build_cache} (about 4 GB "
            "for the engine); free some space and run again, it goes on where it stopped"
        )
    if _NETWORK.search(log):
        return "the Go module proxy (GOPROXY) cannot be reached; run again when it can, it goes on where it stopped"
    if "checksum mismatch" in log or "missing go.sum entry" in log:
        return "a downloaded module is not the one that was pinned; run `go clean -modcache` and try again"
    return ""


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


def _version(text: str) -> tuple[int, int] | None:
    found = re.search(r"go(\d+)\.(\d+)", text)
    return (int(found.group(1)), int(found.group(2))) if found else None
