"""Where things lie: what belongs to this checkout, and what is shared by all checkouts of a user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder that holds ``Pulumi.yaml``, ``stacks/`` and ``sandbox/``."""

DIRECTORY_VARIABLE = "EKS_GPU_SANDBOX_DIR"
"""Tells the stand-in providers, and anything else the engine starts, which sandbox they belong to."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The folders of one sandbox: state, logs and settings of one checkout (or of one test)."""

    directory: Path

    @classmethod
    def current(cls) -> Checkout:
        """Return the sandbox named by the environment, else the one in this checkout (``.sandbox/``)."""
        named = os.environ.get(DIRECTORY_VARIABLE)
        return cls(Path(named) if named else ROOT / ".sandbox")

    @property
    def pulumi_home(self) -> Path:
        """Pulumi's own folder: plugins, logs, credentials; never the user's ``~/.pulumi``."""
        return self.directory / "pulumi-home"

    @property
    def state(self) -> Path:
        """The file backend."""
        return self.directory / "state"

    @property
    def config(self) -> Path:
        """Copies of stack files, which the engine may rewrite as it likes."""
        return self.directory / "config"

    @property
    def logs(self) -> Path:
        """Logs of what runs in the background."""
        return self.directory / "log"

    @property
    def passphrase(self) -> Path:
        """The random passphrase of this sandbox's secrets."""
        return self.directory / "passphrase"

    def prepare(self) -> None:
        """Create the folders; only the owner may look into them, for the state holds secrets."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.pulumi_home, self.state, self.config, self.logs):
            folder.mkdir(mode=0o700, exist_ok=True)


def user_cache() -> Path:
    """Return the folder of built tools, shared by all checkouts (``XDG_CACHE_HOME``, else ``~/.cache``)."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative path is to be ignored, says the XDG specification.
    return (base if base.is_absolute() else Path.home() / ".cache") / "eks-gpu-sandbox"
