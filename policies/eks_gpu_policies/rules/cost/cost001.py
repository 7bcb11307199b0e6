"""COST001: GPU node pools have a GPU limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Scope, Severity
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_POOLS


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if stack.by_urn[pool.urn].view.at("spec", "limits", "resources").exists:
        yield Problem("nests its limits under limits.resources, where Karpenter does not look")
        return
    if pool.static:
        if need(pool.size).maximum is None:
            yield Problem(f"is static and limits no nodes (limits.nodes); {_dearest(pool)}")
        return
    limit = pool.gpu_limit
    if limit is None:
        yield Problem(f"has no limit on {resources.GPU}; {_dearest(pool)}")
    elif limit <= 0:
        yield Problem(f"limits {resources.GPU} to {limit:g}, which keeps no node away; {_dearest(pool)}")


def _dearest(pool: Pool) -> str:
    dearest = pool.dearest
    if dearest is None:
        return "the price of what it may buy is not known"
    return f"each further node may cost ${dearest.usd_per_hour:.2f}/h ({dearest.name})"


RULE: Final = Rule(
    id="COST001",
    title="GPU NodePools have a GPU limit",
    severity=Severity.HIGH,
    why=(
        "Karpenter buys for whatever is pending. One loop that creates pods buys GPUs until EC2 has none left, "
        "at up to $55 an hour for each node, and nothing says so before the bill."
    ),
    fix=f'set limits: {{"{resources.GPU}": "<n>"}} on the pool, as GpuNodePool does from max_gpus',
    lessons=("M05",),
    levels=EVERYWHERE,
    scope=Scope.RESOURCE,
    looks_at=GPU_NODE_POOLS,
    check=_check,
    failing=Example((examples.node_pool(limits={"cpu": "1000"}),)),
    passing=Example((examples.node_pool(),)),
)
