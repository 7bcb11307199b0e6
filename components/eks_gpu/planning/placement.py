"""Which pools a pod may land on, by taints and labels.

Room (allocatable, DaemonSets, limits) is not looked at here: a pool that admits a pod may still be too small for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from eks_gpu.facts import labels as keys
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Effect, Taint
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.pod_template import PodTemplate, Toleration
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu.planning.requirements import Requirement

_KEPT_OFF_BY = frozenset({Effect.NO_SCHEDULE, Effect.NO_EXECUTE})


def admits(pool: Pool, pod: PodTemplate) -> bool:
    """Return whether taints and labels of ``pool`` let ``pod`` onto a GPU node of it."""
    return tolerates(pod, need(pool.taints)) and bool(types_selected(pool, pod))


def tolerates(pod: PodTemplate, taints: tuple[Taint, ...]) -> bool:
    """Return whether a pod tolerates every taint that would keep it off.

    EKS runs the ExtendedResourceToleration admission plugin: a pod that asks for an extended resource tolerates
    taints whose key is that resource's name.
    """
    free = pod.extended_resources
    return all(
        taint.effect not in _KEPT_OFF_BY
        or taint.key in free
        or any(_consents(toleration, taint) for toleration in need(pod.tolerations))
        for taint in taints
    )


def _consents(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in {None, "", taint.effect.value}:
        return False
    if toleration.operator == "Exists":
        return toleration.key in {None, "", taint.key}
    return toleration.key == taint.key and toleration.value == taint.value


def types_selected(pool: Pool, pod: PodTemplate) -> tuple[InstanceType, ...]:
    """Return the pool's GPU instance types whose nodes the pod's selector and required affinity accept."""
    selector, terms = need(pod.selector), need(pod.affinity)
    return tuple(
        instance
        for instance in pool.gpu_types
        if _meets(pool, instance, selector)
        and (not terms or any(term and _meets(pool, instance, term) for term in terms))
    )


def _meets(pool: Pool, instance: InstanceType, wanted: tuple[Requirement, ...]) -> bool:
    fixed: Mapping[str, str] = {**instance_labels(instance), **need(pool.labels)}
    return all(_satisfiable(pool, fixed, requirement) for requirement in wanted)


def _satisfiable(pool: Pool, fixed: Mapping[str, str], wanted: Requirement) -> bool:
    """Return whether some node of the pool can meet ``wanted``."""
    if wanted.key in fixed:
        return wanted.admits(fixed[wanted.key])
    if wanted.key in {keys.CAPACITY_TYPE, keys.EKS_CAPACITY_TYPE}:
        return wanted.admits_any(_spelled(wanted.key, need(pool.capacity_types)))
    own = [requirement for requirement in need(pool.requirements) if requirement.key == wanted.key]
    offered = [value for requirement in own if requirement.operator == "In" for value in requirement.values]
    if offered:
        return wanted.admits_any([value for value in offered if all(other.admits(value) for other in own)])
    if own or wanted.key in {keys.ZONE, keys.REGION, keys.HOSTNAME}:
        # Any value, or one we cannot see: the pod may name the one it wants, within what the pool forbids.
        return wanted.operator != "DoesNotExist"
    return wanted.admits(None)


def _spelled(key: str, capacity_types: frozenset[str]) -> frozenset[str]:
    if key == keys.CAPACITY_TYPE:
        return capacity_types
    return frozenset(value.upper().replace("-", "_") for value in capacity_types)
