"""A list of series for the DCGM exporter: what it exports, and what keeps the exporter from starting.

The exporter reads its list as strict CSV and ends at the first mistake, and with it everything that watches the GPUs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import exported_series as facts

_FIELDS: Final = 3
_LINE: Final = re.compile(r'(?:"(?:[^"]|"")*"|[^",]*)(?:,(?:"(?:[^"]|"")*"|[^",]*))*')
_LABEL: Final = "label"


@dataclass(frozen=True, slots=True)
class CounterList:
    """A list."""

    series: frozenset[str]
    """What it exports; rows of the type ``label`` are labels of the others."""
    mistakes: tuple[str, ...]
    """What ends the exporter: one sentence for each row."""


def read_counters(text: str) -> CounterList:
    """Read a list."""
    series: set[str] = set()
    mistakes: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = _cells(line)
        mistake = _mistake(cells)
        if mistake is not None:
            mistakes.append(f"line {number} ({line.strip()[:60]}): {mistake}")
        elif cells is not None and cells[1] != _LABEL:
            series.add(cells[0])
    return CounterList(frozenset(series), tuple(mistakes))


def _cells(line: str) -> tuple[str, ...] | None:
    """Return the cells of a row; None when its quotes are not those of CSV."""
    if '"' not in line:
        return tuple(cell.strip() for cell in line.split(","))
    if _LINE.fullmatch(line) is None:
        return None
    import csv  # noqa: PLC0415 - hardly any list quotes

    return tuple(cell.strip() for cell in next(csv.reader([line])))


def _mistake(cells: tuple[str, ...] | None) -> str | None:
    if cells is None:
        return "a quote within a field; leave it out, or put the whole field into quotes, without a space before"
    if len(cells) != _FIELDS:
        return f"{len(cells)} fields instead of {_FIELDS}; a comma in the help text makes one more"
    name, kind, _help = cells
    if facts.FIELD.fullmatch(name) is None or (name.startswith("DCGM_EXP_") and name not in facts.OWN_COUNTERS):
        return f"{name} is no field of DCGM"
    if kind not in facts.COUNTER_TYPES:
        return f"{kind} is no type; there are {', '.join(sorted(facts.COUNTER_TYPES))}"
    return None
