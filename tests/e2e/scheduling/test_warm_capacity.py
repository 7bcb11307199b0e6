"""Placeholders keep a node ready: a pod takes the place of one at once, and Karpenter buys another node for it."""

from __future__ import annotations

from typing import Final

from tests.e2e.scheduling import emitted
from tests.e2e.scheduling.emitted import Block
from tests.e2e.scheduling.pods import gpu_pod
from tests.e2e.scheduling.world import Placed, World

POOL: Final[Block] = {"instance_types": {"gpus": 1, "gpu": "a10g"}, "max_gpus": 3, "warm_nodes": 1}


def _warm(world: World) -> set[str]:
    """Return the nodes that placeholders hold."""
    fates = world.fates().items()
    return {fate.node for pod, fate in fates if isinstance(fate, Placed) and pod.startswith("g5-warm-")}


def test_n08_a_pod_takes_a_warm_node_at_once_and_karpenter_buys_the_next_one(world: World) -> None:
    world.install(emitted.pools({"g5": POOL}))
    world.create(*emitted.placeholders("g5", POOL))
    world.until(lambda: len(_warm(world)) == 1, "a node is warm")
    (warm,) = _warm(world)

    world.create(gpu_pod("server", cpu="3"))
    world.until(lambda: isinstance(world.fates()["server"], Placed) and bool(_warm(world)), "another node is warm")

    server = world.fates()["server"]
    assert isinstance(server, Placed)
    assert (server.node, server.instance_type) == (warm, "g5.xlarge"), world.report()
    assert _warm(world).isdisjoint({warm})
    assert len(world.node_names("g5")) == 2, world.report()


def test_n08_placeholders_stay_within_the_limit_of_the_pool_and_make_room_when_it_is_full(world: World) -> None:
    block = {**POOL, "max_gpus": 1}
    world.install(emitted.pools({"g5": block}))
    world.create(*emitted.placeholders("g5", block))
    world.until(lambda: len(_warm(world)) == 1, "a node is warm")

    world.create(gpu_pod("server"))
    world.until(lambda: isinstance(world.fates()["server"], Placed), "the server has the only node")

    assert len(world.node_names("g5")) == 1, world.report()
