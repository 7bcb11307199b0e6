"""WORK004: CPU pods do not tolerate GPU nodes.

What keeps a pod off is its node selector or its required affinity. Where the stack has GPU pools, they tell; where it
has none, the selector's own words do. Pods that the cluster cannot do without are let anywhere by their authors on
purpose, and so is the pod that starts a gang of GPU pods and ends with it. A pod under NVIDIA's runtime is meant for
GPU nodes, whatever it asks; and a template without an image is completed by somebody else (Spark).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.gpu_software import RUNTIME_CLASS
from eks_gpu.facts.taints import GPU, Effect
from eks_gpu.facts.versions import CHARTS
from eks_gpu.planning.fractions import asks_a_fraction
from eks_gpu.planning.gpu_marks import keeps_off_gpu_nodes
from eks_gpu.planning.pod_template import PodTemplate, Toleration, WorkloadKind
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects
from eks_gpu_policies.stack import Stack

_DAEMON_SET: Final = "DaemonSet"
_CHART: Final = "helm.sh/chart"
_SYSTEM: Final = frozenset({"system-cluster-critical", "system-node-critical"})
_KEEPING_OFF: Final = frozenset({None, "", Effect.NO_SCHEDULE.value})
"""Effects of a toleration that opens nodes with the taint of GPU pools; ``NoExecute`` alone does not."""


def _concerned(pod: PodTemplate, _stack: Stack) -> bool:
    if pod.owner_kind == _DAEMON_SET or _consent(pod) is None or pod.asks_gpu or asks_a_fraction(pod):
        return False
    if _is_of_known_chart(pod) or pod.spec["priorityClassName"].text() in _SYSTEM:
        return False
    return need(pod.runtime_class) != RUNTIME_CLASS and any(need(container.image) for container in need(pod.containers))


def _consent(pod: PodTemplate) -> str | None:
    """Return how a pod tolerates the taint of GPU nodes, or None when it does not."""
    for toleration in need(pod.tolerations):
        if toleration.effect not in _KEEPING_OFF:
            continue
        if _is_blanket(toleration):
            return "tolerates every taint"
        if toleration.key == GPU.key:
            return f"tolerates {GPU.key}"
    return None


def _is_blanket(toleration: Toleration) -> bool:
    return toleration.operator == "Exists" and not toleration.key


def _is_of_known_chart(pod: PodTemplate) -> bool:
    own = need(pod.labels)
    named = {own.get(key) for key in (labels.APP_NAME, labels.APP)}
    return not named.isdisjoint(CHARTS) or own.get(_CHART, "").rpartition("-")[0] in CHARTS


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if _starts_training(pod, stack):
        return
    pools = [pool for pool in stack.landing(pod) if pool.buys_gpus and not pool.by_omission]
    asks = f"{_consent(pod)} and asks for no GPU"
    if pools:
        dearest = max(pools, key=lambda pool: 0.0 if pool.dearest is None else pool.dearest.usd_per_hour or 0.0)
        price = "" if dearest.dearest is None else f" (up to ${dearest.dearest.usd_per_hour:.2f}/h)"
        yield Problem(f"{asks}: a node of {dearest.name}{price} stays for as long as it runs there")
    elif not _is_kept_off(pod, stack):
        yield Problem(f"{asks}, and nothing keeps it off GPU nodes: one stays for as long as it runs there")


def _starts_training(pod: PodTemplate, stack: Stack) -> bool:
    if need(pod.kind) is not WorkloadKind.TRAINING:
        return False
    return pod.urn in stack.asks_gpus


def _is_kept_off(pod: PodTemplate, stack: Stack) -> bool:
    """Return whether a pod that no GPU pool of the stack is known to admit is kept off those elsewhere, too."""
    all_known = not stack.unclear_pools and all(pool.gpu_types for pool in stack.gpu_pools)
    if all_known and (stack.gpu_pools or stack.of_type(*sorted(tokens.CLUSTERS))):
        return True
    selector, terms = need(pod.selector), need(pod.affinity)
    return keeps_off_gpu_nodes(selector) or (bool(terms) and all(keeps_off_gpu_nodes(term) for term in terms))


_WEB = examples.container(name="web", image="nginx:1.29.0", resources={}, startupProbe=None, volumeMounts=None)

RULE: Final = Rule(
    id="WORK004",
    title="CPU pods do not tolerate GPU nodes",
    severity=Severity.MEDIUM,
    why=(
        "The taint of GPU nodes keeps ordinary pods away from them. A pod that tolerates it, or everything, lands "
        "there when CPU nodes are full, and one small pod keeps a node of up to $55 an hour from scaling in."
    ),
    fix=(
        f"remove the toleration: EKS adds the one for {GPU.key} by itself to pods that ask for GPUs; a pod that must "
        "tolerate everything needs a node selector or affinity that excludes GPU nodes"
    ),
    lessons=("N05",),
    looks_at=Subjects[PodTemplate](
        "pods without GPUs that tolerate GPU nodes", frozenset(), lambda stack: stack.pods, _concerned
    ),
    check=_check,
    failing=Example((examples.deployment(_WEB, name="web", volumes=[], tolerations=[{"operator": "Exists"}]),)),
    passing=Example(
        (
            examples.deployment(
                _WEB,
                name="web",
                volumes=[],
                tolerations=[{"operator": "Exists"}],
                nodeSelector={labels.WORKLOAD: labels.WORKLOAD_SYSTEM},
            ),
        )
    ),
)
