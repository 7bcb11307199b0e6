"""Alerting and recording rules of Prometheus: what they read, through the series that other rules record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from eks_gpu.planning.monitoring.promql.tree import ABSENT, Binary, Call, Node, Selector, children, walk


@dataclass(frozen=True, slots=True)
class PrometheusRule:
    """One rule: an alert, or a series that is recorded."""

    urn: str
    """The resource it is read from."""
    path: str
    """Where it stands there."""
    name: str
    """Of the alert, or of the recorded series."""
    alerts: bool
    query: str
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def tree(self) -> Node | None:
        """The parts of its query; None when it cannot be read."""
        from eks_gpu.planning.monitoring.promql.parser import PromqlError, parse  # noqa: PLC0415 - only stacks with rules pay for it

        try:
            return parse(self.query)
        except PromqlError:
            return None

    def __str__(self) -> str:
        """Return what people call it."""
        return f"{'alert' if self.alerts else 'recording rule'} {self.name}"


class RuleSet:
    """The rules of a stack together."""

    def __init__(self, rules: Iterable[PrometheusRule]) -> None:
        """Hold ``rules``."""
        self.rules = tuple(rules)

    @property
    def alerts(self) -> tuple[PrometheusRule, ...]:
        """Those that alert."""
        return tuple(rule for rule in self.rules if rule.alerts)

    @cached_property
    def recorded(self) -> Mapping[str, tuple[Node, ...]]:
        """What each recorded series is made from; several rules may record one name with different labels."""
        found: dict[str, dict[str, Node]] = {}
        for rule in self.rules:
            if not rule.alerts and rule.tree is not None:
                found.setdefault(rule.name, {})[rule.query] = rule.tree
        return {name: tuple(trees.values()) for name, trees in found.items()}

    @cached_property
    def distinct_alerts(self) -> tuple[PrometheusRule, ...]:
        """One of each lot of alerts with the same query."""
        return tuple({rule.query: rule for rule in self.alerts}.values())

    def parts(self, node: Node) -> Iterator[Node]:
        """Yield every part of a query and of what its series are recorded from; each recorded series once."""
        seen: set[str] = set()
        pending = [node]
        while pending:
            for part in walk(pending.pop()):
                yield part
                if isinstance(part, Selector) and part.name in self.recorded and part.name not in seen:
                    seen.add(part.name)
                    pending.extend(self.recorded[part.name])

    def series(self, node: Node) -> Iterator[Selector]:
        """Yield the selectors of a query and of what its series are recorded from."""
        return (part for part in self.parts(node) if isinstance(part, Selector))

    def fires_without(self, node: Node, name: str) -> bool:
        """Return whether a query returns something for the very reason that a series is missing.

        It asks for the series' absence, or takes it away from others (``unless``).
        """
        places = (place for part in self.parts(node) for place in _where_nothing_counts(part))
        return any(inner.name == name for place in places for inner in self.series(place))

    def missing(self, node: Node, exists: Callable[[str], bool]) -> frozenset[str]:
        """Return the series without which a query returns nothing, as far as ``exists`` denies them.

        Of two operands of ``or`` one is enough, and of several rules that record one series as well.
        """
        return self._missing(node, exists, frozenset())

    def _missing(self, node: Node, exists: Callable[[str], bool], within: frozenset[str]) -> frozenset[str]:
        if isinstance(node, Selector):
            if node.name in self.recorded:
                if node.name in within:
                    return frozenset()
                inner = within | {node.name}
                return _one_is_enough(self._missing(tree, exists, inner) for tree in self.recorded[node.name])
            return frozenset() if exists(node.name) else frozenset({node.name})
        parts = [self._missing(part, exists, within) for part in children(node)]
        if isinstance(node, Binary) and node.operator == "or":
            return _one_is_enough(parts)
        return frozenset().union(*parts)


def _where_nothing_counts(part: Node) -> tuple[Node, ...]:
    """Return what must be missing for a part to return something."""
    match part:
        case Call(function=function, arguments=arguments) if function in ABSENT:
            return arguments
        case Binary(operator="unless", right=right):
            return (right,)
        case _:
            return ()


def _one_is_enough(missing: Iterable[frozenset[str]]) -> frozenset[str]:
    alternatives = list(missing)
    return frozenset().union(*alternatives) if all(alternatives) else frozenset()
