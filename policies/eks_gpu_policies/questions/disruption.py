"""What a node pool says about the disruption of its nodes, what it is for, and who trains on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final
from weakref import WeakKeyDictionary

from eks_gpu.facts import declarations, labels
from eks_gpu.planning import disruption
from eks_gpu.planning.disruption import NEVER, Budget, Contract, Guest
from eks_gpu.planning.pod_template import asks_gpu
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu_policies.questions.disruption_budgets import held_by
from eks_gpu_policies.questions.room import room
from eks_gpu_policies.questions.training import Training, saves, trainings
from eks_gpu_policies.readers.karpenter import is_auto_mode
from eks_gpu_policies.stack import Stack

_EXPIRE_AFTER: Final = "expireAfter"
_POLICY: Final = "consolidationPolicy"
_AFTER: Final = "consolidateAfter"


def contract_of(pool: View) -> Contract:
    """Read the contract of a NodePool; what is left out is what Karpenter's schema fills in."""
    spec = pool["spec"]
    said, template = spec["disruption"], spec["template"]
    node = template["spec"]
    expiry = node[_EXPIRE_AFTER] if attempt(_exists, node[_EXPIRE_AFTER]) is not False else said[_EXPIRE_AFTER]
    named = {_POLICY: said[_POLICY], _AFTER: said[_AFTER], _EXPIRE_AFTER: expiry}
    return Contract(
        policy=attempt(lambda: said[_POLICY].text() or disruption.DEFAULT_POLICY),
        consolidate_after=attempt(_lasting, said[_AFTER], disruption.DEFAULT_CONSOLIDATE_AFTER),
        budgets=attempt(lambda: tuple(_budgets(said["budgets"]))),
        expire_after=attempt(lambda: _lasting(expiry, _default_expiry(pool))),
        grace=attempt(_lasting, node["terminationGracePeriod"], NEVER),
        static=attempt(lambda: spec["replicas"].exists),
        annotated=attempt(lambda: template.at("metadata", "annotations", labels.DO_NOT_DISRUPT).text() == _YES),
        unset=frozenset(name for name, place in named.items() if attempt(_exists, place) is False),
    )


def _default_expiry(pool: View) -> float:
    return disruption.AUTO_MODE_EXPIRY if is_auto_mode(pool) else disruption.DEFAULT_EXPIRY


def _exists(place: View) -> bool:
    return place.exists


_YES: Final = "true"


def _lasting(place: View, default: float) -> float:
    """Return a duration; the default where none is said, or what is said is none (which the API refuses)."""
    text = place.text()
    found = None if text is None else disruption.lasting(text)
    return default if found is None else found


def _budgets(place: View) -> Iterator[Budget | NotKnown]:
    """Yield the budgets that a pool has. The one of 10 % that it gets where none is said keeps no node."""
    for item in place.items():
        yield attempt(_budget, item)


def _budget(place: View) -> Budget:
    lasts = place["duration"].text()
    return Budget(
        nodes=place["nodes"].text() or disruption.DEFAULT_BUDGET,
        reasons=frozenset(place["reasons"].texts()) if place["reasons"].exists else None,
        schedule=place["schedule"].text(),
        lasts=None if lasts is None else disruption.lasting(lasts),
    )


_GUESTS: Final[WeakKeyDictionary[Training, Guest]] = WeakKeyDictionary()


def guest(training: Training, stack: Stack) -> Guest:
    """Return a training workload as a guest of a pool."""
    if training not in _GUESTS:
        _GUESTS[training] = _guest(training, stack)
    return _GUESTS[training]


def _guest(training: Training, stack: Stack) -> Guest:
    return Guest(
        name=training.name,
        runs=training.runs,
        undisturbed=attempt(_undisturbed, training, stack),
        resumes=saves(training),
        gang=training.gang,
        pod_grace=attempt(lambda: _grace(training)),
        save=attempt(lambda: _save(training)),
    )


def _undisturbed(training: Training, stack: Stack) -> float:
    """Return for how many seconds all pods refuse to go: by annotation, or by a budget that lets none go."""
    shortest = NEVER
    for pod in training.pods:
        if not pod.asks_gpu or held_by(pod, training.count, stack):
            continue
        said = need(pod.annotations).get(labels.DO_NOT_DISRUPT)
        shortest = min(shortest, refusal(said))
    return shortest


def refusal(said: str | None) -> float:
    """Return for how long ``do-not-disrupt`` holds: ``true`` for ever, a duration from the pod's start on."""
    if said == _YES:
        return NEVER
    seconds = None if said is None else disruption.lasting(said)
    return 0 if seconds is None or seconds == NEVER else seconds


def _grace(training: Training) -> float:
    """Return the shortest time that one of the pods has between SIGTERM and SIGKILL."""
    said = [pod.spec["terminationGracePeriodSeconds"].number() for pod in training.pods if pod.asks_gpu]
    return min(disruption.DEFAULT_POD_GRACE if seconds is None else seconds for seconds in said)


def _save(training: Training) -> float | None:
    said = training.declared.get(declarations.CHECKPOINT_SAVE_SECONDS)
    amount = None if said is None else quantity(said)
    return None if amount is None else float(amount)


class Purpose(StrEnum):
    """What a pool is for, as far as it says so itself."""

    TRAINING = "training"
    OTHER = "something else"
    UNSAID = "unsaid"


_FOR_TRAINING: Final = re.compile(r"(?<![a-z])(?:pre)?train(?:ing)?(?![a-z])|fine-?tun", re.IGNORECASE)
_FOR_OTHERS: Final = re.compile(
    r"(?<![a-z])(?:inference|inferencing|serving|serve|vllm|triton|llm|nim|development|notebooks?|jupyter|rendering)"
    r"(?![a-z])",
    re.IGNORECASE,
)


def purpose_of(pool: Pool) -> Purpose:
    """Return what a pool says it is for: by the one label, else by any label or taint, else by its name."""
    said = need(pool.labels)
    if said.get(labels.WORKLOAD) in labels.WORKLOADS:
        return Purpose.TRAINING if said[labels.WORKLOAD] == labels.WORKLOADS[1] else Purpose.OTHER
    own = (f"{key} {value}" for key, value in said.items() if key != labels.KARPENTER_NODEPOOL)
    taints = (f"{taint.key} {taint.value}" for taint in need(pool.taints))
    for words in (" ".join((*own, *taints)), pool.name):
        if _FOR_TRAINING.search(words) is not None:
            return Purpose.TRAINING
        if _FOR_OTHERS.search(words) is not None:
            return Purpose.OTHER
    return Purpose.UNSAID


_CACHE: Final[WeakKeyDictionary[Stack, Mapping[str, tuple[Training, ...]]]] = WeakKeyDictionary()


def tenants(pool: Pool, stack: Stack) -> tuple[Training, ...]:
    """Return the training workloads that are known to be let onto a pool whose nodes have GPUs enough for them."""
    if stack not in _CACHE:
        found: dict[str, list[Training]] = {}
        for training in trainings(stack):
            for urn in _lets_on(training, stack):
                found.setdefault(urn, []).append(training)
        _CACHE[stack] = {urn: tuple(there) for urn, there in found.items()}
    return _CACHE[stack].get(pool.urn, ())


def _lets_on(training: Training, stack: Stack) -> Iterator[str]:
    """Yield each pool once that lets one of the workload's GPU pods on."""
    pods = [pod for pod in training.pods if asks_gpu(pod) is True]
    yield from dict.fromkeys(item.urn for pod in pods for item in room(stack).pools_for(pod))
