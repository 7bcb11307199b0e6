"""Files of Go modules, such as CRDs: in Go's module cache after ``make modules``, pinned by our go.mod and go.sum."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_PINS = Path(__file__).with_name("modules")


@dataclass(frozen=True)
class GoModule:
    """A module that is read, and never built; ``pin`` names the folder beside this file with its go.mod and go.sum."""

    path: str
    pin: str

    @cached_property
    def version(self) -> str:
        """The pinned version, without its ``v``."""
        for line in (_PINS / self.pin / "go.mod").read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:2] == ["require", self.path]:
                return words[2].removeprefix("v")
        raise LookupError(f"go.mod of {self.pin} requires no {self.path}")

    @cached_property
    def folder(self) -> Path:
        """Where the module lies in Go's cache. Go refuses one that differs from go.sum; nothing is fetched here."""
        go = shutil.which("go")
        if go is None:
            raise FileNotFoundError(f"Go is not on PATH; install it to read files of {self.path}")
        command = [go, "mod", "download", "-json", f"{self.path}@v{self.version}"]
        offline = {**os.environ, "GOPROXY": "off"}
        done = subprocess.run(command, cwd=_PINS / self.pin, env=offline, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout or "{}")
        if done.returncode != 0 or "Dir" not in found:
            raise RuntimeError(
                f"{self.path} v{self.version} is not in Go's module cache; run: make modules "
                f"({found.get('Error') or done.stderr.strip()})"
            )
        return Path(found["Dir"])
