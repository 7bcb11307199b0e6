"""The alerting and recording rules of a stack, wherever they are written.

In PrometheusRules, in ConfigMaps and rule groups of Amazon Managed Prometheus as text, and in the values of charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.reading import NotKnown, NotKnownError, View
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import once
from eks_gpu_policies.stack import Stack

_PROMETHEUS_RULES: Final = (tokens.PROMETHEUS_RULE, tokens.custom("operator.victoriametrics.com/v1beta1:VMRule"))
"""Kinds that hold groups of rules; the second is what the operator of VictoriaMetrics makes of the first."""
_NAMES_RULES: Final = re.compile(r"(?:rules|alerts)(?:map)?(?:\.ya?ml)?$", re.IGNORECASE)
"""Keys of texts and values that hold rules: ``additionalPrometheusRulesMap``, ``gpu-alerts.yaml``."""
_MENTIONS: Final = ("groups:", '"groups"')
"""What a text with rules has in it; only such is read as YAML, which takes its time."""
_DEPTH: Final = 12


@dataclass(frozen=True, slots=True)
class Alerts:
    """The rules of a stack, and what could not be read of them."""

    rules: RuleSet
    unclear: tuple[NotKnown, ...]


@once
def alerts_of(stack: Stack) -> Alerts:
    """Return the rules of a stack."""
    reader = _Reader()
    for place in _sources(stack):
        reader.read(place)
    return Alerts(RuleSet(reader.rules), tuple(dict.fromkeys(reader.unclear)))


def _sources(stack: Stack) -> Iterator[View]:
    """Yield every place that may hold rules."""
    for resource in stack.of_type(*_PROMETHEUS_RULES):
        yield resource.view["spec"]
    for resource in stack.of_type(tokens.CONFIG_MAP):
        yield resource.view["data"]
    for resource in stack.of_type(tokens.RULE_GROUPS):
        yield resource.view["data"]
    for resource in stack.of_type(*sorted(tokens.HELM)):
        yield charts.values(resource)


class _Reader:
    """Looks for groups of rules in whatever it is given."""

    def __init__(self) -> None:
        self.rules: list[PrometheusRule] = []
        self.unclear: list[NotKnown] = []

    def read(self, place: View, depth: int = 0) -> None:
        """Read the groups of rules at ``place`` or below."""
        match place.data:
            case str() as text if any(mention in text for mention in _MENTIONS):
                self._text(place, text)
            case Mapping():
                self._mapping(place, depth)
            case list() | tuple() if depth < _DEPTH:
                for item in place.items():
                    self.read(item, depth + 1)
            case _ if place.data is UNKNOWN and (depth == 0 or _NAMES_RULES.search(place.path)):
                self.unclear.append(place.not_known())
            case _:
                pass

    def _mapping(self, place: View, depth: int) -> None:
        groups = place["groups"]
        if isinstance(groups.data, list | tuple):
            for group in groups.items():
                self._group(group)
        elif groups.data is UNKNOWN:
            self.unclear.append(groups.not_known())
        elif depth < _DEPTH:
            for _key, child in place.entries():
                self.read(child, depth + 1)

    def _text(self, place: View, text: str) -> None:
        content = _yaml(text)
        if isinstance(content, Mapping):
            self._mapping(View(content, place.source, place.path), _DEPTH)

    def _group(self, group: View) -> None:
        rules = group["rules"] if isinstance(group.data, Mapping) else group
        if rules.data is UNKNOWN:
            self.unclear.append(rules.not_known())
            return
        for rule in rules.items():
            try:
                self._rule(rule)
            except NotKnownError as error:
                self.unclear.append(error.what)

    def _rule(self, rule: View) -> None:
        alert, record = rule["alert"].text(), rule["record"].text()
        name, query = alert or record, rule["expr"].text()
        if name is None or query is None:
            return
        annotations = rule["annotations"]
        texts = {} if annotations.data is UNKNOWN else annotations.text_map()
        self.rules.append(PrometheusRule(rule.source, rule.path, name, alert is not None, query, texts))


@lru_cache(maxsize=64)
def _yaml(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    """Return what a text of YAML says; None when it is none, as a template may be."""
    import yaml  # noqa: PLC0415 - only stacks with rules as text pay for it

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except yaml.YAMLError:
        return None
