"""SOFT003: the GPU Operator's driver and toolkit switches fit the image.

Both are on by default. EKS's AL2023 NVIDIA images and Bottlerocket's bring driver and container toolkit; Ubuntu's bring
neither. A pool is left alone by label: ``nvidia.com/gpu.deploy.driver=false``, ``...container-toolkit=false``, or
``...operands=false`` for all of the operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import discovery
from eks_gpu.facts.ami import UBUNTU, AmiFamily
from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.taints import GPU
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.daemon import Daemon
from eks_gpu.planning.pool import Pool, family_name, family_of
from eks_gpu.planning.reading import attempt
from eks_gpu_policies import examples
from eks_gpu_policies.readers.drivers import brings_driver
from eks_gpu_policies.readers.pool_software import auto_mode
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Subjects, clauses, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

_SWITCHES: Final = {Role.DRIVER: ("driver", "driver"), Role.TOOLKIT: ("toolkit", "container-toolkit")}
"""The switch in the values, and the operand in the label."""


def _concerns(pool: Pool, stack: Stack) -> bool:
    return bool(_operators(stack) or stack.daemon_reach.unknown_charts) and stack.is_gpu_pool(pool)


def _operators(stack: Stack) -> tuple[Daemon, ...]:
    """Return the validator of each operator: it has one whatever is switched off."""
    return tuple(daemon for daemon in stack.daemon_reach.of_role(Role.VALIDATOR) if daemon.by_operator)


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from (undecided(what) for what in stack.daemon_reach.unknown_charts)
    if not all(daemon.opted_out(pool) for daemon in _operators(stack)):
        yield from clauses(*(_on(role, pool, stack) for role in _SWITCHES), _off(pool, stack))


def _on(role: Role, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Judge what is installed where it is there already."""
    installers = [each for each in stack.daemon_reach.of_role(role) if not each.opted_out(pool)]
    if not installers or not _brings(role, pool, stack):
        return
    switch, operand = _SWITCHES[role]
    for daemon in installers:
        if daemon.doubt is not None:
            yield undecided(daemon.doubt)
            continue
        yield Problem(
            f"{daemon.owner} installs the {_WHAT[role]} on {pool.name} ({switch}.enabled, on by default), whose image "
            f"({_image(pool)}) brings its own",
            fix=f"set {switch}.enabled: false in the values of {daemon.owner}, or, where other pools need it, label "
            f"this pool {discovery.deploy(operand)}=false",
        )


_WHAT: Final = {Role.DRIVER: "NVIDIA driver", Role.TOOLKIT: "container toolkit"}


def _brings(role: Role, pool: Pool, stack: Stack) -> bool:
    """Return whether driver or toolkit is there without the operator. Amazon Linux 2 had either way of old."""
    if auto_mode(pool):
        return True
    family = family_of(pool)
    if family is AmiFamily.BOTTLEROCKET and role is Role.TOOLKIT:
        return True
    return (family is None or isinstance(family, AmiFamily)) and brings_driver(pool, stack)


def _off(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Judge what is not installed where it is not there."""
    installers = stack.daemon_reach.of_role(Role.DRIVER)
    if any(daemon.doubt is None and not daemon.opted_out(pool) for daemon in installers) or brings_driver(pool, stack):
        return
    doubt = next((daemon.doubt for daemon in installers if not daemon.opted_out(pool)), None)
    owner = _operators(stack)[0].owner
    yield (
        undecided(doubt)
        if doubt is not None
        else Problem(
            f"nobody installs a driver on {pool.name}: its image ({_image(pool)}) has none, and {owner} is told not to",
            fix="boot an image with NVIDIA's driver (amiType AL2023_x86_64_NVIDIA), or set driver.enabled: true with "
            "an exact driver.version",
        )
    )


def _image(pool: Pool) -> str:
    family = attempt(family_of, pool)
    return family_name(family) if isinstance(family, AmiFamily) or family is UBUNTU else "somebody's own"


def _operator(**values: object) -> Resource:
    return examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)


_TAINTED: Final = examples.node_group(taints=[GPU.eks()])

RULE: Final = Rule(
    id="SOFT003",
    title="Driver and toolkit switches fit the image",
    severity=Severity.HIGH,
    why=(
        "On an image with a driver the operator's driver container fails for ever or loads a second module, and its "
        "toolkit rewrites containerd's configuration and restarts it under running pods; on Bottlerocket nothing then "
        "finds the GPUs. On an image without a driver and with the switch off, there is none."
    ),
    fix=(
        "with EKS's NVIDIA images and Bottlerocket set driver.enabled: false and toolkit.enabled: false, as "
        "GpuOperator does; leave pools of another kind out by the labels nvidia.com/gpu.deploy.*"
    ),
    lessons=("G02", "N07"),
    levels=EVERYWHERE,
    looks_at=Subjects[Pool]("GPU pools beside the GPU Operator", GPU_POOLS.types, lambda stack: stack.pools, _concerns),
    check=_check,
    failing=Example((_operator(), _TAINTED)),
    passing=Example((_operator(driver={"enabled": False}, toolkit={"enabled": False}), _TAINTED)),
)
