"""Karpenter as it is installed: its releases, the queue it hears interruptions by, and what it stands on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.interruptions import Event
from eks_gpu.facts.versions import KARPENTER
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program, once
from eks_gpu_policies.resource import Resource

_SOURCE: Final = "source"
_DETAIL_TYPE: Final = "detail-type"


def releases(program: Program) -> tuple[Resource, ...]:
    """Return the releases of Karpenter's chart."""
    return charts.releases(program, KARPENTER.name)


def unclear_releases(program: Program) -> tuple[NotKnown, ...]:
    """Return what is not known about releases of which nobody can tell what they install."""
    return charts.unclear(program)


def is_auto_mode(pool: View) -> bool:
    """Return whether a NodePool belongs to EKS Auto Mode, whose Karpenter AWS runs."""
    return pool.at("spec", "template", "spec", "nodeClassRef", "group").text() == labels.EKS_AUTO_DOMAIN


def queue_setting(release: Resource) -> View:
    """Return where a release's values name its queue: ``settings``, or ``settings.aws`` before 0.33."""
    settings = charts.values(release)["settings"]
    own = settings["interruptionQueue"]
    return own if own.exists else settings.at("aws", "interruptionQueueName")


def queue_of(release: Resource, program: Program) -> Resource:
    """Return the queue that a release listens to; raise ``NotKnownError`` when it is not in the stack."""
    place = queue_setting(release)
    name = attempt(place.text)
    named = _queues(program).get(name, ()) if isinstance(name, str) else ()
    found = named or [
        item for item in program.computed_from(release, "values", tokens.QUEUE) if item.view["name"].data != name
    ]
    if len(found) != 1:
        raise NotKnownError(place.not_known("the queue is not in the stack"))
    return found[0]


def patterns_to(queue: Resource, program: Program) -> Iterator[View | NotKnown]:
    """Yield the event pattern of every rule in force that targets a queue, parsed, or what is not known of it."""
    for target in _targets_of(queue, program):
        for rule in _rules_of(target, program):
            yield attempt(_pattern, rule)


def _targets_of(queue: Resource, program: Program) -> Iterator[Resource]:
    """Yield the targets that aim at a queue: by what their ARN was computed from, or by its name in it."""
    name = attempt(queue.view["name"].text)
    by_name = _targets(program).get(name, ()) if isinstance(name, str) else ()
    yield from {
        target.urn: target for target in (*program.users_of(queue, "arn", tokens.EVENT_TARGET), *by_name)
    }.values()


@once
def _queues(program: Program) -> Mapping[str, list[Resource]]:
    """Return the queues by their names."""
    return _indexed((attempt(item.view["name"].text), item) for item in program.of_type(tokens.QUEUE))


@once
def _targets(program: Program) -> Mapping[str, list[Resource]]:
    """Return the targets by the last part of their ARN."""
    arns = ((attempt(item.view["arn"].text), item) for item in program.of_type(tokens.EVENT_TARGET))
    return _indexed((arn.rpartition(":")[2], item) for arn, item in arns if isinstance(arn, str) and ":" in arn)


@once
def _rules(program: Program) -> Mapping[str, list[Resource]]:
    """Return the rules by their physical and their logical names."""
    rules = program.of_type(tokens.EVENT_RULE)
    return _indexed((name, item) for item in rules for name in {attempt(item.view["name"].text), item.name})


def _indexed(found: Iterable[tuple[object, Resource]]) -> Mapping[str, list[Resource]]:
    index: dict[str, list[Resource]] = {}
    for name, item in found:
        if isinstance(name, str):
            index.setdefault(name, []).append(item)
    return index


def _rules_of(target: Resource, program: Program) -> Iterator[Resource]:
    found = program.computed_from(target, "rule", tokens.EVENT_RULE)
    if found:
        yield from found
        return
    name = attempt(target.view["rule"].text)
    if isinstance(name, str):
        yield from _rules(program).get(name, ())


def _pattern(rule: Resource) -> View:
    """Return what a rule listens for; one that is switched off, or listens to another bus, hears nothing of EC2."""
    view = rule.view
    if view["state"].text() == "DISABLED" or view["isEnabled"].boolean() is False or not _on_default_bus(view):
        return View({_SOURCE: []}, rule.urn)
    text = view["eventPattern"].text() or ""
    try:
        data = json.loads(text)
    except ValueError:
        data = {_SOURCE: []}
    return View(data, rule.urn, "eventPattern")


def _on_default_bus(rule: View) -> bool:
    """Return whether a rule listens to the bus that AWS's own services speak on; buses are named by name or ARN."""
    bus = rule["eventBusName"].text()
    return bus is None or bus.rpartition("/")[2] == "default"


def hears(pattern: View, event: Event) -> bool:
    """Return whether an EventBridge pattern matches an event; what it asks of the event's details is not looked at."""
    return _admits(pattern[_SOURCE], event.source) and _admits(pattern[_DETAIL_TYPE], event.detail_type)


def _admits(place: View, value: str) -> bool:
    """Return whether one of a field's alternatives matches: a value, or a condition on it. None asks for nothing."""
    if not place.exists:
        return True
    return any(_matches(item, value) for item in place.items())


def _matches(item: View, value: str) -> bool:
    if not isinstance(item.data, Mapping):
        return item.text() == value
    return any(_meets(value, word, place) for word, place in item.entries())


def _meets(value: str, word: str, place: View) -> bool:
    """Return whether a value meets one of EventBridge's conditions (its user guide, "Comparison operators")."""
    if word == "anything-but":
        return value not in (place.texts() or (place.text(),))
    text = place.text() or ""
    match word:
        case "prefix":
            return value.startswith(text)
        case "suffix":
            return value.endswith(text)
        case "wildcard":
            return re.fullmatch(".*".join(map(re.escape, text.split("*"))), value) is not None
        case "equals-ignore-case":
            return value.lower() == text.lower()
        case _:
            return False
