"""NODE013: training outlives disruption.

Concerned are node pools that say they are for training, or that training pods land on; of those that say nothing and
have no GPU pod in the stack, those that buy nothing smaller than 8 GPUs a node, and those that empty busy nodes though
they wait less for a draining node than a job takes. One that empties busy nodes and buys small nodes as well as 8-GPU
nodes gets advice: it may be for servers.

A pool of all sizes that gives back empty nodes only (Karpenter's own examples) is not concerned until somebody trains
on it. A schedule that comes back before its duration is over (``0 0 * * *`` for 24h) is always on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning import disruption
from eks_gpu.planning.disruption import LONGEST_JOB, Contract, Guest
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.questions.disruption import Purpose, contract_of, guest, purpose_of, tenants
from eks_gpu_policies.questions.room import room
from eks_gpu_policies.questions.training import Training
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

_MANY: Final = 8
"""GPUs of a node that somebody buys for one job."""


def _concerned(pool: Pool, stack: Stack) -> bool:
    if not stack.is_gpu_pool(pool):
        return False
    if tenants(pool, stack):
        return True
    purpose = purpose_of(pool)
    if purpose is not Purpose.UNSAID:
        return purpose is Purpose.TRAINING
    if pool.urn in room(stack).with_gpu_pods:
        return False
    return _looks_like_training(pool, contract_of(stack.by_urn[pool.urn].view))


def _looks_like_training(pool: Pool, contract: Contract) -> bool:
    if _is_for_large_jobs(pool):
        return True
    large = any(kind.gpu_count >= _MANY for kind in pool.gpu_types)
    return contract.empties_busy_nodes and (large or need(contract.grace) < LONGEST_JOB)


def _is_for_large_jobs(pool: Pool) -> bool:
    """Return whether a pool buys nothing but nodes of many GPUs."""
    return bool(pool.gpu_types) and all(kind.gpu_count >= _MANY for kind in pool.gpu_types)


@dataclass(frozen=True, slots=True)
class _Case:
    """A pool's contract with those who train on it."""

    contract: Contract
    guests: tuple[Guest, ...]
    doubtful: bool
    """Whether it may as well be for something else: the pool, or the jobs that land on it."""
    fix: str

    def judge(self, clause: str) -> Iterator[Outcome]:
        """Yield what breaks a clause of the contract."""
        message = _CLAUSES[clause](self.contract, self.guests)
        if message is not None:
            alone = clause == _RESTART and bool(self.guests) and not any(guest.gang for guest in self.guests)
            yield Problem(f"{_NAMES[clause]}: {message}", advisory=self.doubtful or alone, fix=self.fix)

    def farewell(self, guest: Guest, *, spot: bool) -> Iterator[Outcome]:
        """Yield why a guest cannot save before it is killed."""
        message = disruption.farewell(guest, spot=spot)
        if message is not None:
            yield Problem(f"{_NAMES['e']}: {message}", advisory=self.doubtful, fix=_FAREWELL)


_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "a": "clause a (consolidation)",
        "b": "clause b (restart)",
        "c": "clause c (drift)",
        "d": "clause d (expiry)",
        "e": "clause e (farewell)",
    }
)
"""What the contract with training consists of, for messages."""
_RESTART: Final = "b"
_CLAUSES: Final[Mapping[str, Callable[[Contract, Sequence[Guest]], str | None]]] = MappingProxyType(
    {
        "a": disruption.consolidation,
        _RESTART: disruption.restart,
        "c": disruption.drift,
        "d": disruption.expiry,
    }
)
_FAREWELL: Final = (
    "give the pod a terminationGracePeriodSeconds that covers what saving takes, and on spot save in less than "
    f"{disruption.SPOT_NOTICE} s"
)


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    here = tenants(pool, stack)
    known = tuple(item for item in here if item.certain) or here
    contract = contract_of(stack.by_urn[pool.urn].view)
    doubtful = purpose_of(pool) is not Purpose.TRAINING and (
        not known[0].certain if known else not _is_for_large_jobs(pool) and need(contract.grace) >= LONGEST_JOB
    )
    case = _Case(
        contract=contract,
        guests=tuple(guest(item, stack) for item in known),
        doubtful=doubtful,
        fix=_remedy(pool, known),
    )
    yield from clauses(*map(case.judge, _CLAUSES), _farewells(case, pool))


def _farewells(case: _Case, pool: Pool) -> Iterator[Outcome]:
    spot = _SPOT in need(pool.capacity_types)
    for who in case.guests:
        yield from clauses(case.farewell(who, spot=spot))


_SPOT: Final = "spot"


def _remedy(pool: Pool, here: tuple[Training, ...]) -> str:
    """Return what to do, where the pool may not be meant for training at all."""
    purpose = purpose_of(pool)
    if here and purpose is not Purpose.TRAINING:
        names = ", ".join(sorted({item.name for item in here}))
        return f"{_FIX}; or keep {names} off this pool, by a node selector or a taint of the pool"
    if purpose is Purpose.UNSAID:
        return f"{_FIX}; if nothing trains there, say what the pool is for: label {labels.WORKLOAD}: inference"
    return _FIX


_FIX: Final = (
    'on pools for training set consolidationPolicy WhenEmpty, consolidateAfter 15m, a budget of nodes "0" for Drifted '
    "and Underutilized, and expireAfter Never, as GpuNodePool does; or annotate the pods with "
    f'{labels.DO_NOT_DISRUPT}: "true" and leave terminationGracePeriod unset or as long as the job'
)


RULE: Final = Rule(
    id="NODE013",
    title="Training outlives disruption",
    severity=Severity.HIGH,
    why=(
        "Karpenter's defaults are made for stateless pods: busy nodes are emptied when their pods fit elsewhere, a new "
        "image replaces nodes one by one, and every node goes after 30 days whatever runs on it. A gang of training "
        "pods loses all its work with one of them."
    ),
    fix=_FIX,
    lessons=("N10",),
    looks_at=Subjects[Pool](
        "Karpenter's pools for training",
        frozenset({tokens.NODE_POOL}),
        lambda stack: stack.node_pools(),
        _concerned,
    ),
    check=_check,
    failing=Example((examples.training_pool(consolidationPolicy="WhenEmptyOrUnderutilized", budgets=[]),)),
    passing=Example((examples.training_pool(),)),
)
