"""Lists of series for the DCGM exporter, which ends at the first mistake in one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import exported_series, metrics
from eks_gpu.planning.monitoring.counters import read_counters

SOUND = "DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C)."


def test_m07_our_own_list_is_sound_and_exports_what_we_say() -> None:
    found = read_counters(metrics.counter_file())
    assert (found.series, found.mistakes) == (metrics.EXPORTED, ())


@pytest.mark.parametrize(
    "row",
    [
        SOUND,
        "DCGM_FI_DEV_DEC_UTIL ,     gauge, Decoder utilization (in %).",
        'DCGM_FI_DEV_GPU_TEMP,gauge,"temperature, in C"',
        'DCGM_FI_DEV_GPU_TEMP,gauge,"the ""real"" one"',
        "DCGM_EXP_XID_ERRORS_TOTAL, counter, XIDs",
        "DCGM_FI_DEV_GPU_TEMP, gauge,",
        f"# a comment, with, commas\n\n{SOUND}\r",
    ],
)
def test_a_sound_row_is_exported(row: str) -> None:
    found = read_counters(row)
    assert found.mistakes == ()
    assert len(found.series) == 1


def test_labels_are_no_series() -> None:
    assert read_counters("DCGM_FI_DRIVER_VERSION, label, Driver Version").series == frozenset()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("DCGM_FI_DEV_GPU_TEMP, gauge, in C, not F", "4 fields instead of 3; a comma in the help text makes one more"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge", "2 fields instead of 3"),
        ('DCGM_FI_DEV_GPU_TEMP, gauge, "in C"', "a quote within a field"),
        ('DCGM_FI_DEV_GPU_TEMP,gauge,"in C', "a quote within a field"),
        ("dcgm_gpu_temp, gauge, in C", "dcgm_gpu_temp is no field of DCGM"),
        ("DCGM_EXP_XID_COUNT, counter, XIDs", "DCGM_EXP_XID_COUNT is no field of DCGM"),
        ("DCGM_FI_DEV_GPU_TEMP, Gauge, in C", "Gauge is no type; there are counter, gauge,"),
    ],
)
def test_m07_one_bad_row_ends_the_exporter(row: str, says: str) -> None:
    (mistake,) = read_counters(f"{SOUND}\n{row}").mistakes
    assert mistake.startswith("line 2 (")
    assert says in mistake


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = read_counters(text)
    assert all(exported_series.FIELD.fullmatch(name) for name in found.series)


def test_m07_the_names_of_default_series_since_4_9() -> None:
    assert len(exported_series.DEFAULT_SINCE_4_9) == len(exported_series.DEFAULT) + 1
    untouched = exported_series.DEFAULT & exported_series.DEFAULT_SINCE_4_9
    # The release notes of 4.9.0 speak of 23 renames, one of them of a label.
    assert untouched == exported_series.RATES | {"DCGM_FI_DEV_VGPU_LICENSE_STATUS"}
    assert exported_series.TOTAL_MEMORY not in exported_series.DEFAULT | exported_series.DEFAULT_SINCE_4_9
