from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
import yaml

from eks_gpu.facts import namespaces
from sandbox.kubernetes import control_plane, karpenter
from sandbox.kubernetes.instance_types import Market, Reservation, Shortage
from sandbox.kubernetes.rest import Kind, Rest
from tests.e2e.scheduling.cases import NO_SPOT_ZONE, RESERVATION, RESERVED_ZONE, SPOT
from tests.e2e.scheduling.pods import device_plugin
from tests.e2e.scheduling.world import DAEMON_SETS, World
from tests.support.cluster import Cluster
from tests.support.crds import KARPENTER

MARKET: Final = Market(
    shortages=(Shortage(capacity_type=SPOT, zone=NO_SPOT_ZONE),),
    reservations=(Reservation(id=RESERVATION, instance_type="p4d.24xlarge", zone=RESERVED_ZONE, count=1),),
)
"""The catalogue in three zones, of which one has no spot instance and one has a reserved p4d.24xlarge."""

_CRDS: Final = Kind("apiextensions.k8s.io/v1", "customresourcedefinitions")


@pytest.fixture(scope="module")
def scheduling(shared_cluster: Cluster) -> Iterator[Rest]:
    """Run Karpenter on the control plane, with a device plugin on every GPU node, while the tests of a module run."""
    plane = control_plane.start(shared_cluster.checkout)
    rest = Rest.of(plane)
    for path in sorted((KARPENTER.folder / "pkg" / "apis" / "crds").glob("*.yaml")):
        rest.create(_CRDS, yaml.safe_load(path.read_text(encoding="utf-8")))
    rest.create(DAEMON_SETS, device_plugin(), namespaces.KUBE_SYSTEM)
    with karpenter.run(plane, instance_types=MARKET):
        yield rest
    shared_cluster.restore()


@pytest.fixture
def world(scheduling: Rest) -> Iterator[World]:
    """Give a test a cluster with Karpenter and without pools, nodes and pods."""
    found = World(scheduling)
    yield found
    found.clear()
