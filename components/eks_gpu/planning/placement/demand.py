"""What a pod asks of a node: reckoned once for each pod, and compared with every pool."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.placement.taints import Consents, consents_of
from eks_gpu.planning.placement.wishes import Selection, selection
from eks_gpu.planning.pod_template import Container, PodTemplate, Preference
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need

Amounts = Mapping[str, int]
"""Resource to how much: millicores of CPU, bytes of memory and storage, pieces of anything else."""

_MILLICORES: Final = 1000
_WHOLE: Final = frozenset({resources.CPU, resources.MEMORY})
"""What a pod may ask for as a whole; huge pages, too."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a pod asks of a node, hashable, so that pods that ask the same are told to."""

    consents: Consents
    selection: Selection | NotKnown
    """What it requires of labels."""
    anchored: Selection | NotKnown | None
    """The same with where its volumes are; None for a pod whose volumes are anywhere."""
    anchors: tuple[tuple[str, Selection], ...]
    """Each volume that is somewhere, with what it requires of labels."""
    preferred: tuple[Preference, ...]
    asks: tuple[tuple[str, int], ...] | NotKnown
    """Resources and how much of each, above zero: GPUs first, CPU and memory next, the rest by name."""

    @property
    def asks_gpu(self) -> bool:
        """Whether it is known to ask for a GPU or a part of one, by the name of a resource."""
        return not isinstance(self.asks, NotKnown) and any(resources.is_gpu(name) for name, _ in self.asks)


def demand(pod: PodTemplate) -> Demand:
    """Return what a pod asks of a node. What cannot be read stands in its place as not known."""
    anchored, anchors = _anchors(pod)
    preferred = attempt(need, pod.preferred)
    return Demand(
        consents=consents_of(pod),
        selection=attempt(lambda: selection(need(pod.selector), need(pod.affinity))),
        anchored=anchored,
        anchors=anchors,
        preferred=() if isinstance(preferred, NotKnown) else preferred,
        asks=attempt(lambda: _in_order(requests(pod))),
    )


def _anchors(pod: PodTemplate) -> tuple[Selection | NotKnown | None, tuple[tuple[str, Selection], ...]]:
    volumes = pod.volume_affinity
    if isinstance(volumes, NotKnown):
        return volumes, ()
    if not volumes:
        return None, ()
    terms = [volume.terms for volume in volumes]
    together = attempt(lambda: selection(need(pod.selector), need(pod.affinity), *terms))
    return together, tuple((volume.volume, selection((), volume.terms)) for volume in volumes)


def requests(pod: PodTemplate) -> Amounts:
    """Return what the scheduler reserves for a pod.

    That is the larger of what its containers and sidecars ask together and what its hungriest init container asks
    beside the sidecars started before it, and what its runtime takes besides. What is limited and not requested is
    requested as much as it is limited. Raises ``NotKnownError`` for what is not known.
    """
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in need(pod.init_containers):
        asked = asks_of(container)
        if need(container.restarts):
            sidecars = _sum(sidecars, asked)
            peak = _larger(peak, sidecars)
        else:
            peak = _larger(peak, _sum(sidecars, asked))
    total = sidecars
    for container in need(pod.containers):
        total = _sum(total, asks_of(container))
    whole = {name: amount for name, amount in _amounts(need(pod.pod_requests)).items() if _may_be_whole(name)}
    return _sum({**_larger(total, peak), **whole}, _amounts(need(pod.overhead)))


def asks_of(container: Container) -> dict[str, int]:
    """Return what one container asks for."""
    return _amounts({**need(container.limits), **need(container.requests)})


def _may_be_whole(name: str) -> bool:
    return name in _WHOLE or name.startswith(resources.HUGE_PAGES_PREFIX)


def _amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    found = {name: in_units(name, text) for name, text in quantities.items()}
    return {name: amount for name, amount in found.items() if amount is not None}


@lru_cache(16384)
def in_units(resource: str, text: str) -> int | None:
    """Return a Kubernetes quantity of a resource in the unit that it is reckoned in; None for what is no quantity."""
    amount = quantity(text)
    if amount is None:
        return None
    return math.ceil(amount * _MILLICORES if resource == resources.CPU else amount)


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    total = dict(one)
    for name, amount in other.items():
        total[name] = total.get(name, 0) + amount
    return total


def _larger(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    total = dict(one)
    for name, amount in other.items():
        total[name] = max(total.get(name, 0), amount)
    return total


def _in_order(asked: Amounts) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(((name, amount) for name, amount in asked.items() if amount > 0), key=_rank))


def _rank(asked: tuple[str, int]) -> tuple[int, str]:
    name, _ = asked
    if resources.is_gpu(name):
        return 0, name
    return _RANKS.get(name, len(_RANKS) + 1), name


_RANKS: Final = {resources.CPU: 1, resources.MEMORY: 2, resources.EPHEMERAL_STORAGE: 3}
