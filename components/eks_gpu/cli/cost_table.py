"""The cost of stacks as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from eks_gpu.cli.cost_report import HOURS_PER_DAY, StackCost
from eks_gpu.cli.render import report_console
from eks_gpu.planning.pool import HOURS_PER_MONTH
from eks_gpu.planning.spend.difference import Change, PoolDifference
from eks_gpu.planning.spend.figures import Amount, Figure
from eks_gpu.planning.spend.prices import Prices
from eks_gpu.planning.spend.report import ASSUMPTIONS, Bound, PoolSpend

_NOT_KNOWN: Final = "not known"
_PERIODS: Final = (("hour", 1, 2), ("day", HOURS_PER_DAY, 0), ("month", HOURS_PER_MONTH, 0))
"""What totals are given for, with its hours and the decimals of an amount."""
_WIDEST_NAME: Final = 20
"""Columns that the names of pools keep; longer ones are broken where the terminal is narrow."""
_RESERVED: Final = "reserved"
_RESERVED_NOTE: Final = (
    "reserved capacity is counted at its list price while nodes run; reservations and capacity blocks are paid for in "
    "any case, at a price of their own"
)
_COLOURS: Final = {Change.ADDED: "red", Change.REMOVED: "green", Change.CHANGED: "yellow"}


def print_cost(cost: StackCost, prices: Prices) -> None:
    """Print what a stack's pools cost, the sum, what is left of the budget, and what the figures rest on."""
    console = report_console()
    if not cost.spend.pools:
        console.print(Text.assemble((cost.stack, "bold"), ": no GPU pools, so that GPUs cost nothing"), soft_wrap=True)
    else:
        console.print(_pools(cost))
        console.print(_totals(cost))
    for line in (*_budget(cost), *_gaps(cost)):
        console.print(Text(line), soft_wrap=True)
    if cost.spend.pools:
        for line in _notes(cost, prices):
            console.print(Text(line, style="dim"), soft_wrap=True)
    console.print()


def _pools(cost: StackCost) -> Table:
    table = _table(f"{cost.stack}: GPU pools, US dollars an hour (on demand / with spot)", apart=True)
    table.add_column("pool", overflow="fold", min_width=_name_width(pool.name for pool in cost.spend.pools))
    table.add_column("capacity")
    for bound in Bound:
        table.add_column(bound.value, justify="right", overflow="fold")
    table.add_column("DaemonSets, a node and day", justify="right", overflow="fold")
    for pool in cost.spend.pools:
        table.add_row(
            f"{pool.name}\n{pool.kind}",
            "\n".join(pool.capacity_types) or _NOT_KNOWN,
            *(_cell(pool.figures[bound]) for bound in Bound),
            _overhead(pool),
        )
    return table


def _table(title: str, *, apart: bool = False) -> Table:
    """Return an empty table; rows of several lines are set apart."""
    gap = (0, 2, 1, 0) if apart else (0, 2, 0, 0)
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=gap)


def _name_width(names: Iterable[str]) -> int:
    """Return the least width of the column of names: they are the last to be broken on a narrow terminal."""
    return min(_WIDEST_NAME, max(map(len, names), default=0))


def _cell(figure: Figure) -> str:
    if isinstance(figure, Amount):
        return f"{_both(figure.on_demand, figure.spot)}\n{figure.because}"
    return f"{_NOT_KNOWN}\n{figure.because}"


def _both(on_demand: float, spot: float | None, decimals: int = 2) -> str:
    return f"{on_demand:,.{decimals}f} / {'?' if spot is None else f'{spot:,.{decimals}f}'}"


def _overhead(pool: PoolSpend) -> str:
    found = pool.daemons
    if found is None or found.usd_per_day is None:
        return _NOT_KNOWN
    asked = f"{found.cpu_millicores}m, {found.memory_mib:,} MiB"
    unknown = f"\nwithout {', '.join(found.uncounted)}" if found.uncounted else ""
    return f"{found.usd_per_day:,.2f}\n{found.share:.1%} of a {found.instance.name}\n{asked}{unknown}"


def _totals(cost: StackCost) -> Table:
    table = _table("together, US dollars (on demand / with spot)")
    table.add_column("per")
    for bound in Bound:
        table.add_column(bound.value, justify="right")
    for name, hours, decimals in _PERIODS:
        row = []
        for bound in Bound:
            total = cost.spend.total(bound)
            spot = None if total.spot is None else total.spot * hours
            at_least = "at least " if total.missing else ""
            row.append(at_least + _both(total.on_demand * hours, spot, decimals))
        table.add_row(name, *row)
    return table


def _budget(cost: StackCost) -> tuple[str, ...]:
    budget, left = cost.monthly_budget_usd, cost.left_of_budget
    if budget is None:
        remedy = "set budget.monthly_usd in the stack file, or give --policy-pack-config"
        return (f"{cost.stack} has no budget: {remedy}",) if cost.spend.pools else ()
    if left is None:
        return (f"budget ${budget:,.0f} a month; what the ceiling leaves of it is not known",)
    if left < 0:
        return (f"budget ${budget:,.0f} a month; the ceiling is ${-left:,.0f} above it",)
    return (f"budget ${budget:,.0f} a month; the ceiling leaves ${left:,.0f} of it ({left / budget:.0%})",)


def _gaps(cost: StackCost) -> tuple[str, ...]:
    spend = cost.spend
    return (
        *(f"no ceiling: {reason}" for reason in spend.total(Bound.CEILING).missing),
        *(
            f"no price on spot: {', '.join(pool.without_spot_price)} ({pool.name})"
            for pool in spend.pools
            if pool.without_spot_price
        ),
        *(f"no pool has room for {name}" for name in spend.unplaced),
        *(f"not in the expected figure: {reason}" for reason in spend.uncounted),
        *(f"may buy GPUs or not: {reason}" for reason in spend.unclear),
    )


def _notes(cost: StackCost, prices: Prices) -> tuple[str, ...]:
    demand = f"on demand {prices.on_demand_as_of}, {prices.on_demand_source}"
    reserved = any(_RESERVED in pool.capacity_types for pool in cost.spend.pools)
    return (
        f"prices: {demand}; spot {prices.spot.as_of}, {prices.spot.source}",
        *((_RESERVED_NOTE,) if reserved else ()),
        *(f"{bound.value}: {ASSUMPTIONS[bound]}" for bound in Bound),
    )


def print_comparison(cost: StackCost, against: StackCost, differences: Sequence[PoolDifference]) -> None:
    """Print what a stack costs more, or less, than another."""
    console = report_console()
    table = _table(f"{cost.stack} against {against.stack}: US dollars an hour more (+) or less (-), on demand")
    table.add_column("pool", overflow="fold", min_width=_name_width(item.name for item in differences))
    table.add_column("change")
    for bound in Bound:
        table.add_column(bound.value, justify="right")
    for item in differences:
        if item.change is not Change.SAME:
            colour = _COLOURS.get(item.change, "")
            table.add_row(item.name, Text(item.change.value, style=colour), *(_signed(item, bound) for bound in Bound))
    table.add_row("together", "", *(_together(differences, bound) for bound in Bound))
    console.print(table)
    same = sum(item.change is Change.SAME for item in differences)
    if same:
        console.print(Text(f"{same} pools are the same in both", style="dim"), soft_wrap=True)


def _signed(item: PoolDifference, bound: Bound) -> str:
    usd = item.usd_per_hour[bound]
    return _NOT_KNOWN if usd is None else f"{usd:+,.2f}"


def _together(differences: Sequence[PoolDifference], bound: Bound) -> str:
    amounts = [item.usd_per_hour[bound] for item in differences]
    known = [usd for usd in amounts if usd is not None]
    at_least = "" if len(known) == len(amounts) else "without what is not known "
    return f"{at_least}{sum(known):+,.2f} ({sum(known) * HOURS_PER_MONTH:+,.0f} a month)"
