"""What the sandbox says when it cannot go on."""

from __future__ import annotations


class SandboxError(Exception):
    """A condition the user can understand and act on; printed as one message, never as a traceback.

    ``exit_code`` is 2 (could not run) unless the message reports a finding, which is 1.
    """

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        """Keep the message as it will be printed."""
        super().__init__(message)
        self.exit_code = exit_code
