from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import golden as goldens
from tests.support.engine import Bench

# How long an example takes says something of the machine and of what else it does, nothing of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


# A shell that starts us in the background has interrupts ignored, and every program below us would inherit that: tests
# that interrupt one would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden files be rewritten on purpose."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files; review the diff")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> goldens.Golden:
    """Give a test the comparison of a text with a golden file."""
    update = bool(request.config.getoption("--update-golden"))
    return lambda path, text: goldens.matches(path, text, update=update)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Bench]:
    """Give a test the real Pulumi engine, with a backend and an AWS of its own; built first if need be."""
    bench = Bench(tmp_path)
    yield bench
    bench.close()
