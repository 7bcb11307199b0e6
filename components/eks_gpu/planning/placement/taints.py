"""Taints and tolerations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eks_gpu.facts.taints import Effect, Taint
from eks_gpu.planning.pod_template import PodTemplate, Toleration
from eks_gpu.planning.reading import NotKnown, attempt, need

_KEPT_OFF_BY: Final = frozenset({Effect.NO_SCHEDULE, Effect.NO_EXECUTE})
_KEPT: Final = 65536


@dataclass(frozen=True, eq=False, slots=True)
class Consents:
    """What a pod consents to. Two pods that consent to the same share one, so that it is quick to look up."""

    tolerations: tuple[Toleration, ...] | NotKnown
    extended: frozenset[str] | NotKnown
    """The extended resources it asks for: EKS runs the ExtendedResourceToleration admission plugin, by which a pod
    tolerates taints with the effect NoSchedule whose key is the name of one (kubernetes v1.35.0,
    plugin/pkg/admission/extendedresourcetoleration, checked 2026-11-21)."""

    def untolerated(self, taints: Iterable[Taint]) -> Taint | None:
        """Return the first of the taints that keeps the pod off; raise ``NotKnownError`` when that cannot be told."""
        repelling = (taint for taint in taints if taint.effect in _KEPT_OFF_BY)
        return next((taint for taint in repelling if not self._tolerates(taint)), None)

    def _tolerates(self, taint: Taint) -> bool:
        if not isinstance(self.tolerations, NotKnown) and any(_consents(each, taint) for each in self.tolerations):
            return True
        if taint.effect is Effect.NO_SCHEDULE and "/" in taint.key and taint.key in need(self.extended):
            return True
        need(self.tolerations)
        return False


@lru_cache(_KEPT)
def _consents_to(tolerations: tuple[Toleration, ...] | NotKnown, extended: frozenset[str] | NotKnown) -> Consents:
    return Consents(tolerations, extended)


def consents_of(pod: PodTemplate) -> Consents:
    """Return what a pod consents to."""
    return _consents_to(pod.tolerations, attempt(lambda: pod.extended_resources))


def tolerates(pod: PodTemplate, taints: Iterable[Taint]) -> bool:
    """Return whether a pod tolerates every taint that would keep it off."""
    return consents_of(pod).untolerated(taints) is None


def _consents(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in {None, "", taint.effect.value}:
        return False
    if toleration.operator == "Exists":
        return toleration.key in {None, "", taint.key}
    return toleration.key == taint.key and toleration.value == taint.value
