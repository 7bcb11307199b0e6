"""What Karpenter may do to the nodes of a pool while a training job runs there, and whether the job outlives it.

The semantics are those of kubernetes-sigs/karpenter at 2026-08-20 (pkg/apis/v1/nodepool.go,
pkg/controllers/disruption, checked 2026-11-21):

* *Consolidation* empties nodes whose pods fit elsewhere, unless the policy is ``WhenEmpty``, ``consolidateAfter`` is
  ``Never`` or the pool is static; it respects budgets, blocking PodDisruptionBudgets and ``do-not-disrupt``.
* *Drift* replaces nodes that no longer look like their pool. It respects budgets; pods that refuse to go hold it back
  only where the pool has no termination grace period.
* *Expiry* ignores budgets. Pods that refuse to go are waited for, for the termination grace period if there is one.

Each clause of the contract is one function that returns what is wrong, or None. Durations are seconds; ``NEVER`` is
longer than any.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from eks_gpu.planning import duration
from eks_gpu.planning.reading import NotKnown, NotKnownError, need

NEVER: Final = math.inf
"""Of a duration: it does not come to pass."""

HOUR: Final = 3600
MINUTE: Final = 60

WHEN_EMPTY: Final = "WhenEmpty"
DEFAULT_POLICY: Final = "WhenEmptyOrUnderutilized"
DEFAULT_EXPIRY: Final = 720 * HOUR
AUTO_MODE_EXPIRY: Final = 336 * HOUR
DEFAULT_CONSOLIDATE_AFTER: Final = 0
DEFAULT_BUDGET: Final = "10%"
"""What the NodePool's schema fills in for what is left out (NodePool CRD of Karpenter 1.14.1); EKS Auto Mode's nodes
expire sooner (EKS user guide, "Create a Node Pool for EKS Auto Mode", checked 2026-11-21)."""

LONGEST_JOB: Final = 72 * HOUR
"""How long a training job is taken to run that says nothing: a long weekend."""

GANG_RESTART: Final = 10 * MINUTE
"""How long the nodes of a gang may be empty while it restarts: images are there, pods come back one after another."""

SPOT_NOTICE: Final = 120
"""How long before it takes a spot instance back EC2 says so."""

DEFAULT_POD_GRACE: Final = 30
"""Kubernetes' own ``terminationGracePeriodSeconds``."""


class Reason(StrEnum):
    """Why Karpenter disrupts a node of its own will; expiry and interruption ask nobody."""

    UNDERUTILIZED = "Underutilized"
    EMPTY = "Empty"
    DRIFTED = "Drifted"


def lasting(text: str) -> float | None:
    """Return the seconds of a Go duration or of ``Never``; None when ``text`` is neither.

    >>> lasting("1h30m"), lasting("Never"), lasting("3d")
    (5400.0, inf, None)
    """
    return NEVER if text == "Never" else duration.seconds(text)


def hours(seconds: float) -> str:
    """Return a duration as people read it: ``72 h``, ``15 min``, ``30 s``, ``Never``."""
    if seconds == NEVER:
        return "Never"
    if seconds >= HOUR:
        return f"{seconds / HOUR:g} h"
    return f"{seconds / MINUTE:g} min" if seconds >= MINUTE else f"{seconds:g} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many nodes may be disrupted at once, for some reasons, for some of the time."""

    nodes: str
    """A count, or a percentage that is rounded up: ``10%`` of three nodes is one."""
    reasons: frozenset[str] | None = None
    """None for every reason. Listed but empty is none at all."""
    schedule: str | None = None
    """A cron expression in UTC; None for always."""
    lasts: float | None = None
    """Seconds for which it is in force after each hit of the schedule."""

    @property
    def forbids(self) -> bool:
        """Whether it lets no node go. One that Karpenter cannot read lets none go either, but the API refuses it."""
        return self.nodes.removesuffix("%").strip("0") == "" and self.nodes not in {"", "%"}

    @property
    def always(self) -> bool:
        """Whether it is in force at every moment: without a schedule, or with one that comes back before it ends."""
        if self.schedule is None:
            return True
        every = _period(self.schedule)
        return every is not None and self.lasts is not None and self.lasts >= every

    def concerns(self, reason: Reason) -> bool:
        """Return whether it speaks of a reason."""
        return self.reasons is None or reason in self.reasons


_NAMED_PERIODS: Final = {"@hourly": HOUR, "@daily": 24 * HOUR, "@midnight": 24 * HOUR, "@weekly": 7 * 24 * HOUR}


def _period(schedule: str) -> float | None:
    """Return the seconds between two hits of a plain schedule; None for one that is not plain."""
    if schedule in _NAMED_PERIODS:
        return _NAMED_PERIODS[schedule]
    fields = schedule.split()
    if len(fields) != len(_PERIODS) + 1:
        return None
    fixed = [field.isdecimal() for field in fields]
    for number, seconds in enumerate(_PERIODS):
        rest = fields[number:]
        if all(fixed[:number]) and all(field in {"*", "?"} for field in rest):
            return seconds
    weekly = all(fixed[:2]) and fields[2:4] == ["*", "*"]
    return _NAMED_PERIODS["@weekly"] if weekly and fixed[4] else None


_PERIODS: Final = (MINUTE, HOUR, 24 * HOUR, 31 * 24 * HOUR)
"""By how many of a schedule's first fields are fixed numbers while all others are stars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a node pool says about the disruption of its nodes, defaults filled in."""

    policy: str | NotKnown
    """``WhenEmpty``, ``WhenEmptyOrUnderutilized`` or ``Balanced``."""
    consolidate_after: float | NotKnown
    budgets: tuple[Budget | NotKnown, ...] | NotKnown
    expire_after: float | NotKnown
    grace: float | NotKnown
    """The pool's ``terminationGracePeriod``: how long pods that refuse to go are waited for; ``NEVER`` when unset."""
    static: bool | NotKnown = False
    """Whether the pool has a fixed number of nodes, which are not consolidated."""
    annotated: bool | NotKnown = False
    """Whether its nodes carry ``do-not-disrupt``, which keeps consolidation and drift away, but not expiry."""
    unset: frozenset[str] = frozenset()
    """Names of the properties that are left to their defaults."""

    def forbids(self, reason: Reason) -> bool:
        """Return whether some budget never lets a node go for ``reason``."""
        open_questions = []
        for budget in need(self.budgets):
            if isinstance(budget, NotKnown):
                open_questions.append(budget)
            elif budget.forbids and budget.always and budget.concerns(reason):
                return True
        for question in open_questions:
            raise NotKnownError(question)
        return False

    @property
    def consolidates(self) -> bool:
        """Whether nodes are given back at all when there is no use for them."""
        if need(self.static) or need(self.annotated):
            return False
        return need(self.consolidate_after) != NEVER

    @property
    def empties_busy_nodes(self) -> bool:
        """Whether nodes with pods on them are emptied to save money."""
        if not self.consolidates or need(self.policy) == WHEN_EMPTY:
            return False
        return not self.forbids(Reason.UNDERUTILIZED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A training workload that may run on the pool."""

    name: str
    runs: float
    """Seconds that the longest job takes."""
    undisturbed: float | NotKnown = 0
    """Seconds from its start for which its pods refuse to go, by annotation or PodDisruptionBudget."""
    resumes: bool | NotKnown = False
    """Whether it saves often and durably, and goes on from there."""
    gang: bool = False
    """Whether several pods only work together."""
    pod_grace: float | NotKnown = DEFAULT_POD_GRACE
    """Seconds its pods have between SIGTERM and SIGKILL."""
    save: float | NotKnown | None = None
    """Seconds that writing a checkpoint takes; None when nobody declared it."""

    @property
    def refuses(self) -> bool:
        """Whether its pods refuse to go for as long as the job runs."""
        return need(self.undisturbed) >= self.runs


def longest(guests: Sequence[Guest]) -> float:
    """Return the seconds of the longest job there may be on a pool."""
    return max((guest.runs for guest in guests), default=LONGEST_JOB)


def _held_back(contract: Contract, guests: Sequence[Guest]) -> bool:
    """Return whether the pods hold back drift and expiry until the longest job is done."""
    return all_refuse(guests) and need(contract.grace) >= longest(guests)


def all_refuse(guests: Sequence[Guest]) -> bool:
    """Return whether there are guests and all of them refuse to go while they run."""
    return bool(guests) and all(guest.refuses for guest in guests)


def consolidation(contract: Contract, guests: Sequence[Guest]) -> str | None:
    """Clause a: return why a busy node may be emptied."""
    if not contract.empties_busy_nodes or all_refuse(guests):
        return None
    policy = need(contract.policy)
    said = f"consolidationPolicy is {_unset(contract, 'consolidationPolicy')}{policy}"
    return (
        f"{said} and no always-on budget of 0 holds for {Reason.UNDERUTILIZED}: nodes are emptied while a job runs, "
        f"and up to {hours(longest(guests))} of work are lost"
    )


def restart(contract: Contract, guests: Sequence[Guest]) -> str | None:
    """Clause b: return why the nodes of a gang that restarts may be gone before it is back."""
    if not contract.consolidates or contract.forbids(Reason.EMPTY):
        return None
    after = need(contract.consolidate_after)
    if after >= GANG_RESTART:
        return None
    who = ", ".join(guest.name for guest in guests if guest.gang) or "a gang"
    return (
        f"consolidateAfter is {_unset(contract, 'consolidateAfter')}{hours(after)}: while {who} restarts its nodes are "
        f"empty, and are given back before it is there again; it takes up to {hours(GANG_RESTART)}"
    )


def drift(contract: Contract, guests: Sequence[Guest]) -> str | None:
    """Clause c: return why a change of the pool or its image may replace a node under a job."""
    if need(contract.annotated) or contract.forbids(Reason.DRIFTED) or _held_back(contract, guests):
        return None
    if all_refuse(guests):
        return (
            f"drift waits only terminationGracePeriod = {hours(need(contract.grace))} for pods that refuse to go, and "
            f"the longest job runs {hours(longest(guests))}"
        )
    scheduled = [item for item in _known(contract) if item.forbids and item.concerns(Reason.DRIFTED)]
    why = (
        f"the budget of 0 for {Reason.DRIFTED} holds only from {scheduled[0].schedule} for "
        f"{hours(scheduled[0].lasts or 0)}"
        if scheduled
        else f"no budget of 0 holds for {Reason.DRIFTED}, and the default of {DEFAULT_BUDGET} rounds up to one node"
    )
    return f"{why}: a new image or a changed pool replaces nodes while up to {hours(longest(guests))} of work run there"


def expiry(contract: Contract, guests: Sequence[Guest]) -> str | None:
    """Clause d: return why a node may come of age under a job."""
    limit = need(contract.expire_after)
    if limit == NEVER or _held_back(contract, guests):
        return None
    job = longest(guests)
    if guests and limit >= job and all(need(guest.resumes) for guest in guests):
        return None
    said = f"expireAfter is {_unset(contract, 'expireAfter')}{hours(limit)} and ignores budgets"
    if all_refuse(guests):
        return f"{said}; pods that refuse to go are waited for {hours(need(contract.grace))}, a job runs {hours(job)}"
    hit = 100 if limit <= job else round(100 * job / limit)
    return f"{said}: about {hit} % of jobs of {hours(job)} lose their node and up to {hours(job)} of work"


def farewell(guest: Guest, *, spot: bool) -> str | None:
    """Clause e: return why a guest cannot save before it is killed. ``spot`` says whether its node may be."""
    grace = need(guest.pod_grace)
    save = need(guest.save)
    if save is not None and grace < save:
        return (
            f"{guest.name} has {hours(grace)} (terminationGracePeriodSeconds) to save and declares that saving takes "
            f"{hours(save)}"
        )
    if spot and grace > SPOT_NOTICE:
        return (
            f"{guest.name} counts on {hours(grace)} (terminationGracePeriodSeconds) after SIGTERM; a spot instance is "
            f"gone after {hours(SPOT_NOTICE)}"
        )
    return None


def _unset(contract: Contract, name: str) -> str:
    return "unset, which means " if name in contract.unset else ""


def _known(contract: Contract) -> list[Budget]:
    return [budget for budget in need(contract.budgets) if isinstance(budget, Budget)]
