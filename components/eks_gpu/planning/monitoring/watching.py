"""What alerts notice, told by what their queries read and not by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from eks_gpu.facts import exported_series, kubernetes_metrics
from eks_gpu.facts.monitoring_charts import DAEMON_SET_PREFIX
from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.monitoring.promql.tree import ABSENT, Aggregation, Binary, Call, Node, Selector

_GPU_COUNTS: Final = frozenset({kubernetes_metrics.NODE_ALLOCATABLE, kubernetes_metrics.NODE_CAPACITY})
_MEANS_GPUS: Final = re.compile(r"nvidia|gpu|dcgm", re.IGNORECASE)
_LESS: Final = frozenset({"<", "<="})
_MORE: Final = frozenset({">", ">="})
_OTHER: Final = frozenset({"==", "!="})
_BETWEEN: Final = frozenset({"-", "unless"})
"""Operators that tell of fewer GPUs only where both sides count them."""
_CHANGES: Final = frozenset({"changes", "delta", "idelta", "deriv", "resets"})


class Noticed(StrEnum):
    """What must be noticed of GPUs that somebody depends on."""

    XID = "an XID error"
    LOST = "a GPU that is lost"
    BLIND = "an exporter that is gone"


def noticed(rules: RuleSet) -> frozenset[Noticed]:
    """Return what the alerts of a stack notice."""
    return frozenset().union(*(_noticed_by(rule, rules) for rule in rules.distinct_alerts))


def _noticed_by(rule: PrometheusRule, rules: RuleSet) -> frozenset[Noticed]:
    tree = rule.tree
    if tree is None:
        return frozenset()
    parts = tuple(rules.parts(tree))
    found = {
        Noticed.XID: any(isinstance(part, Selector) and part.name in exported_series.XIDS for part in parts),
        Noticed.LOST: any(_tells_of_fewer(part, rules) for part in parts),
        Noticed.BLIND: any(_tells_of_silence(part, rules) for part in parts),
    }
    return frozenset(what for what, seen in found.items() if seen)


def is_gpu_series(name: str) -> bool:
    """Return whether a series comes from a DCGM exporter, rather than from a rule that records one."""
    return exported_series.FIELD.fullmatch(name) is not None


def _tells_of_fewer(part: Node, rules: RuleSet) -> bool:
    """Return whether a part compares how many GPUs there are with a number, or with how many there were."""
    match part:
        case Binary(operator=operator, left=left, right=right) if operator in _LESS:
            return _counts(left, rules)
        case Binary(operator=operator, left=left, right=right) if operator in _MORE:
            return _counts(right, rules)
        case Binary(operator=operator, left=left, right=right) if operator in _OTHER:
            return _counts(left, rules) or _counts(right, rules)
        case Binary(operator=operator, left=left, right=right) if operator in _BETWEEN:
            return (_counts(left, rules) and _counts(right, rules)) or _vanished(part, rules)
        case Call(function=function, arguments=arguments) if function in _CHANGES:
            return any(_counts(argument, rules) for argument in arguments)
        case _:
            return False


def _counts(node: Node, rules: RuleSet) -> bool:
    """Return whether the value of a part is a number of GPUs."""
    for part in rules.parts(node):
        if isinstance(part, Selector) and part.name in _GPU_COUNTS:
            return _of_gpus(part)
        if isinstance(part, Aggregation) and part.operator == "count":
            return any(is_gpu_series(inner.name) for inner in rules.series(part))
    return False


def _of_gpus(selector: Selector) -> bool:
    named = [matcher.value for matcher in selector.matchers if matcher.label == "resource"]
    return not named or any(_MEANS_GPUS.search(value) for value in named)


def _vanished(part: Binary, rules: RuleSet) -> bool:
    """Return whether a part finds series of GPUs that were there and are not any more."""
    if part.operator != "unless":
        return False
    before = {inner.name for inner in rules.series(part.left) if inner.shifted and is_gpu_series(inner.name)}
    return bool(before & {inner.name for inner in rules.series(part.right)})


def _tells_of_silence(part: Node, rules: RuleSet) -> bool:
    match part:
        case Call(function=function, arguments=arguments) if function in ABSENT:
            return any(_is_of_exporter(inner) for argument in arguments for inner in rules.series(argument))
        case Selector():
            return not is_gpu_series(part.name) and _is_of_exporter(part)
        case Binary(operator="unless", left=left, right=right):
            return _counts(left, rules) and any(_is_of_exporter(inner) for inner in rules.series(right))
        case _:
            return False


def _is_of_exporter(selector: Selector) -> bool:
    """Return whether a series is there as long as an exporter is; that of the last XID is not."""
    if is_gpu_series(selector.name):
        return selector.name not in exported_series.LAST_XID
    about_targets = selector.name == kubernetes_metrics.UP or selector.name.startswith(DAEMON_SET_PREFIX)
    return about_targets and _mentions_gpus(matcher.value for matcher in selector.matchers)


def _mentions_gpus(values: Iterable[str]) -> bool:
    return any(_MEANS_GPUS.search(value) for value in values)
