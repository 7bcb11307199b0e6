"""Recording rules: the series that alerts read instead of the exporter's own.

They make alerts stable: one series for each physical GPU, whoever holds it and however many MIG instances it has, under
one name, whatever the exporter's version calls it.
"""

from __future__ import annotations

from collections.abc import Iterable

from eks_gpu.facts import dcgm_exporter, kubernetes_metrics, labels, metrics, resources
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.observability.alerts.alert import RecordingRule
from eks_gpu.observability.alerts.promql import GPU, HOLDER, either, has

TEMPERATURE = "gpu:temperature:celsius"
DEVICES = "gpu_node:devices:count"
UTILISATION = "gpu:utilisation:ratio"
HOLDERS = "gpu:holder:info"
MEMORY_USED = "gpu:memory_used:ratio"
SINGLE_BIT_ERRORS = "gpu:ecc_single_bit_errors:total"
DOUBLE_BIT_ERRORS = "gpu:ecc_double_bit_errors:total"
ROW_REMAP_FAILED = "gpu:row_remap_failed:bool"
ROW_REMAP_PENDING = "gpu:row_remap_pending:bool"
XID_ERRORS = "gpu:xid_errors:count"
LAST_XID = "gpu:last_xid:info"
THROTTLING = "gpu:throttling_events:count"
ALLOCATABLE = "gpu_node:allocatable_gpus:count"
UNHEALTHY = "gpu_node:unhealthy_gpus:count"
TYPE_GPUS = "gpu_instance_type:gpus:count"
TYPE_PRICE = "gpu_instance_type:gpu_price:usd_per_hour"
EXPECTED_DEVICES = "gpu_node:expected_devices:count"
PRICE = "gpu:price:usd_per_hour"

INSTANCE_TYPE = "instance_type"
NODE_INSTANCE_TYPE = kubernetes_metrics.label_name(labels.INSTANCE_TYPE)
GPU_RESOURCES = (
    f"{kubernetes_metrics.sanitised(resources.GPU)}.*|{kubernetes_metrics.sanitised(resources.MIG_PREFIX)}.+"
)


def gpu_rules() -> tuple[RecordingRule, ...]:
    """Return the rules over the exporter's series."""
    return (
        RecordingRule(record=TEMPERATURE, expr=f"max by ({GPU}) {_grouped(either(metrics.GPU_TEMP))}"),
        RecordingRule(record=DEVICES, expr=f"count by ({dcgm_exporter.NODE}) ({TEMPERATURE})"),
        # The engine's activity first: it is there under MIG, where GPU_UTIL is missing. One busy instance makes the GPU
        # busy.
        RecordingRule(
            record=UTILISATION,
            expr=(
                f"max by ({GPU}) {_grouped(either(metrics.GR_ENGINE_ACTIVE))}\n"
                f"or max by ({GPU}) {_grouped(either(metrics.GPU_UTIL))} / 100"
            ),
        ),
        RecordingRule(
            record=HOLDERS,
            expr=f"group by ({GPU}, {HOLDER}) {_grouped(either(metrics.GPU_TEMP, has(dcgm_exporter.POD)))}",
        ),
        RecordingRule(record=MEMORY_USED, expr=_memory_used()),
        RecordingRule(record=SINGLE_BIT_ERRORS, expr=f"max by ({GPU}) {_grouped(either(metrics.ECC_SBE_AGGREGATE))}"),
        RecordingRule(record=DOUBLE_BIT_ERRORS, expr=f"max by ({GPU}) {_grouped(either(metrics.ECC_DBE_VOLATILE))}"),
        RecordingRule(record=ROW_REMAP_FAILED, expr=f"max by ({GPU}) {_grouped(either(metrics.ROW_REMAP_FAILURE))}"),
        RecordingRule(record=ROW_REMAP_PENDING, expr=f"max by ({GPU}) {_grouped(either(metrics.ROW_REMAP_PENDING))}"),
        # Without an XID in its window the exporter still reports the GPU, with 0 and no xid label.
        RecordingRule(
            record=XID_ERRORS,
            expr=(
                f"max by ({GPU}, {HOLDER}, {dcgm_exporter.XID}) "
                f"{_grouped(either(metrics.XID_ERRORS_COUNT, has(dcgm_exporter.XID)))}"
            ),
        ),
        RecordingRule(
            record=LAST_XID,
            expr=(
                f"group by ({GPU}, {dcgm_exporter.XID_OF_LAST_VALUE}) "
                f"({either(metrics.XID_ERRORS, has(dcgm_exporter.XID_OF_LAST_VALUE))} > 0)"
            ),
        ),
        RecordingRule(
            record=THROTTLING,
            expr=(
                f"max by ({GPU}, {dcgm_exporter.CLOCK_EVENT}) "
                f"{_grouped(either(metrics.CLOCK_EVENTS_COUNT, has(dcgm_exporter.CLOCK_EVENT)))}"
            ),
        ),
    )


def node_rules() -> tuple[RecordingRule, ...]:
    """Return the rules over kube-state-metrics, and those that join them with the GPUs."""
    gpus = f'resource=~"{GPU_RESOURCES}"'
    return (
        RecordingRule(
            record=ALLOCATABLE,
            expr=f"sum by ({dcgm_exporter.NODE}) ({kubernetes_metrics.NODE_ALLOCATABLE}{{{gpus}}})",
        ),
        # Capacity counts what the device plugin has registered, allocatable only what it calls healthy.
        RecordingRule(
            record=UNHEALTHY,
            expr=(
                f"sum by ({dcgm_exporter.NODE}) (\n"
                f"  max by ({dcgm_exporter.NODE}, resource) ({kubernetes_metrics.NODE_CAPACITY}{{{gpus}}})\n"
                f"  - max by ({dcgm_exporter.NODE}, resource) ({kubernetes_metrics.NODE_ALLOCATABLE}{{{gpus}}})\n"
                f")"
            ),
        ),
        RecordingRule(record=EXPECTED_DEVICES, expr=_by_instance_type(TYPE_GPUS)),
        # A GPU on a node of unknown type costs 0, so that the alert still fires and says that it knows no price.
        RecordingRule(
            record=PRICE,
            expr=(
                f"{TEMPERATURE} * 0 + on ({dcgm_exporter.NODE}) group_left () ({_by_instance_type(TYPE_PRICE)})\n"
                f"or {TEMPERATURE} * 0"
            ),
        ),
    )


def instance_type_rules(instance_types: Iterable[InstanceType] = CATALOGUE.values()) -> tuple[RecordingRule, ...]:
    """Return what the catalogue knows of each instance type, as series: its GPUs, and the price of one of them.

    On-demand list prices of us-east-1: an order of magnitude for decisions, not a bill.
    """
    rules = []
    for kind in instance_types:
        if not kind.gpu_count:
            continue
        named = {INSTANCE_TYPE: kind.name}
        rules.append(RecordingRule(record=TYPE_GPUS, expr=f"vector({kind.gpu_count})", labels=named))
        if kind.usd_per_hour is not None:
            price = round(kind.usd_per_hour / kind.gpu_count, 4)
            rules.append(RecordingRule(record=TYPE_PRICE, expr=f"vector({price})", labels=named))
    return tuple(rules)


def _by_instance_type(series: str) -> str:
    """Return the series of an instance type for each node of that type."""
    types = f'label_replace({kubernetes_metrics.NODE_LABELS}, "{INSTANCE_TYPE}", "$1", "{NODE_INSTANCE_TYPE}", "(.+)")'
    return (
        f"max by ({dcgm_exporter.NODE}) (\n"
        f"  max by ({dcgm_exporter.NODE}, {INSTANCE_TYPE}) ({types})\n"
        f"  * on ({INSTANCE_TYPE}) group_left () {series}\n"
        f")"
    )


def _memory_used() -> str:
    """Return used memory over all memory, which is in no default list and so added up. MIG instances stay apart."""
    by = f"max by ({GPU}, {dcgm_exporter.MIG_INSTANCE}, {HOLDER})"
    used = f"{by} {_grouped(either(metrics.FB_USED))}"
    free = f"{by} {_grouped(either(metrics.FB_FREE))}"
    reserved = f"{by} {_grouped(either(metrics.FB_RESERVED))}"
    return f"{used}\n/ (\n  {used}\n  + {free}\n  + ({reserved} or {used} * 0)\n)"


def _grouped(query: str) -> str:
    return query if query.startswith("(") else f"({query})"
