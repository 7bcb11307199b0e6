from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import aws
from sandbox.checkout import Checkout
from sandbox.kubernetes import control_plane
from tests.e2e.local_stack.living import Life, live


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """Live through the local stack once, for every test that asks about it."""
    checkout = Checkout(tmp_path_factory.mktemp("local-stack") / "sandbox")
    try:
        yield live(checkout)
    finally:
        control_plane.wipe(checkout)
        aws.stop(checkout)
