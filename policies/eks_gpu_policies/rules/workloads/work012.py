"""WORK012: replicas and gangs have a working PodDisruptionBudget.

A gang that refuses to go by annotation needs no budget besides. A budget that lets no pod go is right for a gang, and
wrong for servers, whose nodes could never be renewed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pod_template import PodTemplate, WorkloadKind
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.questions.disruption import refusal
from eks_gpu_policies.questions.disruption_budgets import budgets, labels_of
from eks_gpu_policies.questions.scaled import replicas_of
from eks_gpu_policies.questions.training import training_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Subjects, Undecided
from eks_gpu_policies.stack import Stack


def _concerned(pod: PodTemplate, stack: Stack) -> bool:
    if not pod.asks_gpu or _follows(pod, stack):
        return False
    kind = need(pod.kind)
    if kind is WorkloadKind.INFERENCE:
        return replicas_of(pod, stack).least > 1 or bool(budgets(stack).of(pod))
    training = training_of(pod, stack)
    return training is not None and training.certain and training.gang


def _follows(pod: PodTemplate, stack: Stack) -> bool:
    """Return whether a pod is a worker of a group whose leader is judged for all of it."""
    if pod.owner_kind != "LeaderWorkerSet":
        return False
    group = stack.by_urn[pod.urn].view.at("spec", "leaderWorkerTemplate")
    leader, worker = group["leaderTemplate"]["spec"], group["workerTemplate"]["spec"]
    return pod.path == worker.path and bool(leader["containers"].items())


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if need(pod.kind) is WorkloadKind.INFERENCE:
        yield from _servers(pod, stack)
    else:
        yield from _gang(pod, stack)


def _servers(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    count = replicas_of(pod, stack)
    found = budgets(stack).of(pod)
    if not found:
        yield from _missing(
            pod,
            stack,
            f"has {count.least} replicas and no PodDisruptionBudget: draining their nodes takes all at once",
            limit=f"minAvailable {count.least - 1}" if pod.owner_kind in _UNSCALED else "maxUnavailable 1",
        )
    for budget in found:
        if budget.never_lets_go(count.most):
            yield Problem(
                f"the PodDisruptionBudget {budget.resource.name} ({budget.said}) never lets one of {count.most} "
                f"replica{'s' if count.most > 1 else ''} go: their nodes can be neither renewed nor given back",
                urn=budget.resource.urn,
                fix="set maxUnavailable 1, or minAvailable below the number of replicas",
            )


def _gang(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    training = training_of(pod, stack)
    if training is None:
        return
    bare = [one for one in training.pods if one.asks_gpu and not _refuses(one) and not budgets(stack).of(one)]
    if bare:
        yield from _missing(
            bare[0],
            stack,
            f"trains with {training.count} pods and has no PodDisruptionBudget: a drained node stops them all",
            limit=f"minAvailable {training.count}",
        )


def _refuses(pod: PodTemplate) -> bool:
    return refusal(need(pod.annotations).get(labels.DO_NOT_DISRUPT)) > 0


_UNSCALED: Final = frozenset({"RayService", "RayCluster"})
"""Kinds whose pods have an owner without the API's scale, so that a budget must say how many are to stay."""


def _missing(pod: PodTemplate, stack: Stack, message: str, *, limit: str) -> Iterator[Outcome]:
    """Yield that no budget selects a pod; manifests alone do not tell, because it may be elsewhere."""
    if stack.options.manifests_only and not stack.of_type(tokens.POD_DISRUPTION_BUDGET):
        yield Undecided("spec.selector", "a PodDisruptionBudget may be in the cluster")
        return
    own = attempt(labels_of, pod, stack.by_urn[pod.urn])
    selector = ", ".join(f"{key}: {value}" for key, value in own.items()) if isinstance(own, dict) else ""
    said = f"select {selector}" if selector else "label the pods and select them"
    yield Problem(message, fix=f"make a PodDisruptionBudget with {limit} in the pods' namespace: {said}")


_FIX: Final = (
    "make a PodDisruptionBudget in the pods' namespace: maxUnavailable 1 for servers, minAvailable as many as there "
    "are for a gang"
)


def _servers_of(count: int) -> Resource:
    server = examples.deployment()
    spec = server.props["spec"]
    return examples.resource(
        server.type,
        server.name,
        {**server.props, "spec": {**(spec if isinstance(spec, dict) else {}), "replicas": count}},
    )


_BUDGET: Final = examples.resource(
    tokens.POD_DISRUPTION_BUDGET,
    "llm",
    {"metadata": {"name": "llm"}, "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "llm"}}}},
)

RULE: Final = Rule(
    id="WORK012",
    title="Replicas and gangs have a working PodDisruptionBudget",
    severity=Severity.MEDIUM,
    why=(
        "Whoever drains nodes asks only PodDisruptionBudgets whether pods can be spared. Without one all replicas of a "
        "server may go together, each to load its model again for minutes, and one pod of a gang stops the others. One "
        "that never lets a replica go keeps its node for ever."
    ),
    fix=_FIX,
    lessons=("W09",),
    levels=PRODUCTION_ONLY,
    looks_at=Subjects[PodTemplate](
        "GPU servers of several replicas, and gangs", frozenset(), lambda stack: stack.pods, _concerned
    ),
    check=_check,
    failing=Example((_servers_of(2),)),
    passing=Example((_servers_of(2), _BUDGET)),
)
