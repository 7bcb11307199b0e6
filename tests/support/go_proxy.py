"""A Go module proxy in a folder, with modules a test makes up; Go reads it by a ``file://`` address."""

from __future__ import annotations

import hashlib
import json
import zipfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path


def publish(proxy: Path, module: str, version: str, files: Mapping[str, str]) -> str:
    """Put one version of a module into the proxy, and return its two lines of ``go.sum``."""
    contents = {"go.mod": f"module {module}\n\ngo 1.24\n", **files}
    folder = proxy / module / "@v"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "list").write_text(f"{version}\n")
    (folder / f"{version}.info").write_text(json.dumps({"Version": version, "Time": "2026-01-01T00:00:00Z"}))
    (folder / f"{version}.mod").write_text(contents["go.mod"])
    full = {f"{module}@{version}/{name}": text for name, text in contents.items()}
    with zipfile.ZipFile(folder / f"{version}.zip", "w") as archive:
        for name, text in full.items():
            archive.writestr(name, text)
    return f"{module} {version} {_h1(full)}\n{module} {version}/go.mod {_h1({'go.mod': contents['go.mod']})}\n"


def _h1(files: Mapping[str, str]) -> str:
    """Hash files as ``go.sum`` does: the SHA-256 of a list of their SHA-256 sums (golang.org/x/mod/sumdb/dirhash)."""
    lines = (f"{hashlib.sha256(files[name].encode()).hexdigest()}  {name}\n" for name in sorted(files))
    return "h1:" + b64encode(hashlib.sha256("".join(lines).encode()).digest()).decode()
