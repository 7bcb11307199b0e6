from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.toolchain import builder, tools

Promtool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def promtool() -> Promtool:
    """Give a test Prometheus' own checker, built first if need be."""
    program = builder.ensure(tools.PROMTOOL) / "promtool"

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    return run
