"""Which pools a pod may land on, by taints and labels.

Room (allocatable, DaemonSets, limits) is not looked at here: a pool that admits a pod may still be too small for it.
Whether its GPUs are partitioned as the pod needs is: that is a label.
"""

from __future__ import annotations

from collections.abc import Mapping

from eks_gpu.facts import labels as keys
from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Effect, Taint
from eks_gpu.planning.advertised import may_advertise
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.pod_template import PodTemplate, Toleration
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import need
from eks_gpu.planning.requirements import Requirement

_KEPT_OFF_BY = frozenset({Effect.NO_SCHEDULE, Effect.NO_EXECUTE})


def admits(pool: Pool, pod: PodTemplate) -> bool:
    """Return whether taints and labels of ``pool`` let ``pod`` onto a GPU node of it."""
    return tolerates(pod, need(pool.taints)) and any(_offers(pool, kind, pod) for kind in types_selected(pool, pod))


def _offers(pool: Pool, instance: InstanceType, pod: PodTemplate) -> bool:
    asked = (name for name in pod.extended_resources if resources.is_gpu(name))
    return all(may_advertise(need(pool.labels), instance, name) for name in asked)


def tolerates(pod: PodTemplate, taints: tuple[Taint, ...]) -> bool:
    """Return whether a pod tolerates every taint that would keep it off.

    EKS runs the ExtendedResourceToleration admission plugin: a pod that asks for an extended resource tolerates
    taints with the effect NoSchedule whose key is that resource's name (kubernetes v1.35.0,
    plugin/pkg/admission/extendedresourcetoleration, checked 2026-11-21).
    """
    free = pod.extended_resources
    return all(
        taint.effect not in _KEPT_OFF_BY
        or (taint.key in free and taint.effect is Effect.NO_SCHEDULE)
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
    fixed: Mapping[str, str | None] = {**_labels_of_type(pool, instance), **need(pool.labels)}
    return all(_satisfiable(pool, fixed, requirement) for requirement in wanted)


def _labels_of_type(pool: Pool, instance: InstanceType) -> Mapping[str, str | None]:
    """Return what the type puts on the pool's nodes: Karpenter describes it at length, EKS does not."""
    all_ = instance_labels(instance)
    if pool.kind is PoolKind.NODE_POOL:
        return all_
    return {key: value for key, value in all_.items() if not key.startswith(keys.KARPENTER_AWS_DOMAIN)}


def _satisfiable(pool: Pool, fixed: Mapping[str, str | None], wanted: Requirement) -> bool:
    """Return whether some node of the pool can meet ``wanted``."""
    if wanted.key in fixed:
        return wanted.admits(fixed[wanted.key])
    if wanted.key in {keys.CAPACITY_TYPE, keys.EKS_CAPACITY_TYPE}:
        return wanted.admits_any(_capacity_labels(pool, wanted.key))
    own = [requirement for requirement in need(pool.requirements) if requirement.key == wanted.key]
    offered = [value for requirement in own if requirement.operator == "In" for value in requirement.values]
    if offered:
        return wanted.admits_any([value for value in offered if all(other.admits(value) for other in own)])
    if own or _set_by_others(pool, wanted.key):
        # Any value, or one we cannot see: the pod may name the one it wants, within what the pool forbids.
        return wanted.operator != "DoesNotExist"
    return wanted.admits(None)


def _capacity_labels(pool: Pool, key: str) -> frozenset[str]:
    """Return the values that a label of the capacity type can have: each maker of nodes sets only its own label."""
    capacity_types = need(pool.capacity_types)
    if pool.kind is PoolKind.NODE_POOL:
        return capacity_types if key == keys.CAPACITY_TYPE else frozenset()
    if pool.kind is PoolKind.NODE_GROUP and key == keys.EKS_CAPACITY_TYPE:
        return frozenset(value.upper().replace("-", "_") for value in capacity_types)
    return frozenset()


def _set_by_others(pool: Pool, key: str) -> bool:
    """Return whether nodes carry a label whose value is not in the model: of their place, or set by Karpenter.

    The name of a node pool is not known where Pulumi is to choose it.
    """
    if key in {keys.ZONE, keys.ZONE_ID, keys.REGION, keys.HOSTNAME}:
        return True
    return pool.kind is PoolKind.NODE_POOL and (key == keys.KARPENTER_NODEPOOL or key in keys.KARPENTER_AWS_ALLOWED)
