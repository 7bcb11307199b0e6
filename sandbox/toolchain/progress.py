"""Shows that a long run of Go is alive, how far it is, and roughly how long it takes."""

from __future__ import annotations

import sys
import time
from typing import TextIO

QUIET_INTERVAL_SECONDS = 15.0
"""How often a line is written where lines cannot be overwritten (a log, a pipeline)."""


def duration(seconds: float) -> str:
    """Write ``75`` as ``1m15s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


class Progress:
    """Counts what Go reports, and prints one line that moves, or a line now and then."""

    def __init__(self, doing: str, what: str, remark: str = "", stream: TextIO | None = None) -> None:
        """Announce it ("building", "kwok v0.8.0"); all goes to standard error, so that output can be piped."""
        self.stream = stream or sys.stderr
        self.what = what
        self.doing = f"{doing} {what}"
        self.modules = 0
        self.packages = 0
        self._live = self.stream.isatty()
        self._started = time.monotonic()
        self._printed = self._started
        self._say(f"{self.doing}{remark}\n")

    def saw(self, line: str) -> None:
        """Count one line of ``go build -v``: a module that is downloaded, or a package that is compiled."""
        if line.startswith("go: downloading "):
            self.modules += 1
        elif line and " " not in line.strip():
            self.packages += 1

    def tick(self) -> None:
        """Show where the run stands, if it is time."""
        now = time.monotonic()
        if self._live:
            self._say(f"\r\033[K  {self._state()}")
        elif now - self._printed >= QUIET_INTERVAL_SECONDS:
            self._printed = now
            self._say(f"  {self._state()}\n")

    def done(self, outcome: str) -> None:
        """End the moving line with what came of it."""
        self._say(f"{chr(13)}\033[K" if self._live else "")
        self._say(f"  {outcome}: {self._state()}\n")

    def _state(self) -> str:
        counts = ((self.modules, "modules downloaded"), (self.packages, "packages compiled"))
        elapsed = duration(time.monotonic() - self._started)
        return ", ".join([f"{self.what}: {elapsed}", *(f"{count} {unit}" for count, unit in counts if count)])

    def _say(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
