from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.custom_resources.judge import Judge
from tests.support.cluster import Cluster


@pytest.fixture(scope="module")
def judge(shared_cluster: Cluster) -> Iterator[Judge]:
    """Give the tests of a file an API server that knows Karpenter's kinds."""
    with Judge.of(shared_cluster) as judge:
        yield judge
    shared_cluster.restore()
