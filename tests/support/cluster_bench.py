"""The real engine for tests, working with a real cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sandbox.engine import Engine
from sandbox.kubernetes import environment
from tests.support.cluster import Cluster
from tests.support.engine import Bench


class ClusterBench(Bench):
    """Runs programs whose Kubernetes provider is the real one, and whose cluster is the one given.

    A provider that is given no kubeconfig finds the cluster. State, plugins and AWS are of the bench's own, so that
    several can work with one cluster, one after the other.
    """

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        """Work in ``folder``."""
        super().__init__(folder)
        self.cluster = cluster

    def engine(self, program: Path) -> Engine:
        """Return the engine as the sandbox prepares it for a program that uses the real Kubernetes."""
        engine = super().engine(program)
        added = environment.variables(self.cluster.checkout, self.cluster.plane, engine.environment["PATH"])
        return replace(engine, environment={**engine.environment, **added})
