"""Every stack of the repository, recorded once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from eks_gpu.cli.program import Recorded, record_stack
from eks_gpu.cli.project import Project

ROOT = Path(__file__).parents[2]
PROJECT = Project.find(ROOT)


@cache
def _recorded(stack: str) -> Recorded:
    return record_stack(PROJECT, stack)


@pytest.fixture(params=PROJECT.stacks)
def stack(request: pytest.FixtureRequest) -> Recorded:
    """Give a test each stack in turn, as the recorder saw it."""
    return _recorded(request.param)
