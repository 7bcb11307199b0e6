"""Exit codes, the same for every command, and the one way to stop with a sentence."""

from __future__ import annotations

from typing import Final

FINDINGS: Final = 1
"""The command ran and found something that must be mended."""

COULD_NOT_RUN: Final = 2
"""The command could not do its work; what is wrong is one sentence on stderr."""


class CannotRun(Exception):  # noqa: N818 - read as a sentence: raise CannotRun("no Pulumi.yaml in ...")
    """What stops a command: one sentence for the user, no traceback, exit code 2."""
