"""OBS003: no expression known to lie.

Each of these looks right, is in many published alert sets, and never fires or always does. An alert on the last XID may
ask for codes by ``err_code``, or compare the value with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import exported_series as facts
from eks_gpu.facts import labels, metrics, mig
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.monitoring.misleading import lies, names
from eks_gpu.planning.monitoring.watching import is_gpu_series
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.questions.alerts import alerts_of
from eks_gpu_policies.questions.exporters import exporters
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import (
    EVERYWHERE,
    Example,
    Outcome,
    Problem,
    Rule,
    Severity,
    Subjects,
    Undecided,
    clauses,
    undecided,
)
from eks_gpu_policies.stack import Stack, Whole

_HOST_LABEL: Final = re.compile(rf"\$labels\.{facts.HOST_LABEL_BEFORE}\b")


def _concerned(_whole: Whole, stack: Stack) -> bool:
    found = alerts_of(stack)
    return bool(found.rules.rules or found.unclear)


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    found = alerts_of(stack)
    partitioned = any(attempt(_is_partitioned, pool) is True for pool in stack.gpu_pools)
    yield from (undecided(what) for what in found.unclear)
    for rule in found.rules.rules:
        told = lies(rule.query, alerts=rule.alerts, partitioned=partitioned)
        problems = (Problem(f"{rule} {lie.what}", urn=rule.urn, fix=lie.cure) for lie in told)
        yield from clauses(problems, _capacity(rule, found.rules, stack), _host_label(rule, stack))


def _is_partitioned(pool: Pool) -> bool:
    return need(pool.labels).get(labels.MIG_CONFIG, mig.ALL_DISABLED) != mig.ALL_DISABLED


def _capacity(rule: PrometheusRule, found: RuleSet, stack: Stack) -> Iterator[Outcome]:
    """Judge the one series that nearly everybody reads and nobody exports by default."""
    if facts.TOTAL_MEMORY not in rule.query or rule.tree is None or facts.TOTAL_MEMORY not in names(rule.tree):
        return
    running = tuple(item for item in exporters(stack) if item.enabled is not False)
    answers = {item.exports(facts.TOTAL_MEMORY) for item in running}
    if True in answers:
        return
    if not answers or None in answers:
        yield Undecided(rule.path, f"whether {facts.TOTAL_MEMORY} is exported; no default list has it")
        return
    always = found.fires_without(rule.tree, facts.TOTAL_MEMORY)
    yield Problem(
        f"{rule} reads {facts.TOTAL_MEMORY}, which is in no default list: it {'always' if always else 'never'} fires",
        urn=rule.urn,
        fix=f"add it up: {metrics.FB_USED} + {metrics.FB_FREE} + {metrics.FB_RESERVED}; or add a row for it",
    )


def _host_label(rule: PrometheusRule, stack: Stack) -> Iterator[Outcome]:
    if not any(_HOST_LABEL.search(text) for text in rule.annotations.values()):
        return
    if rule.tree is None or facts.HOST_LABEL_BEFORE in rule.query or not any(map(is_gpu_series, names(rule.tree))):
        return
    if any(item.says_hostname for item in exporters(stack)):
        yield Problem(
            f"{rule} says $labels.{facts.HOST_LABEL_BEFORE}, which exporters since 4.8.3 call {facts.HOST_LABEL}: its "
            "text names no node",
            urn=rule.urn,
            fix=f"say $labels.{facts.HOST_LABEL}, or let the scrape set a label of its own for the node",
        )


def _alert(query: str) -> Resource:
    spec = {"groups": [{"name": "gpu", "rules": [{"alert": "GpuXid", "expr": query}]}]}
    return examples.resource(tokens.PROMETHEUS_RULE, "gpu-alerts", {"metadata": {"name": "gpu-alerts"}, "spec": spec})


_OPERATOR: Final = examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version)

RULE: Final = Rule(
    id="OBS003",
    title="No expression known to lie",
    severity=Severity.HIGH,
    why=(
        "The XID gauge keeps its last value and has a series for each code, so that increase() of it is always zero "
        "and a comparison with zero is true for ever after the first program's error. Both are in most published alert "
        "sets, and hardware errors have gone unseen for a week behind them."
    ),
    fix="write the query as the finding says; GpuMonitoring's alerts are tested against such cases",
    lessons=("M01", "M05", "M07"),
    levels=EVERYWHERE,
    looks_at=Subjects[Whole](
        "rules for Prometheus",
        frozenset({tokens.PROMETHEUS_RULE, tokens.CONFIG_MAP, tokens.RULE_GROUPS}) | tokens.HELM,
        lambda stack: (stack.whole,),
        _concerned,
    ),
    check=_check,
    failing=Example((_OPERATOR, _alert(f"increase({metrics.XID_ERRORS}[5m]) > 0"))),
    passing=Example((_OPERATOR, _alert(f'{metrics.XID_ERRORS}{{err_code=~"48|79|95"}} > 0'))),
)
