"""Queries that are known to lie: they look right and never fire, or always do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eks_gpu.facts import exported_series as facts
from eks_gpu.facts import metrics
from eks_gpu.planning.monitoring.promql.tree import (
    ABSENT,
    COMPARISONS,
    Aggregation,
    Binary,
    Call,
    Literal,
    Matcher,
    Node,
    Selector,
    selectors,
    walk,
)

_OVER_TIME: Final = frozenset({"increase", "rate", "irate", "delta", "idelta", "changes", "deriv", "resets"})
_RATES: Final = frozenset({"increase", "rate", "irate"})
_PASSES_ON: Final = frozenset({"max", "min", "sum", "avg", "group", "topk", "bottomk"})
_KEEPS_VALUES: Final = frozenset({"max_over_time", "min_over_time", "last_over_time", "sum_over_time", "avg_over_time"})
_TRIVIAL: Final = frozenset({"0", "0.0", "1"})
"""Numbers that are no codes of interest."""
_ANY: Final = frozenset({"", ".*", ".+"})
_NO_CODE: Final = frozenset({"", "0"})


@dataclass(frozen=True, slots=True)
class Lie:
    """One thing that is wrong with a query."""

    what: str
    """What it does, as the second half of a sentence about the rule."""
    cure: str
    """What to write instead."""


@lru_cache(maxsize=4096)
def lies(query: str, *, alerts: bool, partitioned: bool) -> tuple[Lie, ...]:
    """Return what is wrong with a rule's own query; nothing where it cannot be read.

    ``alerts``: whether it alerts, rather than records. ``partitioned``: whether GPUs are, by MIG.
    """
    from eks_gpu.planning.monitoring.promql.parser import PromqlError, parse  # noqa: PLC0415 - only stacks with rules pay for it

    try:
        tree = parse(query)
    except PromqlError:
        return ()
    return tuple(dict.fromkeys(_lies(tree, alerts=alerts, partitioned=partitioned)))


def _lies(tree: Node, *, alerts: bool, partitioned: bool) -> Iterator[Lie]:
    # A rule that records may leave the codes to the alerts that read it.
    any_xid = alerts and not any(_compares_with_a_code(part) for part in walk(tree))
    if any_xid:
        yield from _about_any_code(_passed_on(tree))
    for part in walk(tree):
        yield from _about_xids(part)
        yield from _about_rates(part)
        if any_xid and isinstance(part, Binary) and part.operator in COMPARISONS:
            yield from _about_any_code(_asked_above_zero(part))
        if partitioned:
            yield from _about_instances(part)


def names(*nodes: Node) -> frozenset[str]:
    """Return the names of the series in queries."""
    return frozenset(item.name for node in nodes for item in selectors(node))


def _about_xids(part: Node) -> Iterator[Lie]:
    if not isinstance(part, Call):
        return
    found = names(*part.arguments) & facts.LAST_XID
    if not found:
        return
    if part.function in _OVER_TIME:
        yield Lie(
            f"takes {part.function}() of the last XID: it never fires, because each code is a series of its own that "
            "keeps its value",
            f'ask for codes: {min(found)}{{err_code=~"48|79|..."}} > 0; or give the exporter\'s list a row for '
            f"{metrics.XID_ERRORS_COUNT}, which counts them",
        )
    if part.function in ABSENT:
        yield Lie(
            f"takes {part.function}() of the last XID: it always fires, because healthy GPUs have no such series",
            f"take it of a series that every GPU has: absent({metrics.GPU_TEMP})",
        )


def _about_any_code(last: Selector | None) -> Iterator[Lie]:
    """Judge a series of which an alert asks only whether it is there, or above zero."""
    if last is not None and last.name in facts.LAST_XID and not _asks_for_codes(last):
        yield Lie(
            "fires on any last XID, for ever: programs' own errors (13, 31, 43) are among them, and the value stays "
            "until the exporter restarts",
            f'ask for the codes that mean trouble: {last.name}{{err_code=~"48|79|..."}} > 0',
        )


def _compares_with_a_code(part: Node) -> bool:
    """Return whether a part compares the last XID, whose value is the code, with a number of interest."""
    if not isinstance(part, Binary) or part.operator not in COMPARISONS:
        return False
    numbers = [side.text for side in (part.left, part.right) if isinstance(side, Literal)]
    return bool(numbers) and not set(numbers) & _TRIVIAL and bool(names(part) & facts.LAST_XID)


def _asked_above_zero(part: Binary) -> Selector | None:
    """Return the series of which a part asks only whether it is above zero, or above one, which is no code in use."""
    turned = part.operator in {"<", "<="}
    series, number = (part.right, part.left) if turned else (part.left, part.right)
    if part.operator == "==" or not (isinstance(number, Literal) and number.text in _TRIVIAL):
        return None
    return _passed_on(series)


def _passed_on(series: Node) -> Selector | None:
    """Return the series whose values a part passes on as they are; None where it does something else with them."""
    while isinstance(series, Aggregation | Call):
        name = series.operator if isinstance(series, Aggregation) else series.function
        if name not in _PASSES_ON | _KEEPS_VALUES:
            return None
        inner = [argument for argument in series.arguments if not isinstance(argument, Literal)]
        if len(inner) != 1:
            return None
        series = inner[0]
    return series if isinstance(series, Selector) else None


def _asks_for_codes(selector: Selector) -> bool:
    return any(item.label in facts.XID_CODE_LABELS and not _matches_any(item) for item in selector.matchers)


def _matches_any(matcher: Matcher) -> bool:
    """Return whether a condition on the code lets every code through; there is none of 0."""
    return matcher.value in (_NO_CODE if matcher.operator in {"!=", "!~"} else _ANY)


def _about_rates(part: Node) -> Iterator[Lie]:
    if isinstance(part, Call) and part.function in _RATES:
        for name in sorted(names(*part.arguments) & facts.RATES):
            yield Lie(
                f"takes {part.function}() of {name}, which is in bytes a second already",
                f"take {name} itself, or avg_over_time() of it",
            )


def _about_instances(part: Node) -> Iterator[Lie]:
    """Judge what is only right for whole GPUs."""
    match part:
        case Aggregation(operator="sum", arguments=(Selector(name=name),)) if name in facts.REPEATED_UNDER_MIG:
            yield Lie(
                f"sums {name}, which each MIG instance repeats: the sum is several times the truth",
                f"take the maximum of each GPU first: sum(max by (UUID) ({name}))",
            )
        case Binary(operator="<" | "<=", left=left) if names(left) and names(left) <= facts.ABSENT_UNDER_MIG:
            yield Lie(
                f"tells idleness by {metrics.GPU_UTIL}, which partitioned GPUs do not report",
                f"take {metrics.GR_ENGINE_ACTIVE}, which they do",
            )
        case _:
            pass
