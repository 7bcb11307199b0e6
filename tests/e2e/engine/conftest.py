from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster
from tests.support.cluster_bench import ClusterBench


@pytest.fixture
def bench(cluster: Cluster, tmp_path: Path) -> Iterator[ClusterBench]:
    """Give a test the real engine and the real provider on a cluster that is bare at the beginning."""
    bench = ClusterBench(tmp_path, cluster)
    yield bench
    bench.close()
