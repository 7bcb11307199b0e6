"""COST003: idle environments cost nothing.

Prod is left out: there, nodes that wait for work are what people pay for. So is capacity that is paid in advance, which
costs the same whether nodes run on it or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import HOURS_PER_MONTH, Pool, PoolKind
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.replicas import is_placeholder, replicas, stays
from eks_gpu_policies.rule import Example, Level, Levels, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import POOL_TYPES

_RESERVED: Final = frozenset({"reserved"})
_NEVER: Final = "Never"
_SCALED_OBJECT: Final = "kubernetes:keda.sh/v1alpha1:ScaledObject"
_CRON_JOB: Final = "CronJob"
_FOLLOW_DEMAND: Final = "leave spec.replicas out, so that the pool follows the pods, or set it to 0 while nobody works"


def _concerned(subject: Pool | PodTemplate, stack: Stack) -> bool:
    if isinstance(subject, Pool):
        return stack.is_gpu_pool(subject)
    return stays(subject) and subject.asks_gpu and is_placeholder(subject, stack)


def _check(subject: Pool | PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if isinstance(subject, Pool):
        if not _prepaid(subject, stack):
            yield from clauses(_size(subject), _consolidation(subject, stack))
    else:
        yield from _placeholder(subject, stack)


def _prepaid(pool: Pool, stack: Stack) -> bool:
    """Return whether the pool's nodes run on capacity that costs the same without them."""
    if need(pool.capacity_types) == _RESERVED:
        return True
    template = None if pool.kind is PoolKind.NODE_POOL else stack.template(pool)
    target = ("capacityReservationSpecification", "capacityReservationTarget")
    return template is not None and template.at(*target).exists


def _size(pool: Pool) -> Iterator[Outcome]:
    if not pool.static:
        return
    size = need(pool.size)
    nodes, what = (size.desired, "replicas") if pool.kind is PoolKind.NODE_POOL else (size.minimum, "a minimum size")
    if nodes:
        yield Problem(
            f"keeps {_nodes(nodes)} whether there is work or not ({what} of {nodes}){_a_month(pool, nodes)}",
            fix=_FOLLOW_DEMAND if pool.kind is PoolKind.NODE_POOL else None,
        )


def _nodes(count: int) -> str:
    return "one node" if count == 1 else f"{count} nodes"


def _consolidation(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if pool.kind is not PoolKind.NODE_POOL:
        return
    if stack.by_urn[pool.urn].view.at("spec", "disruption", "consolidateAfter").text() == _NEVER:
        yield Problem(
            f"never gives a node back that is empty (consolidateAfter: {_NEVER}){_a_month(pool, 1, ' for each')}",
            fix="let the pool consolidate empty nodes after some minutes (consolidationPolicy WhenEmpty)",
        )


def _a_month(pool: Pool, nodes: int, each: str = "") -> str:
    prices = [kind.usd_per_hour for kind in pool.gpu_types if kind.usd_per_hour is not None]
    return f", ${min(prices) * nodes * HOURS_PER_MONTH:,.0f} a month{each}" if prices else ""


def _placeholder(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    count = replicas(pod, stack)
    if not count or _has_hours(pod, stack):
        return
    yield Problem(
        f"keeps {_nodes(count)} ready for nobody, day and night{_of_placeholders(pod, count, stack)}",
        fix="give the placeholders working hours: a ScaledObject of KEDA with a cron trigger, or a CronJob that scales "
        "them; or keep no node ready here",
    )


def _of_placeholders(pod: PodTemplate, count: int, stack: Stack) -> str:
    from eks_gpu_policies.questions.spend import cheapest_for  # noqa: PLC0415 - only placeholders are priced

    types = (cheapest_for(pod, pool, stack) for pool in stack.landing(pod))
    prices = [kind.usd_per_hour for kind in types if kind is not None and kind.usd_per_hour is not None]
    return f", ${min(prices) * count * HOURS_PER_MONTH:,.0f} a month" if prices else ""


def _has_hours(pod: PodTemplate, stack: Stack) -> bool:
    """Return whether something in the stack scales the workload by itself: a ScaledObject, or a job that names it."""
    name = stack.by_urn[pod.urn].kubernetes_name()
    if name is None:
        return bool(stack.of_type(_SCALED_OBJECT))
    targets = (item.view.at("spec", "scaleTargetRef", "name").text() for item in stack.of_type(_SCALED_OBJECT))
    mentions = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    return name in targets or any(
        mentions.search(word)
        for job in stack.pods
        if job.owner_kind == _CRON_JOB
        for box in need(job.containers)
        for word in (*box.place["command"].texts(), *box.place["args"].texts())
    )


def _subjects(stack: Stack) -> tuple[Pool | PodTemplate, ...]:
    return (*stack.pools, *stack.pods)


RULE: Final = Rule(
    id="COST003",
    title="Idle environments cost nothing",
    severity=Severity.MEDIUM,
    why=(
        "Nobody works in dev and staging at night and on weekends, three quarters of a month. A single p4d.24xlarge "
        "that is kept there costs $16,000 a month, most of it for nothing."
    ),
    fix=(
        "let Karpenter buy nodes for pods and give them back, as GpuNodePool does; or set the group's minimum size to 0"
    ),
    lessons=("M05",),
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.DISABLED),
    looks_at=Subjects[Pool | PodTemplate](
        "GPU pools, and pods that keep room on them", POOL_TYPES, _subjects, _concerned
    ),
    check=_check,
    failing=Example((examples.node_group(),), {"environment": "dev"}),
    passing=Example((examples.node_pool(),), {"environment": "dev"}),
)
