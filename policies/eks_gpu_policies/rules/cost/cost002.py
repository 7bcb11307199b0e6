"""COST002: the stack cannot outspend its budget.

The ceiling is what all GPU pools cost at their largest: a node group at ``maxSize``, a node pool at its limits. Types
without a price on demand are sold as capacity blocks only, paid when they are bought: a pool that takes nothing but
``reserved`` cannot outspend what somebody has already paid, and what that was is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.pool import HOURS_PER_MONTH, Pool, PoolKind
from eks_gpu.planning.reading import NotKnownError, attempt, need
from eks_gpu.planning.spend import Ceiling, UnboundedSpendError, UnpricedError, ceiling
from eks_gpu_policies import examples
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Undecided, undecided
from eks_gpu_policies.stack import Stack, Whole
from eks_gpu_policies.subjects import stack_with_gpu_pools

_BUDGET: Final = "monthlyBudgetUsd"
_WHERE: Final = f"budget.monthly_usd in a stack file, {_BUDGET} in the configuration of the policy eks-gpu"
_RESERVED: Final = frozenset({"reserved"})


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    budget = stack.options.monthly_budget_usd
    ceilings: list[Ceiling] = []
    unbounded: list[Outcome] = [undecided(what) for what in stack.unclear_pools]
    for pool in stack.gpu_pools:
        try:
            ceilings.append(ceiling(pool))
        except UnboundedSpendError as error:
            unbounded.append(_without_ceiling(pool, error))
        except NotKnownError as error:
            unbounded.append(undecided(error.what))
    hourly = sum(item.usd_per_hour for item in ceilings)
    if budget is None:
        yield _without_budget(hourly, unbounded, stack)
        return
    for item in unbounded:
        ends = ", so that the stack's spend has no ceiling"
        yield replace(item, message=item.message + ends) if isinstance(item, Problem) else item
    if hourly * HOURS_PER_MONTH > budget:
        yield Problem(
            f"its GPU pools may cost ${hourly * HOURS_PER_MONTH:,.0f} a month, the budget is ${budget:,.0f}: "
            + "; ".join(f"{item.pool} ${item.usd_per_month:,.0f} ({item.because})" for item in ceilings)
        )


def _without_ceiling(pool: Pool, error: UnboundedSpendError) -> Outcome:
    if isinstance(error, UnpricedError) and not pool.unlisted and attempt(_capacity_types, pool) == _RESERVED:
        return Undecided("spec" if pool.kind is PoolKind.NODE_POOL else "capacityType", f"{pool.name} {error}")
    return Problem(f"{pool.name} {error}", urn=pool.urn, fix=_bound(pool, error))


def _bound(pool: Pool, error: UnboundedSpendError) -> str:
    """Return what would give the pool's spend a ceiling."""
    if isinstance(error, UnpricedError):
        return "leave out the types without a price on demand, or waive this, with the price that was agreed as reason"
    if pool.kind is not PoolKind.NODE_POOL:
        return "set the group's largest size"
    if all(kind.gpu_count for kind in pool.gpu_types):
        return f'set limits: {{"{resources.GPU}": "<n>"}} on the pool, as GpuNodePool does from max_gpus'
    return (
        f'set limits: {{"{resources.CPU}": "<n>"}} on the pool: it may buy types that have parts of a GPU, of which '
        f"a limit on {resources.GPU} counts none"
    )


def _capacity_types(pool: Pool) -> frozenset[str]:
    return need(pool.capacity_types)


def _without_budget(hourly: float, unbounded: list[Outcome], stack: Stack) -> Outcome:
    cost = f"may cost ${hourly * HOURS_PER_MONTH:,.0f} a month"
    if unbounded:
        cost = f"have no ceiling: {'; '.join(_reason(item) for item in unbounded)}"
    if stack.options.environment_named:
        return Problem(f"has no budget; its GPU pools {cost}", fix=f"set the budget: {_WHERE}")
    return Undecided(_BUDGET, f"no budget is set; the GPU pools {cost}")


def _reason(outcome: Outcome) -> str:
    return outcome.message if isinstance(outcome, Problem) else f"{outcome.path} is {outcome.reason}"


_POOL = examples.node_pool(types=("p4d.24xlarge",))

RULE: Final = Rule(
    id="COST002",
    title="The stack cannot outspend its budget",
    severity=Severity.HIGH,
    why=(
        "Limits of single pools add up to a sum that nobody has seen. Eight A100 for a month are $16,000; the stack "
        "that may buy them under five pools is found out by the invoice."
    ),
    fix=(f"lower limits or sizes until the ceiling fits, or raise the budget: {_WHERE}"),
    lessons=("M05",),
    levels=EVERYWHERE,
    looks_at=stack_with_gpu_pools(lambda options: options.monthly_budget_usd),
    check=_check,
    failing=Example((_POOL,), {_BUDGET: 10_000}),
    passing=Example((_POOL,), {_BUDGET: 20_000}),
)
