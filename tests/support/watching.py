"""Exporters, Prometheus and alerts as plain resources, for the tests of rules on monitoring."""

from __future__ import annotations

from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR, KUBE_PROMETHEUS_STACK
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource

POOL = examples.node_pool()
CLUSTER = examples.resource("aws:eks/cluster:Cluster", "ml", {"version": "1.35"})
COMPLETE = (
    'max_over_time(DCGM_EXP_XID_ERRORS_COUNT{xid=~"48|79"}[10m]) > 0 or DCGM_FI_DEV_XID_ERRORS{err_code="79"} > 0',
    'kube_node_status_allocatable{resource="nvidia_com_gpu"} < 8',
    'absent(up{job=~".*dcgm-exporter"} == 1)',
)
"""Queries of alerts that notice everything."""


def operator(version: str | None = GPU_OPERATOR.version, **exporter: object) -> Resource:
    """Return the GPU Operator, with values of its DCGM exporter."""
    values = {"dcgmExporter": exporter} if exporter else {}
    return examples.release("gpu-operator", GPU_OPERATOR.name, version, values=values)


def exporter(version: str | None = DCGM_EXPORTER.version, **values: object) -> Resource:
    """Return NVIDIA's chart of the exporter."""
    return examples.release("dcgm", DCGM_EXPORTER.name, version, values=values)


def prometheus(**values: object) -> Resource:
    """Return kube-prometheus-stack as the release ``monitoring``."""
    return examples.release("monitoring", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version, values=values)


def groups(*queries: str, **texts: str) -> list[dict[str, object]]:
    """Return a group of alerts; the first of them has annotations."""
    rules: list[dict[str, object]] = [{"alert": f"Alert{n}", "expr": query} for n, query in enumerate(queries)]
    if texts:
        rules[0]["annotations"] = texts
    return [{"name": "gpu", "rules": rules}]


def recorded(series: str, query: str) -> list[dict[str, object]]:
    """Return a group with one recording rule."""
    return [{"name": "recorded", "rules": [{"record": series, "expr": query}]}]


def alerts(*queries: str, name: str = "alerts", **texts: str) -> Resource:
    """Return a PrometheusRule."""
    return rule_file(groups(*queries, **texts), name)


def rule_file(found: list[dict[str, object]], name: str = "alerts") -> Resource:
    """Return a PrometheusRule of these groups."""
    return examples.resource(tokens.PROMETHEUS_RULE, name, {"metadata": {"name": name}, "spec": {"groups": found}})


def config_map(name: str, **data: str) -> Resource:
    """Return a ConfigMap; two underscores in a key stand for a dot."""
    content = {key.replace("__", "."): value for key, value in data.items()}
    return examples.resource(tokens.CONFIG_MAP, name, {"metadata": {"name": name}, "data": content})
