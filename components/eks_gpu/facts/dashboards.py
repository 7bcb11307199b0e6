"""Dashboards and what is behind them: how their charts expose them, and the passwords that everybody knows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK

SOURCE = (
    "prometheus-community/helm-charts: kube-prometheus-stack values.yaml and UPGRADE.md ('From 78.x to 79.x': no "
    "default password any more), prometheus values.yaml; grafana/helm-charts: grafana values.yaml"
)
CHECKED = "2026-11-21"

NAMES: frozenset[str] = frozenset({"grafana", "prometheus", "alertmanager"})
"""What people and charts call their pods and services."""

SERVICES: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        KUBE_PROMETHEUS_STACK.name: (
            ("grafana", "service"),
            ("prometheus", "service"),
            ("alertmanager", "service"),
        ),
        "prometheus": (("server", "service"), ("alertmanager", "service")),
        "grafana": (("service",),),
        "alertmanager": (("service",),),
    }
)
"""Charts to where in their values the Services are: type, annotations, loadBalancerSourceRanges, loadBalancerClass."""

GRAFANAS: Mapping[str, tuple[str, ...]] = MappingProxyType({KUBE_PROMETHEUS_STACK.name: ("grafana",), "grafana": ()})
"""Charts with Grafana to where in their values its settings are."""

KNOWN_PASSWORDS: frozenset[str] = frozenset(
    {"admin", "prom-operator", "password", "grafana", "changeme", "strongpassword", "prometheus"}
)
"""Administrators' passwords of charts, of Grafana itself and of much-copied examples."""

FIRST_WITHOUT_KNOWN_PASSWORD: Mapping[str, tuple[int, ...]] = MappingProxyType({KUBE_PROMETHEUS_STACK.name: (79,)})
"""Charts that gave Grafana a password everybody knows where none was set, to the first version that does not."""
