"""What placing many pods on many pools costs, preparation included.

    python tests/bench/placement.py

prints seconds by pods and pools as JSON. No two pods ask for the same, and no two pools are alike, so that nothing is
answered from what was reckoned for another. In the last run each pod also has three conditions on labels that no other
pod has: one on a label that all nodes have, one on what types have and one on what no node has.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from eks_gpu.facts import labels, resources  # noqa: E402 - after the path is set
from eks_gpu.facts.instances import families  # noqa: E402
from eks_gpu.facts.taints import GPU, dedicated  # noqa: E402
from eks_gpu.planning.placement import Supply, demand  # noqa: E402
from eks_gpu.planning.pod_template import Container, PodTemplate, Toleration  # noqa: E402
from eks_gpu.planning.pool import Pool, PoolKind  # noqa: E402
from eks_gpu.planning.reading import need  # noqa: E402
from eks_gpu.planning.requirements import Requirement, from_labels  # noqa: E402

PODS, POOLS = 1_000, 200
"""What the goal is about: under a second."""

SIZES = ((PODS, POOLS // 2), (PODS, POOLS), (PODS * 2, POOLS))
"""Pods and pools: twice as many of either must take twice as long."""

CHOOSY = (PODS, POOLS)
"""Pods and pools of the last run."""

_ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
_TEAMS = 40
_PURPOSES = ("inference", "training")


@dataclass(frozen=True)
class Run:
    """How much of one processor it took to place so many pods on so many pools."""

    pods: int
    pools: int
    seconds: float
    admitted: int
    """Pairs that fit."""
    choosy: bool
    """Whether each pod has conditions that no other has."""


def pool(number: int) -> Pool:
    """Return a pool like no other: of some family, team, purpose, zones and limit."""
    every = tuple(families().values())
    types = every[number % len(every)]
    model = types[0].gpu_name
    own = {"team": f"team-{number % _TEAMS}", "pool": f"pool-{number}"}
    return Pool(
        name=f"pool-{number}",
        kind=PoolKind.NODE_POOL,
        types=types,
        requirements=(Requirement(labels.ZONE, "In", _ZONES[: 1 + number % len(_ZONES)]),),
        labels={**labels.pool_labels(model, _PURPOSES[number % 2]), **own},
        taints=(GPU,) if number % 4 else (GPU, dedicated(model)),
        limits={resources.GPU: str(8 + number % 16)},
    )


def pod(number: int) -> PodTemplate:
    """Return a pod like no other: in what it asks for, and now and then in what it selects and tolerates."""
    selector = {labels.WORKLOAD: _PURPOSES[number % 2]}
    if number % 3 == 0:
        selector["team"] = f"team-{number % _TEAMS}"
    elsewhere = ((Requirement(labels.ZONE, "NotIn", (f"us-east-1{'abc'[number % 3]}",)),),)
    asks = {resources.CPU: f"{1000 + number}m", resources.MEMORY: f"{4000 + 7 * number}Mi"}
    return PodTemplate(
        name=f"pod-{number}",
        containers=(Container(name="main", requests=asks, limits={resources.GPU: str(1 + number % 4)}),),
        selector=from_labels(selector),
        affinity=elsewhere if number % 7 == 0 else (),
        tolerations=() if number % 5 else (Toleration(labels.GPU_TYPE, "Exists", "", None),),
    )


def choosy_pod(number: int) -> PodTemplate:
    """Return the same pod with three conditions of its own, which every pool meets."""
    own = (
        Requirement("team", "NotIn", (f"someone-{number}",)),
        Requirement(labels.INSTANCE_CPU, "Lt", (str(1_000 + number),)),
        Requirement(f"kept-from-{number}", "DoesNotExist"),
    )
    plain = pod(number)
    return replace(plain, affinity=tuple((*term, *own) for term in need(plain.affinity) or ((),)))


def run(pods: int, pools: int, *, choosy: bool = False) -> Run:
    """Place every pod on every pool."""
    offered, ask = [pool(number) for number in range(pools)], choosy_pod if choosy else pod
    asking = [ask(number) for number in range(pods)]
    gc.collect()
    start = time.process_time()
    supplies = [Supply(each) for each in offered]
    admitted = sum(supply.place(asked).admits for asked in map(demand, asking) for supply in supplies)
    return Run(pods, pools, time.process_time() - start, admitted, choosy)


def measure(runs: int) -> tuple[Run, ...]:
    """Return the median run of each size."""
    found = []
    for size, choosy in (*((size, False) for size in SIZES), (CHOOSY, True)):
        taken = sorted((run(*size, choosy=choosy) for _ in range(runs)), key=lambda each: each.seconds)
        found.append(taken[len(taken) // 2])
    return tuple(found)


def main() -> None:
    """Measure and print."""
    json.dump([vars(each) for each in measure(3)], sys.stdout, indent=1)


if __name__ == "__main__":
    main()
