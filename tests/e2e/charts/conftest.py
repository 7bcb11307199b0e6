from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.charts.installing import Story, tell
from tests.support.cluster import Cluster
from tests.support.cluster_bench import ClusterBench


@pytest.fixture(scope="session")
def story(shared_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Install, look, and remove again: once, for every test that asks about it. The cluster is bare afterwards."""
    with closing(ClusterBench(tmp_path_factory.mktemp("charts"), shared_cluster)) as bench:
        try:
            told = tell(bench)
        finally:
            shared_cluster.restore()
        yield told
