"""NODE016: a pod that fits a cheap pool does not land on a dear one.

Karpenter does not compare prices between pools. What a pod without GPUs costs elsewhere is not known; it is refused
where a toleration of everything lets it onto a GPU pool that is dear beside the others it may use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.questions.pool_order import DEAR, Offer, offers
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects
from eks_gpu_policies.stack import Stack

_EVERYWHERE: Final = "DaemonSet"


def _concerned(pod: PodTemplate, stack: Stack) -> bool:
    if pod.owner_kind == _EVERYWHERE or not (pod.asks_gpu or _tolerates_everything(pod)):
        return False
    return len(offers(pod, stack)) > 1


def _tolerates_everything(pod: PodTemplate) -> bool:
    return any(item.operator == "Exists" and not item.key for item in need(pod.tolerations))


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    tried = offers(pod, stack)
    first = tried[0]
    cheapest = min(tried, key=lambda offer: offer.usd_per_hour)
    dearest = max(tried, key=lambda offer: offer.usd_per_hour)
    if _is_dear(first, cheapest):
        yield Problem(
            f"lands on {first}, which Karpenter tries before {cheapest}: "
            f"{first.usd_per_hour / cheapest.usd_per_hour:.0f} times the price",
            fix=_order(first, cheapest),
        )
    elif not _is_dear(dearest, cheapest):
        return
    elif _tolerates_everything(pod):
        yield Problem(
            f"tolerates every taint, and so may land on {dearest} although {cheapest} admits it",
            fix="name the taints that the pod tolerates by key and value",
        )
    else:
        yield Problem(
            f"lands on {dearest} as soon as {cheapest} is full: nothing keeps it off",
            advisory=True,
            fix=_keep_off(dearest),
        )


def _is_dear(offer: Offer, other: Offer) -> bool:
    return offer.usd_per_hour > DEAR * other.usd_per_hour


def _order(first: Offer, cheap: Offer) -> str:
    weight = min(max(first.place.weight + 1, 1), _HIGHEST)
    if first.place.weight >= _HIGHEST:
        return f"give {first.name} a lower weight than {cheap.name}; or {_keep_off(first)}"
    return f"give {cheap.name} a weight of {weight} or more; or {_keep_off(first)}"


_HIGHEST: Final = 100
"""The bounds of a weight are 1 and 100 (NodePool CRD, Karpenter 1.14.1, checked 2026-11-21)."""


def _keep_off(dear: Offer) -> str:
    return (
        f"keep the pod off {dear.name}: give that pool a taint of its own beside the GPU taint, which EKS "
        f"tolerates for every GPU pod, or require {labels.INSTANCE_GPU_NAME} in the pod's node selector"
    )


_CHEAP: Final = examples.node_pool("g5")
_DEAR: Final = examples.node_pool("p4d", types=("p4d.24xlarge",))
_OTHER: Final = examples.node_pool("g6", types=("g6.2xlarge",), weight=10)

RULE: Final = Rule(
    id="NODE016",
    title="A pod that fits a cheap pool does not land on a dear one",
    severity=Severity.HIGH,
    why=(
        "Karpenter tries pools by weight, then by name from Z to A, and never by price. A pod that needs one small GPU "
        "and is admitted by a pool of 8-GPU machines that comes first gets such a machine, at twenty times the price "
        "and more, and keeps it."
    ),
    fix=(
        "give cheap pools a higher weight than dear ones, and dear pools a taint of their own that only their pods "
        "tolerate, as GpuNodePool does"
    ),
    lessons=("N12", "W02"),
    looks_at=Subjects[PodTemplate](
        "pods that several node pools admit", frozenset(), lambda stack: stack.pods, _concerned
    ),
    check=_check,
    failing=Example((_CHEAP, _DEAR, examples.deployment())),
    passing=Example((_CHEAP, _OTHER, examples.deployment())),
)
