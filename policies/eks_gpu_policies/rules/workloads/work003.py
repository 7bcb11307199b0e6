"""WORK003: GPU requests equal limits, whole.

It is often said that the API server takes a Deployment all the same. It does not: it judges the templates of its own
kinds as it judges pods (kube-apiserver v1.35.0, held by tests/e2e/admission). It cannot judge those of other kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Scope, Severity, Undecided, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_PODS

_VENDOR: Final = resources.GPU.partition("/")[0] + "/"
_LATER: Final = re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|[{<$]")
"""Names in the place of amounts (``NUM_GPUS``), which no quantity looks like."""


def _check(pod: PodTemplate, _stack: Stack) -> Iterator[Outcome]:
    yield from clauses(*(_container(container) for container in pod.all_containers))


def _container(container: Container) -> Iterator[Outcome]:
    requests, limits = need(container.requests), need(container.limits)
    for name in sorted({*requests, *limits}):
        if name.startswith(_VENDOR) or name == resources.EFA:
            yield from _amounts(f"container {container.name} asks {name}", requests.get(name), limits.get(name))


def _amounts(asks: str, request: str | None, limit: str | None) -> Iterator[Outcome]:
    later = next((text for text in (request, limit) if text is not None and _LATER.search(text)), None)
    if later is not None:
        yield Undecided("resources", f"{asks} as {later}, which somebody fills in later")
        return
    for amount in dict.fromkeys(text for text in (request, limit) if text is not None):
        pieces = quantity(amount)
        if pieces is None or pieces.denominator != 1 or pieces < 0:
            yield Problem(f"{asks} as {amount!r}, which is no whole number")
    if limit is None:
        yield Problem(f"{asks} as a request of {request} without a limit")
    elif request is not None and quantity(request) != quantity(limit):
        yield Problem(f"{asks} as a request of {request} and a limit of {limit}; they must be equal")


_HALF = examples.container(resources={"limits": {resources.GPU: "0.5", "memory": "24Gi"}})

RULE: Final = Rule(
    id="WORK003",
    title="GPU requests equal limits, whole",
    severity=Severity.HIGH,
    why=(
        "GPUs are extended resources: the API server refuses a pod, or a workload of its own kinds, whose request has "
        "no equal limit or is no whole number, in the middle of an update. Kinds that others define (a RayCluster, a "
        "JobSet) it accepts, and they never make a pod."
    ),
    fix=f"write {resources.GPU} once, under limits, as a whole number; share a GPU by MIG, MPS or time-slicing instead",
    lessons=("W01",),
    levels=EVERYWHERE,
    scope=Scope.RESOURCE,
    looks_at=GPU_PODS,
    check=_check,
    failing=Example((examples.deployment(_HALF),)),
    passing=Example((examples.deployment(),)),
)
