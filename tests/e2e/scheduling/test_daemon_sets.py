"""Node agents reach the nodes that our pools make, or do not: nobody notices a DaemonSet that wants no pod (N05)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from eks_gpu.cluster.add_ons import node_monitoring_agent_configuration
from eks_gpu.facts import taints
from eks_gpu.gpu import device_plugin
from eks_gpu.observability import exporter
from eks_gpu.planning.placement import admits
from sandbox.kubernetes.rest import Rest
from tests.e2e.scheduling import emitted
from tests.e2e.scheduling.cases import FOR_A100, PROD
from tests.e2e.scheduling.pods import GPU_TOLERATION, daemon_set, gpu_pod
from tests.e2e.scheduling.world import Placed, World

EVERY_POOL: Final = frozenset(PROD)


def _placement(values: Any) -> dict[str, Any]:  # noqa: ANN401 - values are free mappings
    """Return what values of a chart say of where its pods may run; such keys are called the same in every chart."""
    return {key: values[key] for key in ("nodeSelector", "affinity", "tolerations") if key in values}


REACHED: Final[Mapping[str, tuple[Mapping[str, Any], frozenset[str]]]] = {
    "device-plugin": (_placement(device_plugin.chart_values("sharing")), EVERY_POOL),
    "dcgm-exporter": (_placement(exporter.chart_values(None)), EVERY_POOL),
    "dcgm-server": (_placement(node_monitoring_agent_configuration()["dcgmAgent"]), EVERY_POOL),
    "node-agent": ({"tolerations": [taints.TOLERATE_EVERYTHING]}, EVERY_POOL),
    "gpu-taint-only": ({"tolerations": [GPU_TOLERATION]}, frozenset({"g5"})),
    "other-value": ({"tolerations": [{**GPU_TOLERATION, "value": "true"}]}, frozenset()),
    "no-toleration": ({}, frozenset()),
}
"""DaemonSets, by what they say of nodes, and the pools they reach. The first are ours; the others show what goes wrong
elsewhere: charts that know only the GPU taint miss dedicated pools, those that know another value of it miss all."""


@pytest.fixture(scope="module")
def nodes(scheduling: Rest) -> Iterator[World]:
    """Put every DaemonSet in, then have a node of each pool bought."""
    world = World(scheduling)
    world.install(emitted.pools(PROD))
    world.create(*(daemon_set(name, **spec) for name, (spec, _) in REACHED.items()))
    pods = (gpu_pod("one"), gpu_pod("eight", 8, tolerations=FOR_A100))
    world.create(*pods)
    names = [pod["metadata"]["name"] for pod in pods]
    world.until(lambda: all(isinstance(world.fates()[name], Placed) for name in names), "a node of each pool is there")
    # What goes nowhere can only be told from what goes everywhere, and is there.
    everywhere = [name for name, (_, expected) in REACHED.items() if expected == EVERY_POOL]
    world.until(lambda: all(world.reached(name) == EVERY_POOL for name in everywhere), f"{everywhere} are everywhere")
    yield world
    world.clear()


@pytest.mark.parametrize("name", REACHED)
def test_n05_a_daemon_set_reaches_the_pools_that_it_tolerates(name: str, nodes: World) -> None:
    _, expected = REACHED[name]
    assert nodes.reached(name) == expected, nodes.report()


@pytest.mark.parametrize("name", REACHED)
def test_n05_the_planning_module_says_the_same(name: str) -> None:
    spec, expected = REACHED[name]
    (template,) = emitted.pod_templates([daemon_set(name, **spec)]).values()
    pools = emitted.pools(PROD).planned
    assert {pool for pool, model in pools.items() if admits(model, template)} == expected
