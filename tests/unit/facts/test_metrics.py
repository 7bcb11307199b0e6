from __future__ import annotations

import csv

import pytest

from eks_gpu.facts import metrics
from eks_gpu.facts.metrics import METRICS, Metric, PrometheusType


def test_m07_each_row_of_the_counter_file_has_exactly_three_fields() -> None:
    rows = list(csv.reader(line for line in metrics.counter_file().splitlines() if not line.startswith("#")))
    assert {len(row) for row in rows} == {3}
    assert [row[0] for row in rows] == [metric.field for metric in METRICS]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_m07_no_help_text_holds_what_would_stop_the_exporter(metric: Metric) -> None:
    assert not set(',"\n') & set(metric.help)


def test_m07_no_metric_is_listed_twice() -> None:
    fields = [metric.field for metric in METRICS]
    assert sorted(set(fields)) == sorted(fields)


def test_m07_every_metric_is_exported_under_its_old_name_which_all_exporters_know() -> None:
    assert not metrics.EXPORTED & set(metrics.RENAMED.values())


def test_m04_the_total_of_the_memory_is_in_no_list_and_its_parts_are() -> None:
    assert "DCGM_FI_DEV_FB_TOTAL" not in metrics.EXPORTED | metrics.DEFAULT
    assert {"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED"} <= metrics.EXPORTED


def test_m02_ecc_counters_are_exported_though_no_default_list_has_them() -> None:
    ecc = {field for field in metrics.EXPORTED if "_ECC_" in field}
    assert len(ecc) == 4
    assert not ecc & metrics.DEFAULT


def test_labels_are_not_series() -> None:
    assert {metric.field for metric in METRICS if metric.type is PrometheusType.LABEL} == {"DCGM_FI_DRIVER_VERSION"}
    assert "DCGM_FI_DRIVER_VERSION" not in metrics.EXPORTED
