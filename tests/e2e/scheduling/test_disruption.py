"""How long nodes live: consolidation, empty nodes and changed pools, in front of the real Karpenter.

All of it happens at once in one cluster, because Karpenter takes its time: it looks every ten seconds, and again after
fifteen before it acts. That a node is left alone proves something only if another one went in the same time.

The pools are as our components emit them but for `consolidateAfter`, which is minutes there and seconds here, and which
is shortened only when everything is in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pytest

from eks_gpu.facts import labels
from eks_gpu.workloads import pod_parts
from sandbox.kubernetes.rest import Rest
from tests.e2e.scheduling import emitted
from tests.e2e.scheduling.emitted import Block
from tests.e2e.scheduling.pods import deployment, gpu_pod
from tests.e2e.scheduling.world import EVENTS, NODE_POOLS, Placed, World

SOON: Final = "1s"
"""In place of `consolidateAfter`: 10 minutes for inference, 15 for training, 30 for development."""

DO_NOT_DISRUPT: Final = {labels.DO_NOT_DISRUPT: "true"}

_FOUR_GPUS: Final[Block] = {"instance_types": ("g5.12xlarge",), "max_gpus": 8, "dedicated": False}
_ONE_GPU: Final[Block] = {"instance_types": ("g6.xlarge",), "max_gpus": 2}
"""Of another type than the nodes with four, so that no pod of one pool fits where those of another are."""


@dataclass(frozen=True, kw_only=True)
class Half:
    """Two nodes, each a quarter full: one could hold the pods of both."""

    block: Block
    annotations: Mapping[str, str] | None = None


HALF_EMPTY: Final = {
    "serving": Half(block=_FOUR_GPUS),
    "held": Half(block=_FOUR_GPUS, annotations=DO_NOT_DISRUPT),
    "training": Half(block={**_FOUR_GPUS, "purpose": "training"}),
    "development": Half(block={**_FOUR_GPUS, "purpose": "development"}),
}
IDLE: Final[Mapping[str, Block]] = {
    "idle-serving": _ONE_GPU,
    "idle-training": {**_ONE_GPU, "purpose": "training"},
    "idle-development": {**_ONE_GPU, "purpose": "development"},
}
"""One node, whose pod goes."""
CHANGED: Final[Mapping[str, Block]] = {
    "changed-serving": {**_ONE_GPU, "max_gpus": 3},
    "changed-training": {**_ONE_GPU, "max_gpus": 3, "purpose": "training"},
}
"""Two nodes, both full, whose pool gets a taint of its own; within the limit there is room for one more."""

_ENOUGH_SECONDS: Final = 240.0
"""All of it takes about a minute and a half on an idle machine."""


@dataclass(frozen=True)
class Outcome:
    """What has become of the nodes of each pool."""

    before: Mapping[str, frozenset[str]]
    after: Mapping[str, frozenset[str]]
    most_at_once: int
    """Nodes of ``changed-serving`` that were going at one time, at most."""
    reasons: Mapping[str, frozenset[str]]
    """What Karpenter said of each pool's nodes that it did not disrupt."""


@pytest.fixture(scope="module")
def outcome(scheduling: Rest) -> Iterator[Outcome]:
    """Let everything happen that is to happen, once for all tests."""
    world = World(scheduling)
    blocks = {**{name: half.block for name, half in HALF_EMPTY.items()}, **IDLE, **CHANGED}
    world.install(emitted.pools(blocks))
    _fill(world)
    before = {name: frozenset(world.node_names(name)) for name in blocks}
    _empty(world)
    _hurry(world)
    most = _wait(world, before)
    after = {name: frozenset(world.node_names(name)) for name in blocks}
    yield Outcome(before, after, most, {name: _reasons(world, name) for name in blocks})
    world.clear()


def _fill(world: World) -> None:
    """Put pods on two nodes of each pool that is to be half empty or changed, and on one of those to be idle."""
    for name in HALF_EMPTY:
        world.create(*(gpu_pod(f"{name}-filler-{n}", 3, nodeSelector=_of(name)) for n in range(2)))
    world.create(*(gpu_pod(f"{name}-job", nodeSelector=_of(name)) for name in IDLE))
    for name in CHANGED:
        server = gpu_pod(name, nodeSelector=_of(name), tolerations=pod_parts.tolerations(["l4"]))
        world.create(deployment(name, 2, server))
    world.until(lambda: _running(world, 2 * len(HALF_EMPTY) + len(IDLE) + 2 * len(CHANGED)), "all pods run", 120)
    for name, half in HALF_EMPTY.items():
        world.create(deployment(name, 2, gpu_pod(name, nodeSelector=_of(name), annotations=half.annotations)))
    world.until(lambda: _running(world, 4 * len(HALF_EMPTY) + len(IDLE) + 2 * len(CHANGED)), "all servers run", 120)


def _of(pool: str) -> dict[str, str]:
    return {labels.KARPENTER_NODEPOOL: pool}


def _running(world: World, count: int) -> bool:
    return sum(isinstance(fate, Placed) for fate in world.fates().values()) == count


def _empty(world: World) -> None:
    """Remove the pods that are to go."""
    world.remove(*(f"{name}-filler-{n}" for name in HALF_EMPTY for n in range(2)), *(f"{name}-job" for name in IDLE))


def _hurry(world: World) -> None:
    """Shorten `consolidateAfter`, and change the pools that are to be changed, by what the component emits then."""
    for name in (*HALF_EMPTY, *IDLE):
        world.rest.patch(NODE_POOLS, name, {"spec": {"disruption": {"consolidateAfter": SOON}}})
    for pool in emitted.pools({name: {**block, "dedicated": True} for name, block in CHANGED.items()}).node_pools:
        world.rest.patch(NODE_POOLS, pool["metadata"]["name"], {"spec": pool["spec"]})


def _wait(world: World, before: Mapping[str, frozenset[str]]) -> int:
    """Wait until everything has happened that should; return how many nodes of the changed pool went at once."""
    most = 0

    def happened() -> bool:
        nonlocal most
        going = [node for node in world.nodes() if "deletionTimestamp" in node["metadata"]]
        most = max(most, sum(node["metadata"]["name"] in before["changed-serving"] for node in going))
        renewed = world.node_names("changed-serving")
        return (
            len(world.node_names("serving")) == 1
            and not any(world.node_names(name) for name in IDLE)
            and len(renewed) == len(before["changed-serving"])
            and not renewed & before["changed-serving"]
            and _running(world, 2 * len(HALF_EMPTY) + 2 * len(CHANGED))
        )

    what = "serving has one node, idle pools have none, those of changed-serving are new, and all servers run"
    world.until(happened, what, _ENOUGH_SECONDS)
    return most


def _reasons(world: World, pool: str) -> frozenset[str]:
    """Return what Karpenter said of a pool, and of the nodes that it has now."""
    names = {pool, *world.node_names(pool)}
    said = {"DisruptionBlocked", "Unconsolidatable"}
    return frozenset(
        event["message"]
        for event in world.rest.list(EVENTS)["items"]
        if event["reason"] in said and event["involvedObject"]["name"] in names
    )


def test_n10_an_inference_pool_is_packed_tighter(outcome: Outcome) -> None:
    assert len(outcome.before["serving"]) == 2
    assert outcome.after["serving"] < outcome.before["serving"]


@pytest.mark.parametrize("pool", ["training", "development"])
def test_n10_training_and_development_are_not_packed_tighter(pool: str, outcome: Outcome) -> None:
    assert len(outcome.before[pool]) == 2
    assert outcome.after[pool] == outcome.before[pool], outcome.reasons[pool]


def test_n10_a_pod_that_must_not_be_disrupted_keeps_its_node_even_in_an_inference_pool(outcome: Outcome) -> None:
    # But for the annotation of its pods it is the pool "serving".
    assert len(outcome.before["held"]) == 2
    assert outcome.after["held"] == outcome.before["held"], outcome.reasons["held"]


@pytest.mark.parametrize("pool", IDLE)
def test_m05_an_empty_node_goes_whatever_the_pool_is_for(pool: str, outcome: Outcome) -> None:
    assert len(outcome.before[pool]) == 1
    assert not outcome.after[pool]


def test_n10_a_changed_inference_pool_is_renewed_one_node_at_a_time(outcome: Outcome) -> None:
    assert not outcome.after["changed-serving"] & outcome.before["changed-serving"]
    assert outcome.most_at_once == 1


def test_n10_a_changed_training_pool_keeps_the_nodes_that_work(outcome: Outcome) -> None:
    assert outcome.after["changed-training"] == outcome.before["changed-training"]
    reasons = outcome.reasons["changed-training"]
    assert any("Drifted" in reason and "budget" in reason for reason in reasons), reasons
