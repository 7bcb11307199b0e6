"""Which series DCGM exporters export by themselves, by their version, and how they read a list of somebody's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from eks_gpu.facts import metrics

SOURCE = (
    "NVIDIA/dcgm-exporter 4.5.3-4.8.2 (691c92762eb5): etc/default-counters.csv, etc/dcp-metrics-included.csv, "
    "deployment/templates/metrics-configmap.yaml (the chart's own list), internal/pkg/counters/counter_config.go and "
    "exporter_counters.go (parser, own counters), Go's encoding/csv; 4.6.0-4.8.3 (7ad58324), same lists and the label "
    "hostname; release notes of 4.9.0 (23 renames; the names by the alias table of DCGM 4.6's dcgm_fields.py and the "
    "field identifiers of DCGM 4.7, the file itself could not be read); NVIDIA/gpu-operator v26.7.0 values.yaml"
)
CHECKED = "2026-11-21"

RENAMED_SINCE: tuple[int, ...] = (4, 9)
"""The exporter's version that calls its default series by other names. A list of one's own keeps its names."""

HOST_LABEL_RENAMED_SINCE: tuple[int, ...] = (4, 8, 3)
HOST_LABEL_BEFORE = "Hostname"
HOST_LABEL = "hostname"

CAPACITY = "DCGM_FI_DEV_FB_CAPACITY_BYTES"
TOTAL_MEMORY = "DCGM_FI_DEV_FB_TOTAL"
"""In no default list, though many alerts and dashboards read it."""

RENAMED: Mapping[str, str] = MappingProxyType(
    {
        **metrics.RENAMED,
        "DCGM_FI_DEV_MEM_CLOCK": "DCGM_FI_DEV_MEMORY_CLOCK_HERTZ",
        "DCGM_FI_DEV_ENC_UTIL": "DCGM_FI_DEV_ENC_UTIL_RATIO",
        "DCGM_FI_DEV_DEC_UTIL": "DCGM_FI_DEV_DEC_UTIL_RATIO",
    }
)
"""Name of a default series up to 4.8 to its name since 4.9."""

DEFAULT: frozenset[str] = metrics.DEFAULT
"""What the exporter's own file exports up to 4.8, and so the GPU Operator."""

CHART_DEFAULT: frozenset[str] = DEFAULT - {metrics.FB_RESERVED.field}
"""What the chart's own list exports up to 4.8: it lacks one row of the exporter's file."""

DEFAULT_SINCE_4_9: frozenset[str] = frozenset(RENAMED.get(name, name) for name in DEFAULT) | {CAPACITY}

OWN_COUNTERS: frozenset[str] = frozenset(
    {
        metrics.XID_ERRORS_COUNT.field,
        metrics.CLOCK_EVENTS_COUNT.field,
        "DCGM_EXP_XID_ERRORS_TOTAL",
        "DCGM_EXP_GPU_HEALTH_STATUS",
        "DCGM_EXP_P2P_STATUS",
    }
)
"""What the exporter counts by itself, where a list asks for it; ``..._TOTAL`` since 4.8.3."""

XIDS: frozenset[str] = frozenset(
    {
        metrics.XID_ERRORS.field,
        metrics.XID_ERRORS.renamed or "",
        metrics.XID_ERRORS_COUNT.field,
        "DCGM_EXP_XID_ERRORS_TOTAL",
    }
)
"""The series that tell of XIDs."""

LAST_XID: frozenset[str] = frozenset({metrics.XID_ERRORS.field, metrics.XID_ERRORS.renamed or ""})
"""The gauge of the last XID. There is no such series before the first; then it stays until the exporter restarts; each
code is a series of its own."""

XID_CODE_LABELS: frozenset[str] = frozenset({"err_code", "xid", "err_msg"})

RATES: frozenset[str] = frozenset({metrics.PCIE_TX_BYTES.field, metrics.PCIE_RX_BYTES.field})
"""Gauges in bytes a second already."""

ABSENT_UNDER_MIG: frozenset[str] = frozenset({metrics.GPU_UTIL.field, metrics.GPU_UTIL.renamed or ""})
"""Reported of whole GPUs only."""

REPEATED_UNDER_MIG: frozenset[str] = frozenset({metrics.POWER_USAGE.field, metrics.POWER_USAGE.renamed or ""})
"""The GPU's own figure, once for each of its instances."""

COUNTER_TYPES: frozenset[str] = frozenset({"gauge", "counter", "histogram", "summary", "label"})

OPERATOR_LIST_KEY = "dcgm-metrics.csv"
"""The key of a ConfigMap under which the GPU Operator looks for a list."""

LIST_VARIABLE = "DCGM_EXPORTER_COLLECTORS"
LIST_MAP_VARIABLE = "DCGM_EXPORTER_CONFIGMAP_DATA"
LIST_FLAGS: tuple[str, ...] = ("-f", "--collectors")
LIST_MAP_FLAGS: tuple[str, ...] = ("-m", "--configmap-data")
LISTS_IN_IMAGE: frozenset[str] = frozenset(
    {"/etc/dcgm-exporter/default-counters.csv", "/etc/dcgm-exporter/dcp-metrics-included.csv"}
)
"""The files that the image brings; their rows of series are the same."""

FIELD = re.compile(r"DCGM_(?:FI|EXP)_[A-Z0-9_]+")
"""The name of a field or of a counter of the exporter's own."""

OPERATORS_EXPORTER: tuple[int, ...] = (4, 8, 3)
"""The version that the GPU Operator v26.7.0 brings."""
OLDER_OPERATORS_EXPORTER: tuple[int, ...] = (4, 8, 2)
"""At most what its predecessors bring: 4.8.3 (2026-07-15) is younger than 26.3.3."""
