"""SHARE004: MIG layouts exist on the GPU.

Since the GPU Operator 26.3 the MIG manager finds out by itself which layouts a GPU has; their names are still those of
mig-parted's own file. A file of one's own takes their place altogether. Without the operator in the stack only names
that speak of profiles can be judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels, mig
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.gpu_software import MIG_CONFIG_FILE
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, family_of
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu.planning.sharing.advertised import Partitions
from eks_gpu.planning.sharing.mig_layouts import LayoutFile, creation_defects, settings_defects
from eks_gpu_policies import examples
from eks_gpu_policies.program import once
from eks_gpu_policies.readers.mig_files import (
    MANAGER_CONFIG,
    bottlerocket_profiles,
    commands_of,
    default_layout,
    layout_files,
    layout_of,
    made_by,
    makes_partitions,
    models_of,
    operators,
    own_layouts,
    strategy_of,
)
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import POOL_TYPES

_Subject = Pool | PodTemplate | Resource
_MANY_PROFILES: Final = "all-"
_OWN_FILE: Final = "write the layout that you mean into the operator's file, with profiles that the GPU has room for"
_NO_AUTO_MODE: Final = "put such GPUs into a managed node group, beside Auto Mode"
_NO_MIG: Final = f"remove the label {labels.MIG_CONFIG}; where several servers must share such a GPU, {mig.WITHOUT_MIG}"


def _partitioned(stack: Stack) -> Iterator[_Subject]:
    yield from stack.pools
    yield from operators(stack)
    yield from (pod for pod in stack.pods if makes_partitions(pod))


def _concerned(subject: _Subject, stack: Stack) -> bool:
    if isinstance(subject, Pool):
        return stack.is_gpu_pool(subject) and (
            layout_of(subject) is not None
            or bool(commands_of(subject, stack))
            or bottlerocket_profiles(subject, stack) is not None
        )
    return True


def _check(subject: _Subject, stack: Stack) -> Iterator[Outcome]:
    if isinstance(subject, PodTemplate):
        kinds = [kind for pool in stack.landing(subject) for kind in models_of(pool)]
        yield from map(Problem, creation_defects(made_by(subject), kinds))
    elif isinstance(subject, Resource):
        yield from clauses(_file(subject, stack), _default(subject, stack))
    else:
        yield from clauses(
            _label(subject, stack),
            map(Problem, settings_defects(bottlerocket_profiles(subject, stack), models_of(subject))),
            map(Problem, creation_defects(commands_of(subject, stack), models_of(subject))),
        )


def _label(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    layout = layout_of(pool)
    if layout is None:
        return
    if need(pool.labels).get(labels.EKS_AUTO_COMPUTE_TYPE) == labels.EKS_AUTO_COMPUTE:
        yield Problem(f"names the MIG layout {layout}, but EKS Auto Mode partitions no GPU", fix=_NO_AUTO_MODE)
        return
    names = f"names the MIG layout {layout}"
    kinds = models_of(pool)
    yield from clauses(_bottlerocket(pool, stack), *(_exists(names, layout, kind, pool, stack) for kind in kinds))


def _bottlerocket(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    mixed = _mixed(stack)
    if mixed is not None and family_of(pool) is AmiFamily.BOTTLEROCKET:
        yield Problem(
            f"is Bottlerocket, which advertises partitions by strategy {mig.SINGLE} only, and {mixed.name} says "
            f"{mig.MIXED}"
        )


@once
def _mixed(stack: Stack) -> Resource | None:
    """Return an operator that advertises partitions by strategy ``mixed``."""
    mixed = [item for item in operators(stack) if strategy_of(item) == mig.MIXED]
    return next(iter(mixed), None)


@once
def _own(stack: Stack) -> LayoutFile | None:
    """Return the layouts that an operator's MIG manager is given; None where all make their own."""
    return next(iter([need(file) for file in layout_files(stack)]), None)


def _default(release: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge the layout of nodes that name none."""
    layout = default_layout(release)
    if layout != mig.ALL_DISABLED:
        yield from clauses(*(_default_of(pool, layout, stack) for pool in stack.gpu_pools))


def _default_of(pool: Pool, layout: str, stack: Stack) -> Iterator[Outcome]:
    """Judge it on the nodes of a pool that can be partitioned."""
    if labels.MIG_CONFIG in need(pool.labels):
        return
    gives = f"gives {pool.name} the MIG layout {layout} by default"
    able = (kind for kind in models_of(pool) if kind.gpu_model in mig.MODELS)
    yield from clauses(*(_exists(gives, layout, kind, pool, stack) for kind in able))


def _exists(named: str, layout: str, kind: InstanceType, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    gpu = mig.MODELS.get(kind.gpu_model)
    if gpu is None:
        yield Problem(f"{named}, but the {kind.gpu_name} of {kind.name} has no MIG", fix=_NO_MIG)
        return
    own = _own(stack)
    if own is None:
        yield from _static(named, layout, kind, pool, stack)
        return
    entries = own.on(layout, gpu)
    if not entries and own.layouts:
        yield Problem(
            f"{named}, which the operator's own file does not have for the {kind.gpu_name} of {kind.name}; it has "
            f"{', '.join(own.layouts)}",
            fix=_OWN_FILE,
        )
    for entry in entries:
        obstacle = gpu.obstacle(entry.partitions)
        if obstacle is not None:
            yield Problem(f"{named}, which the {kind.gpu_name} of {kind.name} cannot hold: {obstacle}", fix=_OWN_FILE)
        else:
            yield from _alike(named, len(entry.partitions), pool)


def _static(named: str, layout: str, kind: InstanceType, pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Judge a layout by the names that the MIG manager has by itself."""
    layouts = mig.MODELS[kind.gpu_model].layouts
    if layout in layouts:
        yield from _alike(named, len(layouts[layout]), pool)
    elif layout == mig.ALL_ENABLED or layout in mig.MORE_LAYOUTS.get(kind.gpu_model, ()):
        return
    elif operators(stack) or layout.startswith(_MANY_PROFILES):
        yield Problem(f"{named}, which the {kind.gpu_name} of {kind.name} has not; it has {', '.join(layouts)}")
    else:
        yield Undecided(labels.MIG_CONFIG, f"no MIG manager is in the stack that would know the layout {layout}")


def _alike(named: str, profiles: int, pool: Pool) -> Iterator[Outcome]:
    """Yield a problem where partitions of several sizes are to pass for GPUs."""
    if profiles <= 1:
        return
    if isinstance(pool.split, NotKnown):
        yield Undecided(pool.split.path, pool.split.reason)
    elif isinstance(pool.split, Partitions) and pool.split.strategy == mig.SINGLE:
        yield Problem(
            f"{named} with {profiles} profiles, but strategy {mig.SINGLE} advertises GPUs only whose partitions are "
            "all alike",
            fix=f"set mig.strategy to {mig.MIXED}, or take a layout of one profile",
        )


def _file(release: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge the layouts that an operator is given, whether or not a pool names them."""
    own = own_layouts(release, stack)
    if own is None:
        return
    where = ".".join(MANAGER_CONFIG)
    if not own.layouts:
        yield Problem(f"gives the MIG manager a file without layouts ({where}, key {MIG_CONFIG_FILE})", fix=_OWN_FILE)
        return
    default = default_layout(release)
    if default not in own.layouts:
        yield Problem(
            f"gives the MIG manager a file without {default}, the layout of nodes that name none; it replaces the "
            f"manager's own altogether and has {', '.join(own.layouts)}",
            fix=f"add the layout {default} to the file, or name one of its layouts as migManager.config.default",
        )
    for obstacle in own.obstacles():
        yield Problem(f"gives the MIG manager a layout that cannot be: {obstacle}", fix=_OWN_FILE)


def _operator() -> Resource:
    return examples.release(
        "operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"mig": {"strategy": mig.MIXED}}
    )


def _pool(layout: str) -> Resource:
    own = {**labels.pool_labels(labels.gpu_type("a100", partitioned=True), "inference"), labels.MIG_CONFIG: layout}
    return examples.node_group(None, "p4d", instanceTypes=["p4d.24xlarge"], labels=own)


RULE: Final = Rule(
    id="SHARE004",
    title="MIG layouts exist on the GPU",
    severity=Severity.HIGH,
    why=(
        "The MIG manager refuses a layout that the GPU cannot hold and sets the node's state to failed: the GPUs stay "
        "as they were, and pods that ask for slices wait for ever. Every model has profiles of its own, and an A10G, "
        "L4 or L40S has none."
    ),
    fix="name a layout of the pool's GPU model, such as all-1g.5gb on p4d; GpuNodeGroup and GpuNodePool check it",
    lessons=("G04", "G05"),
    levels=EVERYWHERE,
    looks_at=Subjects[_Subject](
        "pools, operators and commands that partition GPUs", POOL_TYPES, _partitioned, _concerned
    ),
    check=_check,
    failing=Example((_operator(), _pool("all-1g.10gb.me"))),
    passing=Example((_operator(), _pool("all-1g.5gb"))),
)
