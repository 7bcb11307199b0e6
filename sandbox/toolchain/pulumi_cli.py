"""Which Pulumi engine is used: the one on PATH if it is new enough, else the one built here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.checkout import Checkout
from sandbox.toolchain import builder
from sandbox.toolchain.tools import PULUMI

MINIMUM = (3, 248)
"""The oldest engine that is used from PATH.

Older ones do not read every option from the environment (``PULUMI_OPTION_*``) and have no ``--skip-plugin-pre-install``
(pulumi/pulumi pull request 22947, 2026-05-11), so each run would ask a registry for the official plugins.
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """A Pulumi engine and its Python host, which lie in the same folder."""

    folder: Path
    origin: str
    """For people: where it comes from."""

    @property
    def executable(self) -> str:
        """The ``pulumi`` program."""
        return str(self.folder / "pulumi")


def available(checkout: Checkout) -> Installation | None:
    """Return the engine to use if it can be used at once; None if it has to be built first."""
    on_path = _on_path(checkout)
    if on_path is not None:
        return on_path
    folder = builder.built(PULUMI)
    return Installation(folder, f"built here, {PULUMI.version}") if folder else None


def ensure(checkout: Checkout) -> Installation:
    """Return the engine to use, after building it where that is needed."""
    ready = available(checkout)
    return ready if ready is not None else Installation(builder.ensure(PULUMI), f"built here, {PULUMI.version}")


def _on_path(checkout: Checkout) -> Installation | None:
    found = shutil.which("pulumi")
    if found is None:
        return None
    executable = Path(found).resolve()
    # The host is looked for beside the engine first; without one there, any on PATH would do but draw a warning.
    if not os.access(executable.with_name("pulumi-language-python"), os.X_OK):
        return None
    version = _version(checkout, executable)
    if version is None or version < MINIMUM:
        return None
    return Installation(executable.parent, f"found on PATH, v{version[0]}.{version[1]}")


def _version(checkout: Checkout, executable: Path) -> tuple[int, int] | None:
    """Return the version; remembered as long as the file does not change, for asking takes a quarter of a second."""
    status = executable.stat()
    key = [str(executable), status.st_mtime_ns, status.st_size]
    memory = checkout.directory / "pulumi-on-path.json"
    try:
        known = json.loads(memory.read_text())
    except (OSError, ValueError):
        known = {}
    if known.get("key") != key:
        environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_HOME": str(checkout.pulumi_home)}
        answer = subprocess.run([executable, "version"], capture_output=True, text=True, check=False, env=environment)
        known = {"key": key, "version": answer.stdout.strip()}
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(json.dumps(known))
    found = re.match(r"v?(\d+)\.(\d+)\.", str(known["version"]))
    return (int(found.group(1)), int(found.group(2))) if found else None
