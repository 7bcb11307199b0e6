"""The GPU metrics: one list from which the exporter's counter file, the scrape, the alerts and the dashboards are made.

dcgm-exporter parses its counter file strictly: exactly three fields a row, so one comma or quote in a help text, or one
unknown field name, and the exporter does not start. Rows are therefore data here and joined by one function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

SOURCE = (
    "NVIDIA/dcgm-exporter 4.5.3-4.8.2 (691c92762eb5) and 4.6.0-4.8.3 etc/default-counters.csv and "
    "etc/dcp-metrics-included.csv; internal/pkg/counters/counter_config.go (parser), internal/pkg/collector "
    "(DCGM_EXP_* windows); dcgm-exporter 4.9.0 release notes (renames)"
)
CHECKED = "2026-11-21"


class PrometheusType(StrEnum):
    """What the exporter declares a row to be; ``label`` rows become labels of the other metrics."""

    GAUGE = "gauge"
    COUNTER = "counter"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of the exporter's counter file.

    ``by_default`` says whether the exporter exports it without a counter file of ours; ``needed_for`` who reads it.
    ``renamed`` is the name since exporter 4.9.0, and ``renamed_scale`` what a value under that name is multiplied by to
    be in this metric's unit.
    """

    field: str
    type: PrometheusType
    help: str
    needed_for: str
    by_default: bool = True
    renamed: str | None = None
    renamed_scale: float = 1

    def row(self) -> str:
        """Return the row of the counter file."""
        return f"{self.field}, {self.type.value}, {self.help}"

    def __str__(self) -> str:
        """Return the name of the series, so that a query can be written around the metric."""
        return self.field


_GAUGE, _COUNTER, _LABEL = PrometheusType.GAUGE, PrometheusType.COUNTER, PrometheusType.LABEL

GPU_TEMP = Metric(
    "DCGM_FI_DEV_GPU_TEMP",
    _GAUGE,
    "GPU temperature (in C).",
    "temperature alerts; every GPU reports it so it also counts the GPUs",
    renamed="DCGM_FI_DEV_GPU_TEMP_CELSIUS",
)
MEMORY_TEMP = Metric(
    "DCGM_FI_DEV_MEMORY_TEMP",
    _GAUGE,
    "Memory temperature (in C).",
    "dashboards",
    renamed="DCGM_FI_DEV_MEMORY_TEMP_CELSIUS",
)
CLOCK_EVENTS_COUNT = Metric(
    "DCGM_EXP_CLOCK_EVENTS_COUNT",
    _GAUGE,
    "Clock events observed during the configured time window.",
    "throttling alert",
    by_default=False,
)
SM_CLOCK = Metric(
    "DCGM_FI_DEV_SM_CLOCK",
    _GAUGE,
    "SM clock frequency (in MHz).",
    "dashboards",
    renamed="DCGM_FI_DEV_SM_CLOCK_HERTZ",
    renamed_scale=1e-6,
)
POWER_USAGE = Metric(
    "DCGM_FI_DEV_POWER_USAGE",
    _GAUGE,
    "Power draw (in W).",
    "dashboards; repeated for each MIG instance so take max by UUID before a sum",
    renamed="DCGM_FI_DEV_BOARD_POWER_WATTS",
)
ENERGY = Metric(
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    _COUNTER,
    "Total energy consumption since boot (in mJ).",
    "dashboards",
    renamed="DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL",
    renamed_scale=1e3,
)
GPU_UTIL = Metric(
    "DCGM_FI_DEV_GPU_UTIL",
    _GAUGE,
    "GPU utilization (in %).",
    "idle alerts where the profiling metrics are missing; absent under MIG",
    renamed="DCGM_FI_DEV_GPU_UTIL_RATIO",
    renamed_scale=100,
)
MEM_COPY_UTIL = Metric(
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    _GAUGE,
    "Memory utilization (in %).",
    "dashboards",
    renamed="DCGM_FI_DEV_MEMORY_UTIL_RATIO",
    renamed_scale=100,
)
GR_ENGINE_ACTIVE = Metric(
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    _GAUGE,
    "Ratio of time the graphics engine is active.",
    "idle alerts; present under MIG; needs SYS_ADMIN",
    renamed="DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
)
SM_ACTIVE = Metric(
    "DCGM_FI_PROF_SM_ACTIVE",
    _GAUGE,
    "The ratio of cycles an SM has at least 1 warp assigned.",
    "dashboards",
    by_default=False,
)
TENSOR_ACTIVE = Metric(
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    _GAUGE,
    "Ratio of cycles the tensor (HMMA) pipe is active.",
    "dashboards",
    renamed="DCGM_FI_PROF_TENSOR_UTIL_RATIO",
)
DRAM_ACTIVE = Metric(
    "DCGM_FI_PROF_DRAM_ACTIVE",
    _GAUGE,
    "Ratio of cycles the device memory interface is active sending or receiving data.",
    "dashboards",
    renamed="DCGM_FI_PROF_DRAM_UTIL_RATIO",
)
PCIE_TX_BYTES = Metric(
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    _GAUGE,
    "The rate of data transmitted over the PCIe bus in bytes per second.",
    "dashboards; it is a rate already",
)
PCIE_RX_BYTES = Metric(
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    _GAUGE,
    "The rate of data received over the PCIe bus in bytes per second.",
    "dashboards; it is a rate already",
)
PCIE_REPLAY = Metric(
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    _COUNTER,
    "Total number of PCIe retries.",
    "dashboards",
    renamed="DCGM_FI_DEV_PCIE_REPLAY_TOTAL",
)
XID_ERRORS = Metric(
    "DCGM_FI_DEV_XID_ERRORS",
    _GAUGE,
    "Value of the last XID error encountered.",
    "alert on a hardware XID that nobody dealt with; the value stays until the exporter restarts",
    renamed="DCGM_FI_DEV_XID_ERROR",
)
XID_ERRORS_COUNT = Metric(
    "DCGM_EXP_XID_ERRORS_COUNT",
    _GAUGE,
    "XID errors observed during the configured time window.",
    "alerts by XID class; a windowed value so take max_over_time and never a rate",
    by_default=False,
)
FB_FREE = Metric(
    "DCGM_FI_DEV_FB_FREE",
    _GAUGE,
    "Framebuffer memory free (in MiB).",
    "memory alerts",
    renamed="DCGM_FI_DEV_FB_FREE_BYTES",
    renamed_scale=1 / 1024**2,
)
FB_USED = Metric(
    "DCGM_FI_DEV_FB_USED",
    _GAUGE,
    "Framebuffer memory used (in MiB).",
    "memory alerts",
    renamed="DCGM_FI_DEV_FB_USED_BYTES",
    renamed_scale=1 / 1024**2,
)
FB_RESERVED = Metric(
    "DCGM_FI_DEV_FB_RESERVED",
    _GAUGE,
    "Framebuffer memory reserved (in MiB).",
    "memory alerts; the standalone chart's own list lacks it",
    renamed="DCGM_FI_DEV_FB_RESERVED_BYTES",
    renamed_scale=1 / 1024**2,
)
ECC_SBE_VOLATILE = Metric(
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
    _COUNTER,
    "Total number of single-bit volatile ECC errors.",
    "dashboards",
    by_default=False,
)
ECC_DBE_VOLATILE = Metric(
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
    _COUNTER,
    "Total number of double-bit volatile ECC errors.",
    "ECC alert",
    by_default=False,
)
ECC_SBE_AGGREGATE = Metric(
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
    _COUNTER,
    "Total number of single-bit persistent ECC errors.",
    "ECC rate alert; survives a driver reload",
    by_default=False,
)
ECC_DBE_AGGREGATE = Metric(
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
    _COUNTER,
    "Total number of double-bit persistent ECC errors.",
    "dashboards",
    by_default=False,
)
UNCORRECTABLE_REMAPPED_ROWS = Metric(
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    _COUNTER,
    "Number of remapped rows for uncorrectable errors",
    "dashboards",
    renamed="DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL",
)
CORRECTABLE_REMAPPED_ROWS = Metric(
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    _COUNTER,
    "Number of remapped rows for correctable errors",
    "dashboards",
    renamed="DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL",
)
ROW_REMAP_FAILURE = Metric(
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    _GAUGE,
    "Whether remapping of rows has failed",
    "row remap alert",
    renamed="DCGM_FI_DEV_ROW_REMAP_FAILED",
)
ROW_REMAP_PENDING = Metric(
    "DCGM_FI_DEV_ROW_REMAP_PENDING",
    _GAUGE,
    "Whether remapping of rows is pending a GPU reset",
    "row remap alert",
    by_default=False,
)
NVLINK_BANDWIDTH = Metric(
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    _GAUGE,
    "NVLink bandwidth over all lanes.",
    "dashboards",
    renamed="DCGM_FI_DEV_NVLINK_THROUGHPUT_BYTES_PER_SECOND",
    renamed_scale=1e-6,
)
DRIVER_VERSION = Metric(
    "DCGM_FI_DRIVER_VERSION",
    _LABEL,
    "Driver Version",
    "to see which nodes run which driver",
    renamed="DCGM_FI_SYSTEM_DRIVER_VERSION",
)

METRICS: tuple[Metric, ...] = (
    GPU_TEMP,
    MEMORY_TEMP,
    CLOCK_EVENTS_COUNT,
    SM_CLOCK,
    POWER_USAGE,
    ENERGY,
    GPU_UTIL,
    MEM_COPY_UTIL,
    GR_ENGINE_ACTIVE,
    SM_ACTIVE,
    TENSOR_ACTIVE,
    DRAM_ACTIVE,
    PCIE_TX_BYTES,
    PCIE_RX_BYTES,
    PCIE_REPLAY,
    XID_ERRORS,
    XID_ERRORS_COUNT,
    FB_FREE,
    FB_USED,
    FB_RESERVED,
    ECC_SBE_VOLATILE,
    ECC_DBE_VOLATILE,
    ECC_SBE_AGGREGATE,
    ECC_DBE_AGGREGATE,
    UNCORRECTABLE_REMAPPED_ROWS,
    CORRECTABLE_REMAPPED_ROWS,
    ROW_REMAP_FAILURE,
    ROW_REMAP_PENDING,
    NVLINK_BANDWIDTH,
    DRIVER_VERSION,
)
"""The complete list that our exporters load; a counter file replaces the exporter's default list."""

EXPORTED: frozenset[str] = frozenset(metric.field for metric in METRICS if metric.type is not PrometheusType.LABEL)
"""The series that exist where our counter file is loaded."""

DEFAULT: frozenset[str] = frozenset(
    metric.field for metric in METRICS if metric.by_default and metric.type is not PrometheusType.LABEL
) | {
    "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_ENC_UTIL",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
}
"""The series of the exporter's own default list, that is where nobody gave it a counter file."""

RENAMED: Mapping[str, str] = MappingProxyType({metric.field: metric.renamed for metric in METRICS if metric.renamed})
"""Old name to the name since exporter 4.9.0. A counter file with the old names keeps them exported."""


def counter_file(metrics: Iterable[Metric] = METRICS) -> str:
    """Return the exporter's counter file: one row a metric, and a comment line on top."""
    rows = "".join(f"{metric.row()}\n" for metric in metrics)
    return f"# DCGM field, Prometheus type, help\n{rows}"
