"""COST006: the vCPU quota covers the maximum.

EC2 counts running instances in vCPU, apart for families and for on demand and spot. Capacity blocks have quotas of
their own, and an on-demand reservation has taken its part of the quota when it was made: what is only ``reserved`` is
not counted. The record of the quotas may lag behind what the account has by now, so that this is advice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.quotas import QUOTAS, Quota, quota_of
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu.planning.spend.ceiling import UnboundedSpendError, most_nodes
from eks_gpu_policies import examples
from eks_gpu_policies.options import Quotas
from eks_gpu_policies.rule import (
    Example,
    Level,
    Levels,
    Outcome,
    Problem,
    Rule,
    Severity,
    Undecided,
    undecided,
)
from eks_gpu_policies.stack import Stack, Whole
from eks_gpu_policies.subjects import stack_with_gpu_pools

_OPTION: Final = "vcpuQuotas"
_WHERE: Final = "quotas in a stack file, vcpuQuotas in the configuration of the policy eks-gpu"
_FRESH: Final = dt.timedelta(days=30)
_ON_DEMAND: Final = "on-demand"
_SPOT: Final = "spot"


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    record = stack.options.vcpu_quotas
    if record is None:
        yield Undecided(_OPTION, f"nobody wrote down the account's vCPU quotas: {_WHERE}")
        return
    if record.recorded > stack.options.today:
        yield Undecided(f"{_OPTION}.recorded", f"the quotas were read on {record.recorded}, a day that has yet to come")
        return
    if stack.options.today - record.recorded > _FRESH:
        yield Undecided(f"{_OPTION}.recorded", f"the quotas were read on {record.recorded}, more than 30 days ago")
        return
    for what in stack.unclear_pools:
        yield undecided(what)
    yield from _compared(record, stack)


def _compared(record: Quotas, stack: Stack) -> Iterator[Outcome]:
    wanted: dict[Quota, list[tuple[str, float]]] = {}
    for pool in stack.gpu_pools:
        if pool.unlisted:
            yield Undecided(_OPTION, f"how many vCPU {', '.join(pool.unlisted)} of {pool.name} have")
        most = attempt(_most, pool)
        if isinstance(most, NotKnown):
            yield undecided(most)
            continue
        for quota, vcpus in most.items():
            if quota is None:
                yield Undecided(_OPTION, f"which quota counts what {pool.name} may buy on spot")
            else:
                wanted.setdefault(quota, []).append((pool.name, vcpus))
    for quota in QUOTAS:
        if quota in wanted:
            yield from _of_quota(quota, wanted[quota], record)


def _of_quota(quota: Quota, wanted: list[tuple[str, float]], record: Quotas) -> Iterator[Outcome]:
    recorded = record.vcpus.get(quota.code)
    if recorded is None:
        yield Undecided(f"{_OPTION}.vcpus", f"the record lacks {quota.code} ({quota.name})")
        return
    most = sum(vcpus for _name, vcpus in wanted)
    if most > recorded:
        yield Problem(
            f"may run {most:,.0f} vCPU of {quota.code} ({quota.name}), which was {recorded:,.0f} on {record.recorded}: "
            + ", ".join(f"{name} {vcpus:,.0f}" for name, vcpus in wanted),
            fix="ask for the increase now: aws service-quotas request-service-quota-increase --service-code ec2 "
            f"--quota-code {quota.code} --desired-value {most:.0f}; or lower the limits",
        )


def _most(pool: Pool) -> dict[Quota | None, float]:
    """Return the most vCPU of each quota that a pool may run; a pool without a limit is COST001's finding.

    What no known quota counts is there under None, if it is all that the pool may buy on a market.
    """
    found: dict[Quota | None, float] = {}
    capacity = need(pool.capacity_types)
    for market in (_ON_DEMAND, _SPOT):
        if market in capacity:
            found |= _on_market(pool, spot=market == _SPOT)
    return found


def _on_market(pool: Pool, *, spot: bool) -> dict[Quota | None, float]:
    found: dict[Quota | None, float] = {}
    for kind in pool.gpu_types:
        vcpus = _of_type(pool, kind)
        if vcpus is not None:
            quota = quota_of(kind.family, spot=spot)
            found[quota] = max(vcpus, found.get(quota, vcpus))
    return {quota: vcpus for quota, vcpus in found.items() if quota is not None or len(found) == 1}


def _of_type(pool: Pool, kind: InstanceType) -> float | None:
    """Return the vCPU of as many nodes of one type as the pool may have; None where nothing limits them."""
    if pool.static:
        try:
            return float(most_nodes(pool) * kind.vcpu)
        except UnboundedSpendError:
            return None
    nodes = []
    if pool.gpu_limit is not None and kind.gpu_count:
        nodes.append(pool.gpu_limit // kind.gpu_count)
    limit = need(pool.limits).get(resources.CPU)
    cpus = None if limit is None else quantity(limit)
    if cpus is not None:
        nodes.append(float(cpus // kind.vcpu))
    return min(nodes) * kind.vcpu if nodes else None


_POOL = examples.node_pool(types=("g5.48xlarge",), limits={resources.GPU: "32"})


def _recorded(vcpus: float) -> dict[str, object]:
    return {_OPTION: {"recorded": "2026-11-20", "vcpus": {"L-DB2E81BA": vcpus}}}


RULE: Final = Rule(
    id="COST006",
    title="The vCPU quota covers the maximum",
    severity=Severity.MEDIUM,
    why=(
        "New accounts may run no GPU instance at all, and a quota that is too small is found out on the day of the "
        "load test: pods stay Pending, Karpenter reports VcpuLimitExceeded, and an increase takes hours to days."
    ),
    fix=(
        "ask for the increase in Service Quotas now (aws service-quotas request-service-quota-increase), or lower the "
        "limits"
    ),
    lessons=("M10",),
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.ADVISORY),
    looks_at=stack_with_gpu_pools(lambda options: options.vcpu_quotas),
    check=_check,
    failing=Example((_POOL,), _recorded(384)),
    passing=Example((_POOL,), _recorded(768)),
)
