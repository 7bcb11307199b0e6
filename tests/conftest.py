from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine import Bench


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Bench]:
    """Give a test the real Pulumi engine, with a backend and an AWS of its own; built first if need be."""
    bench = Bench(tmp_path)
    yield bench
    bench.close()
