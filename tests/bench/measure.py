"""Timing whole commands side by side: what one costs in the other's units, on whatever machine this is."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """A command to time."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]

    def seconds(self) -> float:
        """Run once and return the wall time; raise with the command's own output when it fails."""
        start = time.perf_counter()
        self.output()
        return time.perf_counter() - start

    def output(self) -> str:
        """Run once and return what it prints; raise with that when it fails."""
        done = subprocess.run(self.argv, cwd=self.cwd, env=dict(self.env), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            tail = (done.stdout + done.stderr)[-2000:]
            raise RuntimeError(f"{' '.join(self.argv)} exited {done.returncode}:\n{tail}")
        return done.stdout


@dataclass(frozen=True)
class Pair:
    """The wall times of two commands, run in turn."""

    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of first over second, pair by pair, so that a drifting machine does not count."""
        return statistics.median(a / b for a, b in zip(self.first, self.second, strict=True))

    @property
    def difference(self) -> float:
        """Seconds between the two medians."""
        return statistics.median(self.first) - statistics.median(self.second)

    @property
    def medians(self) -> tuple[float, float]:
        """The median of each, in seconds."""
        return statistics.median(self.first), statistics.median(self.second)


def in_turn(first: Command, second: Command, runs: int) -> Pair:
    """Time both commands ``runs`` times, A B A B …, after one run of each that is not counted."""
    first.seconds()
    second.seconds()
    times = [(first.seconds(), second.seconds()) for _ in range(runs)]
    return Pair(tuple(a for a, _ in times), tuple(b for _, b in times))
