"""COST005: no LimitRange hands out GPUs.

``max`` becomes ``default`` and that ``defaultRequest``, so a key that was meant as a bound is a gift. A default of
zero is no way out: a pod that asks zero of an extended resource tolerates its taint all the same (kubernetes v1.35.0,
pkg/apis/core/v1/defaults.go and plugin/pkg/admission/extendedresourcetoleration, checked 2026-11-21).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import View
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Scope, Severity, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import resources as subjects

_VENDOR: Final = resources.GPU.partition("/")[0] + "/"
FIELDS: Final = ("default", "defaultRequest", "max", "min")
_POD: Final = "Pod"
_CONTAINER: Final = "Container"


def _check(limits: Resource, _stack: Stack) -> Iterator[Outcome]:
    yield from clauses(*(_item(item) for item in limits.view.at("spec", "limits").items()))


def _item(item: View) -> Iterator[Outcome]:
    kind = item["type"].text()
    if kind not in {_POD, _CONTAINER}:
        return
    for field in FIELDS:
        for key, place in item[field].entries():
            if key.startswith(_VENDOR):
                amount = place.text() or ""
                yield Problem(
                    f"sets {field} of {key} to {amount} for each {kind.lower()}: {_effect(kind, field, amount)}"
                )


def _effect(kind: str, field: str, amount: str) -> str:
    if kind == _POD:
        return "a pod in which any container asks no GPU, such as a CPU pod or a sidecar, is refused"
    if quantity(amount) == 0:
        return "every container then asks zero GPUs, and EKS lets its pod onto tainted GPU nodes"
    if field == "min":
        return "every container that says nothing requests them without a limit, and its pod is refused"
    copied = ", because Kubernetes makes it the default" if field == "max" else ""
    return f"every container that says nothing gets {amount}, a CPU pod's too{copied}"


def _limit_range(*limits: dict[str, object]) -> Resource:
    props = {"metadata": {"name": "limits", "namespace": "team-a"}, "spec": {"limits": list(limits)}}
    return examples.resource(tokens.LIMIT_RANGE, "limits", props)


RULE: Final = Rule(
    id="COST005",
    title="No LimitRange hands out GPUs",
    severity=Severity.CRITICAL,
    why=(
        "A LimitRange that is meant to cap GPUs gives them away: Kubernetes copies max to default and to "
        "defaultRequest, so that every container of the namespace that names no GPU gets eight of them."
    ),
    fix=(
        "remove the GPU keys; cap GPUs for each pod by an admission policy, and the namespace's sum by a ResourceQuota "
        f"on {resources.quota(resources.GPU)}"
    ),
    lessons=("W13",),
    levels=EVERYWHERE,
    scope=Scope.RESOURCE,
    looks_at=subjects("LimitRanges", (tokens.LIMIT_RANGE,)),
    check=_check,
    failing=Example((_limit_range({"type": _CONTAINER, "max": {resources.GPU: "8"}}),)),
    passing=Example((_limit_range({"type": _CONTAINER, "max": {"memory": "64Gi"}}),)),
)
