"""NODE012: interruptions reach Karpenter.

Which announcements matter depends on what the pools may buy: no spot instance is taken back from pools that buy none.
A missing rule for those that do not matter yet is advice, because the next pool may need it. EKS Auto Mode hears
interruptions by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import interruptions, labels
from eks_gpu.facts.versions import KARPENTER
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers import karpenter
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack, Whole

_SPOT: Final = "spot"
_RESERVED: Final = "reserved"
_ONLY_FOR: Final = {
    "spot-interruption": _SPOT,
    "rebalance": _SPOT,
    "reservation-interruption": _RESERVED,
}
"""Which capacity an announcement is about, where it is not about every instance."""


def _capacity(stack: Stack) -> frozenset[str]:
    """Return what Karpenter may buy that can be taken back: spot, and reservations."""
    answers = [attempt(_interruptible, pool, stack) for pool in stack.node_pools()]
    found = frozenset[str]().union(*(answer for answer in answers if not isinstance(answer, NotKnown)))
    for answer in answers:
        if isinstance(answer, NotKnown) and not found:
            raise NotKnownError(answer)
    return found


def _interruptible(pool: Pool, stack: Stack) -> frozenset[str]:
    if karpenter.is_auto_mode(stack.by_urn[pool.urn].view):
        return frozenset()
    found = need(pool.capacity_types) & {_SPOT, _RESERVED}
    return found if _buys_reserved(pool, stack) else found - {_RESERVED}


def _buys_reserved(pool: Pool, stack: Stack) -> bool:
    """Return whether a pool that may buy reserved capacity is meant to: it says so, or its class selects some."""
    if any(item.key == labels.CAPACITY_TYPE and item.operator == "In" for item in need(pool.requirements)):
        return True
    node_class = stack.template(pool)
    return node_class is not None and bool(node_class.at("spec", "capacityReservationSelectorTerms").items())


def _concerned(_whole: Whole, stack: Stack) -> bool:
    return bool(_capacity(stack))


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    releases = karpenter.releases(stack)
    if not releases:
        yield Undecided("settings.interruptionQueue", "Karpenter's release is not in the stack")
    yield from clauses(*(_release(item, stack) for item in releases))


def _release(release: Resource, stack: Stack) -> Iterator[Outcome]:
    place = karpenter.queue_setting(release)
    if not place.exists or place.data == "":
        bought = " and ".join(sorted(_capacity(stack)))
        yield Problem(
            f"settings.interruptionQueue is empty although pools buy {bought} capacity: nodes vanish with their pods "
            "instead of being drained in the two minutes of notice",
            urn=release.urn,
        )
        return
    yield from _events(release, karpenter.queue_of(release, stack), stack)


def _events(release: Resource, queue: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge which announcements reach the queue."""
    patterns = tuple(karpenter.patterns_to(queue, stack))
    capacity = _capacity(stack)
    for key, event in interruptions.EVENTS.items():
        heard = [item if isinstance(item, NotKnown) else attempt(karpenter.hears, item, event) for item in patterns]
        unclear = next((item for item in heard if isinstance(item, NotKnown)), None)
        if True in heard:
            continue
        if unclear is not None:
            yield undecided(unclear)
            return
        yield Problem(
            f"no EventBridge rule sends {event.source}'s {event.detail_type!r} to {queue.name}, Karpenter's queue",
            advisory=key in _ONLY_FOR and _ONLY_FOR[key] not in capacity,
            urn=release.urn,
            fix=f"add an EventRule with the pattern {json.dumps(event.pattern())} and an EventTarget with the queue's "
            "ARN, as Karpenter's component does for all five",
        )


_NAME: Final = "karpenter-ml"
_QUEUE: Final = examples.resource(tokens.QUEUE, "interruptions", {"name": _NAME, "messageRetentionSeconds": 300})
_POOL: Final = examples.training_pool(capacity=("spot", "on-demand"))
_CHART: Final = examples.release(
    "karpenter",
    KARPENTER.name,
    KARPENTER.version,
    after=(_QUEUE,),
    values={"settings": {"clusterName": "ml", "interruptionQueue": _NAME}},
)


def _listening(name: str, event: interruptions.Event) -> tuple[Resource, ...]:
    """Return a rule and its target."""
    rule = examples.resource(tokens.EVENT_RULE, name, {"name": name, "eventPattern": json.dumps(event.pattern())})
    aim = {"rule": name, "arn": f"arn:aws:sqs:us-east-1:123456789012:{_NAME}"}
    return rule, examples.resource(tokens.EVENT_TARGET, f"{name}-target", aim, rule=(rule,), arn=(_QUEUE,))


def _karpenter(*without: str) -> Example:
    """Return Karpenter with a rule for every event but some."""
    heard = (_listening(key, event) for key, event in interruptions.EVENTS.items() if key not in without)
    return Example((_QUEUE, _CHART, _POOL, *(item for pair in heard for item in pair)))


RULE: Final = Rule(
    id="NODE012",
    title="Interruptions reach Karpenter",
    severity=Severity.HIGH,
    why=(
        "EC2 announces that it takes a spot instance back two minutes before, and Karpenter drains the node if it "
        "hears of it. Without a queue, or with an announcement that nobody sends there, pods are killed without a "
        "word and their GPUs are missing until somebody notices."
    ),
    fix=(
        "make an SQS queue, five EventBridge rules that target it, and name it in settings.interruptionQueue, as the "
        "Karpenter component does"
    ),
    lessons=("N09",),
    looks_at=Subjects[Whole](
        "Karpenter's pools and its queue",
        frozenset({tokens.NODE_POOL}),
        lambda stack: (stack.whole,) if stack.node_pools() else (),
        _concerned,
    ),
    check=_check,
    failing=_karpenter("spot-interruption"),
    passing=_karpenter(),
)
