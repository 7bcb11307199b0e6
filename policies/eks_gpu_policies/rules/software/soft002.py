"""SOFT002: one owner of the GPU per pool.

What offers a node's GPUs to pods is its owner: the device plugin, the GPU Operator with its own, the DRA driver's GPU
part, Bottlerocket's NVIDIA images, EKS Auto Mode. Taints do not tell owners apart here: one that is kept off by a taint
is meant for the pool all the same, and missing it is SOFT004's. A selector or an affinity that somebody wrote does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts.chart_defaults import GPU_ROLES, Role
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.daemon import Daemon, Reach
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown
from eks_gpu_policies import examples
from eks_gpu_policies.readers.pool_software import own_device_plugin
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Undecided, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

_OWNERS: Final = (Role.DEVICE_PLUGIN, Role.DRA_DRIVER)
_NAMED: Final = 3
"""Owners that a message names."""


@dataclass(frozen=True, slots=True)
class _Owner:
    """Something that offers a pool's GPUs."""

    name: str
    switch: str
    """How it is turned off there."""


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    built_in = own_device_plugin(pool, stack)
    owners = [_Owner(built_in, _switch_of_image(built_in))] if built_in else []
    doubts: list[NotKnown] = [*stack.daemon_reach.unknown_charts]
    for daemon in stack.daemon_reach.of_role(*_OWNERS):
        meant = _meant(daemon, pool, stack)
        if isinstance(meant, NotKnown):
            doubts.append(meant)
        elif meant:
            owners += [_owner(twin) for twin in stack.daemon_reach.twins(daemon)[:_NAMED]]
    if len(owners) > 1:
        yield _several(pool, owners)
    elif doubts:
        yield from (undecided(what) for what in dict.fromkeys(doubts))
    elif not owners:
        yield _nobody(pool, stack)


def _meant(daemon: Daemon, pool: Pool, stack: Stack) -> bool | NotKnown:
    """Return whether an owner is meant for a pool: it comes there, or nothing that somebody wrote keeps it away."""
    if daemon.doubt is not None or daemon.opted_out(pool):
        return daemon.doubt or False
    answers = [_answer(daemon, found) for found in stack.daemon_reach.reaches(pool)]
    if True in answers or not daemon.aimed:
        return True
    return next((answer for answer in answers if isinstance(answer, NotKnown)), False)


def _answer(daemon: Daemon, found: Reach) -> bool | NotKnown:
    """Return the same of the nodes of one instance type, and of an owner that somebody aimed at some."""
    doubt = next((doubt for each, doubt in found.unclear if each is daemon), None)
    if doubt is not None:
        return doubt
    return any(each is daemon for each in found.arrived) or any(
        each is daemon and obstacle.wanted for each, obstacle in found.kept_off
    )


def _owner(daemon: Daemon) -> _Owner:
    if daemon.by_operator:
        key = "devicePlugin.enabled: false" if daemon.role is Role.DEVICE_PLUGIN else "gpuCluster.deployCR: false"
        switch = f"set {key} in the values of {daemon.owner}, or label the pool {daemon.opt_outs[-1]}=false"
        return _Owner(f"the GPU Operator ({daemon.owner})", switch)
    return _Owner(
        f"the {daemon.role} {daemon.owner}", f"keep {daemon.owner} off the pool by its affinity, or remove it"
    )


def _switch_of_image(built_in: str) -> str:
    return f"{built_in} keeps its own: keep the others off the pool"


def _several(pool: Pool, owners: list[_Owner]) -> Problem:
    names = [owner.name for owner in owners]
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return Problem(
        f"{pool.name} has {len(owners)} owners of its GPUs: {shown}; each offers every GPU of a node, so pods get GPUs "
        "that are in use, or none",
        fix="; or ".join(dict.fromkeys(owner.switch for owner in owners[:_NAMED])),
    )


def _nobody(pool: Pool, stack: Stack) -> Outcome:
    here = [daemon for daemon in stack.daemon_reach.distinct if _is_software(daemon) and not daemon.opted_out(pool)]
    certain = stack.daemon_reach.circumstances.complete or any(daemon.by_operator for daemon in here)
    if not here or not certain or stack.options.manifests_only:
        return Undecided("GPU software", f"what offers the GPUs of {pool.name} is not in the stack")
    return Problem(
        f"nobody offers the GPUs of {pool.name}, though {here[0].name} of {here[0].owner} is meant for it: its "
        "pods wait for ever",
        fix="turn the device plugin on (devicePlugin.enabled), or install one",
    )


def _is_software(daemon: Daemon) -> bool:
    """Return whether a DaemonSet is GPU software. EKS's monitoring agent is there whoever uses the GPUs, and how."""
    return daemon.role in GPU_ROLES and (daemon.role is not Role.DCGM or daemon.by_operator)


def _operator(**values: object) -> Resource:
    settings = {"driver": {"enabled": False}, "toolkit": {"enabled": False}, **values}
    return examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=settings)


RULE: Final = Rule(
    id="SOFT002",
    title="One owner of the GPU per pool",
    severity=Severity.CRITICAL,
    why=(
        "Two device plugins on a node register the same resource name with the kubelet: the later takes over, counts "
        "GPUs that pods of the other hold, and two models share a GPU that each believes to have alone. With a DRA "
        "driver beside a plugin the scheduler sells each GPU twice."
    ),
    fix=(
        "choose one of GPU Operator, device plugin and DRA driver for each pool and turn the others off there; "
        "GpuOperator and DevicePlugin refuse to share a pool"
    ),
    lessons=("G02",),
    levels=EVERYWHERE,
    looks_at=GPU_POOLS,
    check=_check,
    failing=Example(
        (
            _operator(),
            examples.release("device-plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version),
            examples.node_group(),
        )
    ),
    passing=Example((_operator(), examples.node_group())),
)
