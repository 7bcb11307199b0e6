"""Labels of nodes that alerts read, and those that kube-state-metrics shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import kubernetes_metrics
from eks_gpu.facts import monitoring_charts as facts
from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.monitoring.promql.tree import Matcher, Selector
from eks_gpu.planning.reading import View
from eks_gpu_policies import charts
from eks_gpu_policies.questions.monitoring import prometheuses
from eks_gpu_policies.stack import Stack

_EVERY: Final = "*"
_OF_NODES: Final = re.compile(rf"{facts.NODES_LABELS}=\[([^\]]*)\]")
_PREFIX: Final = kubernetes_metrics.label_name("")


def unseen_labels(rules: RuleSet, stack: Stack) -> Iterator[tuple[str, str, PrometheusRule]]:
    """Yield resource, label and rule where a rule asks ``kube_node_labels`` for a label that is not shown.

    Only a kube-state-metrics that a chart of the stack brings is known.
    """
    shown = _shown(stack)
    if shown is None:
        return
    seen: set[tuple[str, str]] = set()
    for rule in rules.rules:
        if rule.tree is None:
            continue
        for selector in rules.series(rule.tree) if rule.alerts else ():
            for label in _asked(selector):
                if label not in shown and (rule.urn, label) not in seen:
                    seen.add((rule.urn, label))
                    yield rule.urn, label, rule


def _asked(selector: Selector) -> Iterator[str]:
    if selector.name != kubernetes_metrics.NODE_LABELS:
        return
    for matcher in selector.matchers:
        if matcher.label.startswith(_PREFIX) and _demands(matcher):
            yield matcher.label


def _demands(matcher: Matcher) -> bool:
    """Return whether a series without the label does not match."""
    match matcher.operator:
        case "=":
            return matcher.value != ""
        case "!=":
            return matcher.value == ""
        case "=~":
            return not _matches_nothing(matcher.value)
        case _:
            return _matches_nothing(matcher.value)


def _matches_nothing(pattern: str) -> bool:
    try:
        return re.fullmatch(pattern, "") is not None
    except re.error:
        return True


def _shown(stack: Stack) -> frozenset[str] | None:
    """Return the labels that are shown, as Prometheus spells them; None where all are, or nobody here decides."""
    for item in prometheuses(stack):
        if item.chart != facts.OPERATOR_STACK:
            continue
        values = charts.values(item.resource)
        part = values[facts.STATE_METRICS]
        if values.at("kubeStateMetrics", "enabled").boolean() is False:
            return None
        keys = frozenset(_keys(part))
        return None if _EVERY in keys else frozenset(kubernetes_metrics.label_name(key) for key in keys)
    return None


def _keys(part: View) -> Iterator[str]:
    for text in (*part["metricLabelsAllowlist"].texts(), *part["extraArgs"].texts()):
        for found in _OF_NODES.finditer(text):
            yield from (key.strip() for key in found.group(1).split(","))
