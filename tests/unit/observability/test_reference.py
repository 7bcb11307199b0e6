from __future__ import annotations

from eks_gpu.facts.metrics import METRICS
from eks_gpu.observability.reference import alerts_page
from eks_gpu.observability.rules import ALERTS


def test_the_page_lists_every_alert_with_its_runbook_and_every_metric() -> None:
    page = alerts_page("../runbooks")
    assert [alert.name for alert in ALERTS if f"[{alert.name}](../runbooks/{alert.name}.md)" not in page] == []
    assert [metric.field for metric in METRICS if f"`{metric.field}`" not in page] == []


def test_every_row_of_a_table_has_the_cells_of_its_header() -> None:
    rows = [line for line in alerts_page("runbooks").splitlines() if line.startswith("|")]
    widths = {row.count(" | ") for row in rows if not set(row) <= set("| -")}
    assert widths == {3, 4}


def test_the_page_ends_as_a_file_does() -> None:
    page = alerts_page("runbooks")
    assert page.endswith("|\n")
    assert "\n\n\n" not in page
