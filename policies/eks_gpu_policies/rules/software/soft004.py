"""SOFT004: every GPU DaemonSet reaches every GPU pool.

Looked at are DaemonSets of which it is known what they do: NVIDIA's, those of storage and EFA, node exporters and log
shippers, from charts, add-ons or manifests. Somebody's own may go where it likes. What the DCGM host engine of EKS's
monitoring agent does not reach is OBS005's; whether drivers belong there at all, SOFT003's.

One DaemonSet of a kind is enough for a pool, so two installations may share the pools among them. Where one waits for a
label that another would bring, the other is at fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.chart_defaults import GPU_ROLES, Role
from eks_gpu.facts.taints import GPU
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.daemon import Daemon, Obstacle, Reach
from eks_gpu.planning.daemons import reach
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.pool_software import has_adapters, own_device_plugin
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Subjects, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

_NOT_JUDGED: Final = frozenset({None, Role.MPS, Role.DRIVER, Role.TOOLKIT})
_MAKES_GPUS_KNOWN: Final = frozenset({Role.DEVICE_PLUGIN, Role.DRA_DRIVER})
_Kept = tuple[Daemon, Obstacle]

_WITHOUT: Final = {
    Role.DEVICE_PLUGIN: "no GPU of it is ever offered to a pod",
    Role.DRA_DRIVER: "no GPU of it is ever offered to a pod",
    Role.EXPORTER: "its GPUs are measured by nobody",
    Role.NFD: "its nodes are not known for what they are",
    Role.EFA_PLUGIN: "no adapter of it is ever offered to a pod",
    Role.STORAGE: "its pods wait for their volumes for ever",
    Role.NODE_EXPORTER: "its nodes are measured by nobody",
    Role.LOGS: "the logs of its pods are lost with them",
}


def _concerns(pool: Pool, stack: Stack) -> bool:
    judged = any(daemon.role not in _NOT_JUDGED for daemon in stack.daemon_reach.distinct)
    return (judged or bool(stack.daemon_reach.unknown_charts)) and stack.is_gpu_pool(pool)


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from (undecided(what) for what in stack.daemon_reach.unknown_charts)
    reaches = stack.daemon_reach.reaches(pool)
    for found in reaches:
        outcomes = tuple(_one(pool, found, stack, several=len(reaches) > 1))
        yield from outcomes
        if outcomes:
            return


def _one(pool: Pool, found: Reach, stack: Stack, *, several: bool) -> Iterator[Outcome]:
    """Judge the nodes of one instance type; of several that are told apart the first with a finding stands for all."""
    due = [each for each in found.kept_off if _due(each, pool, found, stack)]
    untainted = _without_taints(pool, found, stack) if due else ()
    waiting = [daemon for daemon, obstacle in due if obstacle.taint is None and _among(daemon, untainted)]
    causes = [each for each in due if not _among(each[0], waiting)]
    if waiting:
        causes += [each for each in found.kept_off if each[0].role is Role.NFD and each not in causes]
    where = f"{pool.name} ({found.instance.name})" if several else pool.name
    for kept in _grouped(causes):
        yield _problem(kept, waiting, where)
    open_ = (what for daemon, what in found.unclear if _is_due(daemon, pool, found, stack))
    yield from (undecided(what) for what in dict.fromkeys(open_))


def _without_taints(pool: Pool, found: Reach, stack: Stack) -> tuple[Daemon, ...]:
    around = stack.daemon_reach
    return reach(replace(pool, taints=()), found.instance, around.distinct, around.circumstances).arrived


def _among(daemon: Daemon, others: Iterable[Daemon]) -> bool:
    return any(daemon is other for other in others)


# --- who has to come -------------------------------------------------------------------------------------------------


def _due(each: _Kept, pool: Pool, found: Reach, stack: Stack) -> bool:
    daemon, obstacle = each
    if daemon.role not in {*GPU_ROLES, Role.NFD, Role.EFA_PLUGIN} and not (obstacle.taint and obstacle.wanted):
        return False
    return _is_due(daemon, pool, found, stack)


def _is_due(daemon: Daemon, pool: Pool, found: Reach, stack: Stack) -> bool:
    """Return whether a DaemonSet has to come to a pool, because it has a use there that no other has met."""
    role = daemon.role
    if role in _NOT_JUDGED or (role is Role.DCGM and not daemon.by_operator):
        return False
    served = {other.role for other in found.arrived}
    if role in served or (role in _MAKES_GPUS_KNOWN and served & _MAKES_GPUS_KNOWN):
        return False
    return _has_use(role, pool, stack)


def _has_use(role: Role | None, pool: Pool, stack: Stack) -> bool:
    match role:
        case Role.DEVICE_PLUGIN | Role.DRA_DRIVER | Role.GFD:
            return own_device_plugin(pool, stack) is None
        case Role.MIG_MANAGER:
            return labels.MIG_CONFIG in need(pool.labels) and own_device_plugin(pool, stack) is None
        case Role.EFA_PLUGIN:
            return has_adapters(pool, stack, stack.lodgers(pool))
        case Role.NFD:
            return bool(stack.daemon_reach.of_role(Role.GFD)) and own_device_plugin(pool, stack) is None
        case _:
            return True


# --- what is said ----------------------------------------------------------------------------------------------------


def _grouped(causes: Iterable[_Kept]) -> Iterable[list[_Kept]]:
    """Tell apart what is mended at different places."""
    found: dict[tuple[str, str, str], list[_Kept]] = {}
    for daemon, obstacle in causes:
        found.setdefault((daemon.owner, daemon.tolerations_at, obstacle.refusal), []).append((daemon, obstacle))
    return found.values()


def _problem(kept: list[_Kept], waiting: list[Daemon], where: str) -> Problem:
    owner, refusal = kept[0][0].owner, kept[0][1].refusal
    daemons = [daemon for daemon, _ in kept]
    names = _listed(daemon.name for daemon in daemons)
    of = "" if names == owner else f" of {owner}"
    each = "it" if len(daemons) == 1 else "each of them"
    roles = [daemon.role for daemon in (*daemons, *waiting)]
    loss = next((_WITHOUT[role] for role in _WITHOUT if role in roles), "it is missed there")
    chain = (
        f", and without its labels {_listed(daemon.name for daemon in waiting)} stay away as well" if waiting else ""
    )
    return Problem(f"{names}{of} never reaches {where}, because {each} {refusal}{chain}: {loss}", fix=_fix(kept))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _fix(kept: list[_Kept]) -> str:
    daemon, obstacle = kept[0]
    if obstacle.taint is None:
        return (
            f"give the pool the label, as GpuNodeGroup and GpuNodePool give {labels.GPU_PRESENT}=true, or let "
            f"{daemon.owner} select what the pool's nodes have"
        )
    taint = obstacle.taint
    wanted = json.dumps([{"key": taint.key, "operator": "Exists", "effect": taint.effect.value}])
    return f"add {wanted} to {daemon.tolerations_at or 'its tolerations'} of {daemon.owner}"


def _plugin(**values: object) -> Resource:
    return examples.release(
        "device-plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        values={"gfd": {"enabled": True}, **values},
    )


_OTHER_VALUE: Final = {**GPU.eks(), "value": "true"}
_TOLERANT: Final = {"worker": {"tolerations": [{"key": GPU.key, "operator": "Exists"}]}}

RULE: Final = Rule(
    id="SOFT004",
    title="Every GPU DaemonSet reaches every GPU pool",
    severity=Severity.HIGH,
    why=(
        "A DaemonSet that tolerates another taint, or waits for a label that nobody sets, has no pods there, and "
        "nothing fails: the release is ready with none desired, the nodes are paid for, and their GPUs are not "
        "offered, not measured, or not repaired."
    ),
    fix=(
        "let it tolerate the pool's taints and give the pool the labels that it selects, as GpuNodeGroup, GpuNodePool, "
        "GpuOperator and DevicePlugin do for each other"
    ),
    lessons=("N05", "G02"),
    levels=EVERYWHERE,
    looks_at=Subjects[Pool](
        "GPU pools of stacks with software for nodes", GPU_POOLS.types, lambda stack: stack.pools, _concerns
    ),
    check=_check,
    failing=Example((_plugin(), examples.node_group(taints=[_OTHER_VALUE]))),
    passing=Example((_plugin(nfd=_TOLERANT), examples.node_group(taints=[_OTHER_VALUE]))),
)
