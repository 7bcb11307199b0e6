"""What people see: tables and one summary line, on whatever width their terminal has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eks_gpu_policies.report import Finding, Report
from eks_gpu_policies.rule import Level

_COLOURS = {Level.MANDATORY: "red", Level.ADVISORY: "yellow"}

_LOG_WIDTH: Final = 140
"""Columns where there is no terminal; a log scrolls sideways better than it stacks words."""


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show that ``what`` is going on, on a terminal; nothing in a pipe or when ``quiet``."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def report_console() -> Console:
    """Return where reports go: as wide as the terminal, and wide enough to be read in a log."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_LOG_WIDTH)


def print_report(stack: str, report: Report, unanswered: Sequence[str], *, list_not_evaluated: bool) -> None:
    """Print what the rules say of ``stack``: findings, waivers, what could not be answered, and the summary."""
    console = report_console()
    if report.findings:
        console.print(_findings(report.findings))
    for waived in report.waived:
        waiver = waived.waiver
        line = f"waived until {waiver.until} by {waiver.owner} ({waiver.reason}): {waived.finding.text}"
        console.print(Text(line, style="dim"), soft_wrap=True)
    if list_not_evaluated:
        for missed in report.not_evaluated:
            console.print(Text(f"not evaluated: {missed.text}", style="dim"), soft_wrap=True)
    for token in unanswered:
        line = f"note: the program called {token}, which only the cloud can answer; it got an empty result here"
        console.print(Text(line, style="dim"), soft_wrap=True)
    verdict, colour = ("refused", "red") if report.refused else ("passes", "green")
    summary = Text.assemble((stack, "bold"), " ", (verdict, f"bold {colour}"), ": ", report.summary)
    console.print(summary, soft_wrap=True)


def _findings(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0), show_header=True, header_style="bold")
    table.add_column("rule", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("resource", overflow="fold")
    table.add_column("what is wrong, and what to do", overflow="fold", ratio=1)
    for finding in findings:
        place = f"\n{finding.path}" if finding.path else ""
        table.add_row(
            finding.rule,
            Text(finding.level.value, style=_COLOURS.get(finding.level, "")),
            f"{finding.resource}{place}",
            f"{finding.message}\n→ {finding.fix}",
        )
    return table
