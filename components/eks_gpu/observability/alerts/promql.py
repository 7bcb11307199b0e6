"""The few phrases of PromQL that the rules repeat."""

from __future__ import annotations

from collections.abc import Iterable

from eks_gpu.facts import dcgm_exporter
from eks_gpu.facts.metrics import Metric

GPU = ", ".join(dcgm_exporter.GPU_LABELS)
"""The label list of one physical GPU, for ``by`` and ``on``."""

HOLDER = f"{dcgm_exporter.NAMESPACE}, {dcgm_exporter.POD}, {dcgm_exporter.CONTAINER}"
"""The label list of whoever uses the GPU."""


def either(metric: Metric, matchers: str = "") -> str:
    """Return the metric under the name it has, whatever the exporter's version, in the metric's own unit.

    ``matchers`` goes between the braces of a selector: ``xid!=""``.
    """
    selector = f"{{{matchers}}}" if matchers else ""
    if metric.renamed is None:
        return f"{metric.field}{selector}"
    scale = "" if metric.renamed_scale == 1 else f" * {metric.renamed_scale!r}"
    return f"({metric.field}{selector} or {metric.renamed}{selector}{scale})"


def one_of(values: Iterable[object]) -> str:
    """Return a regular expression that matches exactly the values. Matchers are anchored by Prometheus itself."""
    return "|".join(str(value) for value in values)


def has(label: str) -> str:
    """Return the matcher of series that carry the label at all."""
    return f'{label}!=""'


def minutes(count: int) -> str:
    """Return a duration."""
    return f"{count}m"
