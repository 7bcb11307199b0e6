"""WORK001: every GPU pod can be scheduled.

It is silent where WORK002 has the same to say in better words. In plain YAML, where other pools may be in the cluster,
a pod that no pool lets on may be meant for those; one that is let on and has no room is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.placement import Placement
from eks_gpu.planning.placement.refusal import Contradictory, NoTypes, TooLarge, Unlabelled, Untolerated
from eks_gpu.planning.placement.remedy import remedy
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu_policies import examples
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Undecided, undecided
from eks_gpu_policies.rules.workloads.work002 import waiting
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_PODS

Answer = tuple[Pool, Placement]

_MOST_REASONS: Final = 4
"""How many pools' reasons are told; the others' are counted."""

_BY_LABELS: Final = (Untolerated, NoTypes, Unlabelled, Contradictory)
"""Refusals of a pod that may be meant for other pools."""


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if pod.spec["nodeName"].exists:
        return  # Its node is chosen, and no scheduler asked.
    answers: list[Answer] = []
    for pool in stack.possible_pools:
        placement = stack.placed(pod, pool)
        if placement.admits:
            return
        answers.append((pool, placement))
    if not answers:
        yield Undecided("GPU pools", "no pool that buys GPUs is in the stack")
        return
    unclear = next((placement.unclear for _, placement in answers if placement.unclear is not None), None)
    if unclear is not None:
        yield undecided(unclear)
    elif stack.options.manifests_only and not _is_let_on(answers):
        yield Undecided("GPU pools", "no pool among these manifests lets the pod on; others may be in the cluster")
    elif not waiting(pod, stack):
        pool, placement = _nearest(answers)
        fix = "" if placement.refusal is None else remedy(stack.places.demand(pod), pool, placement.refusal)
        yield Problem(f"no pool admits it: {_reasons(answers)}", fix=fix)


def _is_let_on(answers: Sequence[Answer]) -> bool:
    return any(not isinstance(placement.refusal, _BY_LABELS) for _, placement in answers)


def _nearest(answers: Sequence[Answer]) -> Answer:
    """Return the pool that would need the least to change: labels agree before room is looked at."""
    return max(answers, key=lambda answer: (not isinstance(answer[1].refusal, _BY_LABELS), _room(answer[1])))


def _room(placement: Placement) -> float:
    refusal = placement.refusal
    if isinstance(refusal, TooLarge):
        return refusal.room / refusal.asked
    return 0.0 if isinstance(refusal, _BY_LABELS) else 1.0


def _reasons(answers: Sequence[Answer]) -> str:
    ordered = sorted(answers, key=lambda answer: isinstance(answer[1].refusal, _BY_LABELS))
    told = "; ".join(f"{pool.name}: it {placement.reason}" for pool, placement in ordered[:_MOST_REASONS])
    left = len(ordered) - _MOST_REASONS
    return f"{told}; and {left} more" if left > 0 else told


_GREEDY = examples.container(resources={"limits": {resources.GPU: "1", "cpu": "4", "memory": "48Gi"}})
_POOL = (examples.node_class(), examples.node_pool())

RULE: Final = Rule(
    id="WORK001",
    title="Every GPU pod can be scheduled",
    severity=Severity.CRITICAL,
    why=(
        "A pod that no node can ever hold stays pending, and nothing fails: Karpenter notes once why it buys nothing, "
        "the service is simply not there. Round numbers are the usual cause: no g5.xlarge gives a pod 4 CPU, because "
        "the kubelet and DaemonSets take their part of the four that it has."
    ),
    fix="ask for what nodes have after the kubelet's and the DaemonSets' part; tolerate and select what pools carry",
    lessons=("N03", "W02", "N04"),
    levels=EVERYWHERE,
    looks_at=GPU_PODS,
    check=_check,
    failing=Example((*_POOL, examples.deployment(_GREEDY))),
    passing=Example((*_POOL, examples.deployment())),
)
