"""Which pools let a pod on by taints and labels alone, room not looked at.

Whether GPUs are partitioned as the pod needs is looked at all the same, where a label says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement.space import Space
from eks_gpu.planning.placement.taints import Consents, consents_of
from eks_gpu.planning.placement.wishes import Selection, selection
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu.planning.sharing.advertised import may_advertise


class Manner(NamedTuple):
    """What a pod tolerates and selects: all that a door looks at."""

    consents: Consents
    selection: Selection | NotKnown


def manner(pod: PodTemplate) -> Manner:
    """Return what a pod tolerates and selects."""
    return Manner(consents_of(pod), attempt(lambda: selection(need(pod.selector), need(pod.affinity))))


class Door:
    """The taints and labels of a pool, prepared to be asked for many pods."""

    def __init__(self, pool: Pool) -> None:
        """Take a pool. Where nobody knows its zones, it may be in any; what it may buy besides GPUs is not asked."""
        self._pool = pool
        plain = pool if pool.zones is None and not pool.unlisted else replace(pool, unlisted=())
        self._space = Space(replace(plain, zones=None) if isinstance(plain.zones, NotKnown) else plain)
        self._answers: dict[Manner, bool | NotKnown] = {}

    def admits(self, asked: Manner) -> bool | NotKnown:
        """Return whether a pod of such manners is let on, or what would have to be known."""
        found = self._answers.get(asked)
        if found is None:
            found = self._answers[asked] = attempt(self._judge, asked)
        return found

    def _judge(self, asked: Manner) -> bool:
        if asked.consents.untolerated(need(self._pool.taints)) is not None:
            return False
        names = [name for name in need(asked.consents.extended) if resources.is_gpu(name)]
        return any(self._offers(kind, names) for kind in self.selected(need(asked.selection)))

    def _offers(self, kind: InstanceType, names: list[str]) -> bool:
        return all(may_advertise(need(self._pool.labels), kind, name) for name in names)

    def selected(self, wanted: Selection) -> tuple[InstanceType, ...]:
        """Return the GPU instance types whose nodes a selection accepts; raise ``NotKnownError`` if nobody can tell."""
        need(self._pool.types)
        chosen = self._space.selected(wanted)
        if chosen.unclear is not None and chosen.maybe != chosen.sure:
            raise NotKnownError(chosen.unclear)
        return tuple(kind for _, kind in self._space.members(chosen.sure))


def admits(pool: Pool, pod: PodTemplate) -> bool:
    """Return whether taints and labels of ``pool`` let ``pod`` onto a GPU node of it.

    Raises ``NotKnownError`` when nobody can tell.
    """
    return need(Door(pool).admits(manner(pod)))


def types_selected(pool: Pool, pod: PodTemplate) -> tuple[InstanceType, ...]:
    """Return the pool's GPU instance types whose nodes the pod's selector and required affinity accept."""
    return Door(pool).selected(need(manner(pod).selection))
