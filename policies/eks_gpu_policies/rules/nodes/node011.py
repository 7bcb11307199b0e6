"""NODE011: spot never holds training that cannot resume."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.placement import admits
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu_policies import examples
from eks_gpu_policies.questions.room import room
from eks_gpu_policies.questions.training import Training, saves, training_of
from eks_gpu_policies.questions.work_at_risk import at_risk
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, clauses, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import TRAINING_PODS

_SPOT: Final = frozenset({"spot"})


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    training = training_of(pod, stack)
    if training is None:
        return
    for one in training.pods:
        if one.asks_gpu:
            yield from clauses(*(_on(pool, one, training, stack) for pool, *_ in room(stack).lots))


def _on(pool: Pool, pod: PodTemplate, training: Training, stack: Stack) -> Iterator[Outcome]:
    """Judge a pool: what is asked is whether it lets the pod on, and whether the node may be a spot instance then."""
    if not isinstance(pool.capacity_types, NotKnown) and not pool.capacity_types & _SPOT:
        return
    if not admits(replace(pool, capacity_types=_SPOT), pod) or stack.placed(pod, pool).refuses:
        return
    need(pool.capacity_types)
    resumes = saves(training)
    if isinstance(resumes, NotKnown):
        yield undecided(resumes)
    elif not resumes:
        yield Problem(
            f"may run on spot instances of {pool.name} and cannot go on after one is taken back "
            f"({training.saving.problems[0].message}); {at_risk(training, stack)}",
            advisory=not training.certain,
        )


_POOL: Final = examples.training_pool(capacity=("spot", "on-demand"))

RULE: Final = Rule(
    id="NODE011",
    title="Spot never holds training that cannot resume",
    severity=Severity.HIGH,
    why=(
        "A spot instance is taken back after two minutes, and instances with eight GPUs more often than others. "
        "Training that saves nowhere durable, too rarely, or begins from scratch, never ends there, and all of it is "
        "paid for."
    ),
    fix=(
        f"require {labels.CAPACITY_TYPE}: on-demand in the pods' node selector, or let training save and resume as "
        "WORK009 asks"
    ),
    lessons=("N09", "W06"),
    looks_at=TRAINING_PODS,
    check=_check,
    failing=Example((_POOL, examples.training_job(emptyDir={}))),
    passing=Example((_POOL, examples.training_job())),
)
