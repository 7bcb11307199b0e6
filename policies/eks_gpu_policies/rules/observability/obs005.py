"""OBS005: node repair sees the GPU.

EKS's node monitoring agent asks a DCGM engine of its own how the GPUs are. That engine tolerates nothing by default, so
it is not on tainted nodes, and the agent takes its silence for a broken GPU. It does not run on arm64 nor in EKS Auto
Mode, whose nodes are not judged. That two engines on one port of the host disturb each other is advice: the operator's
is off by default, and how the two behave was not tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.chart_defaults.node_agents import DCGM_PORT, DCGM_SERVER, DCGM_TOLERATIONS, MONITORING_AGENT
from eks_gpu.facts.node_repair import DEFAULT_WAIT_MINUTES
from eks_gpu.facts.taints import TOLERATE_EVERYTHING
from eks_gpu.planning.daemon import Daemon, Obstacle
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import attempt
from eks_gpu_policies import examples
from eks_gpu_policies.readers.pool_software import auto_mode
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import (
    EVERYWHERE,
    Example,
    Outcome,
    Problem,
    Rule,
    Severity,
    Subjects,
    Undecided,
    clauses,
    undecided,
)
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

_SET: Final = json.dumps({DCGM_TOLERATIONS[0]: {DCGM_TOLERATIONS[1]: [TOLERATE_EVERYTHING]}})


def _agents(stack: Stack) -> tuple[Daemon, ...]:
    return tuple(each for each in stack.daemon_reach.of_role(Role.DCGM) if each.name == DCGM_SERVER)


def _concerns(pool: Pool, stack: Stack) -> bool:
    if not stack.is_gpu_pool(pool) or auto_mode(pool):
        return False
    return (
        bool(_agents(stack)) or attempt(_repaired, pool, stack) is not False or bool(stack.daemon_reach.unknown_charts)
    )


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    agents = _agents(stack)
    if agents:
        yield from clauses(_seen(agents[0], pool, stack), _alone(agents[0], pool, stack))
    else:
        yield from clauses(_missing(pool, stack))


def _seen(agent: Daemon, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    for found in stack.daemon_reach.reaches(pool):
        kept = next((obstacle for daemon, obstacle in found.kept_off if daemon is agent), None)
        doubt = next((doubt for daemon, doubt in found.unclear if daemon is agent), None)
        if doubt is not None:
            yield undecided(doubt)
            return
        if kept is not None and kept.taint is not None and kept.wanted:
            yield _blind(agent, kept, pool, stack)
            return


def _blind(agent: Daemon, kept: Obstacle, pool: Pool, stack: Stack) -> Problem:
    repaired = attempt(_repaired, pool, stack) is True
    then = (
        f"every healthy node of {pool.name} is taken for broken and replaced every {DEFAULT_WAIT_MINUTES} minutes or so"
        if repaired
        else f"every healthy node of {pool.name} is reported as broken, and a broken GPU is never noticed"
    )
    return Problem(
        f"the {DCGM_SERVER} of {agent.owner} {kept.refusal}, so the agent hears nothing of the GPUs: {then}",
        fix=f"configure {agent.owner} with {_SET}",
    )


def _alone(agent: Daemon, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    for found in stack.daemon_reach.reaches(pool):
        here = [each for each in found.arrived if each.role is Role.DCGM]
        if agent in here and len(here) > 1:
            other = next(each for each in here if each is not agent)
            yield Problem(
                f"{other.name} of {other.owner} and the {DCGM_SERVER} of {agent.owner} both listen on port {DCGM_PORT} "
                f"of the nodes of {pool.name}: one of them does not start",
                advisory=True,
                fix=f"set dcgm.enabled: false in the values of {other.owner}; its exporter has an engine of its own",
            )
            return


def _missing(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from (undecided(what) for what in stack.daemon_reach.unknown_charts)
    if not _repaired(pool, stack):
        return
    if stack.daemon_reach.circumstances.complete and not stack.daemon_reach.unknown_charts:
        yield Problem(
            f"{pool.name} is to be repaired, and nothing tells how its GPUs are: without the node monitoring agent "
            "only nodes that are gone altogether are replaced",
            fix=f"install the add-on {MONITORING_AGENT.chart}, configured with {_SET}",
        )
    elif not stack.daemon_reach.unknown_charts:
        yield Undecided(MONITORING_AGENT.chart, "whether the cluster has the add-on, which is not in the stack")


def _repaired(pool: Pool, stack: Stack) -> bool:
    """Return whether somebody replaces or reboots nodes of a pool that say they are not well."""
    if pool.kind is PoolKind.NODE_GROUP:
        return stack.by_urn[pool.urn].view.at("nodeRepairConfig", "enabled").boolean() is True
    if pool.kind is not PoolKind.NODE_POOL:
        return False
    return stack.daemon_reach.repaired_by_karpenter


def _agent(configuration: str | None) -> Resource:
    props = {"addonName": MONITORING_AGENT.chart, "addonVersion": "v1.7.0-eksbuild.1"}
    given = {} if configuration is None else {"configurationValues": configuration}
    return examples.resource("aws:eks/addon:Addon", "node-monitoring", {**props, **given})


_REPAIRED: Final = examples.node_group(nodeRepairConfig={"enabled": True})

RULE: Final = Rule(
    id="OBS005",
    title="Node repair sees the GPU",
    severity=Severity.CRITICAL,
    why=(
        "The node monitoring agent learns of GPU errors from its own DCGM engine alone. Where a taint keeps that away, "
        "the agent calls every GPU broken a minute after boot: node repair then replaces healthy nodes for ever, with "
        "what runs on them, and each new one is paid for; without repair, no broken GPU is ever noticed."
    ),
    fix=f"configure the add-on with {_SET}, as AddOns does",
    lessons=("M01", "N05"),
    levels=EVERYWHERE,
    looks_at=Subjects[Pool](
        "GPU pools beside the node monitoring agent, or to be repaired",
        GPU_POOLS.types,
        lambda stack: stack.pools,
        _concerns,
    ),
    check=_check,
    failing=Example((_agent(None), _REPAIRED)),
    passing=Example((_agent(_SET), _REPAIRED)),
)
