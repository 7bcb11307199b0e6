"""WORK009: training saves often, durably, and resumes.

Looked at is a whole workload: what one pod template of a PyTorchJob mounts serves the others. Tests of GPUs and of the
network, and jobs of an hour at most, lose nothing worth a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import declarations
from eks_gpu.planning.checkpoints import FEWEST_KEPT, LONGEST_INTERVAL
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu_policies import examples
from eks_gpu_policies.questions.training import training_of
from eks_gpu_policies.questions.work_at_risk import at_risk
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, clauses, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import TRAINING_PODS


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    training = training_of(pod, stack)
    if training is None:
        return
    saving = training.saving
    maybe = "" if training.certain else ", if it trains"
    for problem in saving.problems:
        cost = at_risk(training, stack, problem.minutes)
        yield Problem(f"{problem.message}{maybe}; {cost}", advisory=not training.certain)
    yield from clauses(undecided(what) for what in saving.open)


RULE: Final = Rule(
    id="WORK009",
    title="Training saves often, durably, and resumes",
    severity=Severity.HIGH,
    why=(
        "Nodes go: spot is taken back, hardware fails, pools are renewed. A job that saves nowhere but on its node "
        "begins from scratch, and all GPU hours so far are lost. Saving at SIGTERM alone is not enough: hardware that "
        "fails sends none."
    ),
    fix=(
        f"write checkpoints at least every {LONGEST_INTERVAL} minutes to a claim or an object store, keep "
        f"{FEWEST_KEPT} of them, and start from the newest that is whole; what cannot be read off the pod is declared "
        f"by annotation: {declarations.CHECKPOINT_MINUTES}, {declarations.CHECKPOINTS_KEPT}, {declarations.RESUMES}"
    ),
    lessons=("W06", "N09"),
    looks_at=TRAINING_PODS,
    check=_check,
    failing=Example((examples.training_job(emptyDir={}),)),
    passing=Example((examples.training_job(),)),
)
