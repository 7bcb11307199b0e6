"""Which pools let a pod on by taints and labels alone, room not looked at.

Whether GPUs are partitioned as the pod needs is looked at all the same, where a label says so.
"""

from __future__ import annotations

from dataclasses import replace

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.advertised import may_advertise
from eks_gpu.planning.placement.space import Chosen, Space
from eks_gpu.planning.placement.taints import tolerates
from eks_gpu.planning.placement.wishes import selection
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, need


def admits(pool: Pool, pod: PodTemplate) -> bool:
    """Return whether taints and labels of ``pool`` let ``pod`` onto a GPU node of it."""
    return tolerates(pod, need(pool.taints)) and any(_offers(pool, kind, pod) for kind in types_selected(pool, pod))


def _offers(pool: Pool, instance: InstanceType, pod: PodTemplate) -> bool:
    asked = (name for name in pod.extended_resources if resources.is_gpu(name))
    return all(may_advertise(need(pool.labels), instance, name) for name in asked)


def types_selected(pool: Pool, pod: PodTemplate) -> tuple[InstanceType, ...]:
    """Return the pool's GPU instance types whose nodes the pod's selector and required affinity accept.

    Where nobody knows a pool's zones, it may be in any.
    """
    need(pool.types)
    somewhere = replace(pool, zones=None, unlisted=()) if isinstance(pool.zones, NotKnown) or pool.unlisted else pool
    space = Space(somewhere)
    chosen = space.selected(selection(need(pod.selector), need(pod.affinity)))
    return tuple(kind for _, kind in space.members(_told(chosen)))


def _told(chosen: Chosen) -> int:
    if chosen.unclear and chosen.maybe != chosen.sure:
        raise NotKnownError(chosen.unclear)
    return chosen.sure
