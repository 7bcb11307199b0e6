"""OBS002: alerts read what is exported.

One operand of ``or`` suffices, so that an alert may know a series by its names before and since exporter 4.9. Series
that other rules of the stack record are followed to what they are made from. What exporters outside of the stack export
is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from eks_gpu.facts import exported_series, metrics
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.monitoring.watching import is_gpu_series
from eks_gpu.planning.reading import NotKnown
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.questions.alerts import alerts_of
from eks_gpu_policies.questions.exporters import Exporter, exporters
from eks_gpu_policies.questions.node_labels import unseen_labels
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack, Whole

_BY_NAME: Final = {metric.field: metric for metric in metrics.METRICS}
_NAMED: Final = 3
"""How many of those that read a series a finding names."""
_OLD_NAMES: Final = {new: old for old, new in exported_series.RENAMED.items()}


def _concerned(_whole: Whole, stack: Stack) -> bool:
    found = alerts_of(stack)
    if found.rules.rules or found.unclear:
        return True
    return any(item.own_list is not None for item in exporters(stack))


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    found = alerts_of(stack)
    yield from clauses(
        (undecided(what) for what in found.unclear),
        _lists(stack),
        _series(found.rules, stack),
        _labels(found.rules, stack),
    )


def _lists(stack: Stack) -> Iterator[Outcome]:
    """Judge the lists that exporters are given: the exporter does not start with a mistake in one."""
    for item in exporters(stack):
        if item.own_list is None or isinstance(item.own_list, NotKnown):
            continue
        for mistake in item.own_list.mistakes:
            yield Problem(
                f"gives its exporter a list that ends it: {mistake}",
                urn=item.urn,
                fix="write each row as field, type, help, with neither comma nor quote in the help",
            )


def _series(rules: RuleSet, stack: Stack) -> Iterator[Outcome]:
    running = tuple(item for item in exporters(stack) if item.enabled is not False)
    exists = cache(lambda series: not is_gpu_series(series) or any(item.exports(series) is True for item in running))
    missing: dict[str, frozenset[str]] = {}
    readers: dict[tuple[str, str], list[PrometheusRule]] = {}
    for rule in _judged(rules):
        if rule.tree is None:
            yield Undecided(rule.path, f"the query of {rule} could not be read")
            continue
        if rule.query not in missing:
            missing[rule.query] = rules.missing(rule.tree, exists)
        for name in missing[rule.query]:
            readers.setdefault((rule.urn, name), []).append(rule)
    if readers and not running:
        yield Undecided("expr", "which series are exported, because no exporter is in the stack")
        return
    for (urn, name), found in sorted(readers.items()):
        if any(item.exports(name) is None for item in running):
            yield Undecided("expr", f"whether {name} is exported")
        else:
            always = any(rule.tree is not None and rules.fires_without(rule.tree, name) for rule in found)
            yield _unexported(urn, name, found, running, "it always fires" if always else "it never fires")


def _judged(rules: RuleSet) -> Iterator[PrometheusRule]:
    """Yield the alerts, and the recording rules that no alert reads: those are judged through the alerts."""
    trees = [rule.tree for rule in rules.distinct_alerts]
    read = {part.name for tree in trees if tree is not None for part in rules.series(tree)}
    return (rule for rule in rules.rules if rule.alerts or rule.name not in read)


def _exists(series: str, running: tuple[Exporter, ...]) -> bool:
    return any(item.exports(series) is True for item in running)


def _unexported(
    urn: str, name: str, found: list[PrometheusRule], running: tuple[Exporter, ...], effect: str
) -> Problem:
    named = found[:_NAMED]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    who = ", ".join(str(rule) for rule in named) + more
    verb = "reads" if len(found) == 1 else "read"
    other = exported_series.RENAMED.get(name) or _OLD_NAMES.get(name)
    if other is not None and _exists(other, running):
        hint = f"read {other}, as this exporter calls it, or both: {name} or {other} (their units may differ)"
    else:
        known = _BY_NAME.get(name)
        hint = f"add a row to the exporter's list: {known.row() if known else f'{name}, gauge, what it says'}"
    return Problem(f"{who} {verb} {name}, which {running[0].name} does not export: {effect}", urn=urn, fix=hint)


def _labels(rules: RuleSet, stack: Stack) -> Iterator[Outcome]:
    """Judge labels of nodes that kube-state-metrics shows only when it is told to."""
    for urn, label, rule in unseen_labels(rules, stack):
        yield Problem(
            f"{rule} reads {label} of kube_node_labels, which kube-state-metrics is not told to show",
            urn=urn,
            fix="add the node's label to metricLabelsAllowlist of kube-state-metrics: nodes=[...]",
        )


def _alert(query: str) -> Resource:
    spec = {"groups": [{"name": "gpu", "rules": [{"alert": "GpuMemoryFull", "expr": query}]}]}
    return examples.resource(tokens.PROMETHEUS_RULE, "gpu-alerts", {"metadata": {"name": "gpu-alerts"}, "spec": spec})


_OPERATOR: Final = examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version)
_USED, _FREE = metrics.FB_USED, metrics.FB_FREE

RULE: Final = Rule(
    id="OBS002",
    title="Alerts read what is exported",
    severity=Severity.HIGH,
    why=(
        "An alert on a series that nobody exports never fires and looks exactly like an alert with nothing to say. The "
        "exporter's default list is short, version 4.9 renamed nearly all of it, and one bad row in a list of your own "
        "ends the exporter."
    ),
    fix="alert on what the exporter exports, from one list for exporter and alerts, as GpuMonitoring does",
    lessons=("M07",),
    looks_at=Subjects[Whole](
        "rules for Prometheus and lists of its exporters",
        frozenset({tokens.PROMETHEUS_RULE, tokens.CONFIG_MAP, tokens.RULE_GROUPS}) | tokens.HELM,
        lambda stack: (stack.whole,),
        _concerned,
    ),
    check=_check,
    failing=Example((_OPERATOR, _alert(f"{_USED} / {exported_series.TOTAL_MEMORY} > 0.95"))),
    passing=Example((_OPERATOR, _alert(f"{_USED} / ({_USED} + {_FREE}) > 0.95"))),
)
