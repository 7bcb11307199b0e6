"""Where pods find room: every pool is prepared once, whatever it is called, and each pod is compared with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement import Demand, Door, Manner, Placement, Supply, demand, manner
from eks_gpu.planning.placement.wishes import Selection
from eks_gpu.planning.pod_template import PodTemplate, VolumeAffinity
from eks_gpu.planning.pool import Kubelet, Overlay, Pool
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu.planning.requirements import Requirement

_NAMES: Final = frozenset({labels.KARPENTER_NODEPOOL, labels.EKS_NODE_GROUP})
"""Labels whose value is the pool's own name."""


class Places:
    """The pods and pools of a stack, prepared for the question which fits where."""

    def __init__(
        self,
        pods: Iterable[PodTemplate],
        daemons: Callable[[Pool], tuple[PodTemplate, ...]],
        volumes: Callable[[PodTemplate], tuple[VolumeAffinity, ...] | NotKnown],
    ) -> None:
        """Take all pods, and where to ask which DaemonSets reach a pool and where a pod's volumes are."""
        self._pods = tuple(pods)
        self._daemons = daemons
        self._volumes = volumes
        self._demands: dict[tuple[str, str], Demand] = {}
        self._supplies: dict[str, Supply] = {}
        self._alike: dict[Hashable, Supply] = {}
        self._manners: dict[tuple[str, str], Manner] = {}
        self._doors: dict[str, Door] = {}
        self._doors_alike: dict[Hashable, Door] = {}

    def lets_on(self, pod: PodTemplate, pool: Pool) -> bool:
        """Return whether taints and labels of a pool are known to let a pod onto a GPU node of it."""
        return self.door(pool).admits(self.manner(pod)) is True

    def lets_in(self, pod: PodTemplate, pool: Pool) -> bool:
        """Return the same where it must be known; raise ``NotKnownError`` where it is not."""
        return need(self.door(pool).admits(self.manner(pod)))

    def types_selected(self, pod: PodTemplate, pool: Pool) -> tuple[InstanceType, ...]:
        """Return a pool's GPU instance types whose nodes the pod's selector and required affinity accept.

        Raises ``NotKnownError`` when nobody can tell.
        """
        return self.door(pool).selected(need(self.manner(pod).selection))

    def manner(self, pod: PodTemplate) -> Manner:
        """Return what a pod tolerates and selects."""
        key = pod.urn, pod.path
        found = self._manners.get(key)
        if found is None:
            found = self._manners[key] = manner(pod)
        return found

    def door(self, pool: Pool) -> Door:
        """Return the taints and labels of a pool; pools that differ in nothing but their names share one."""
        found = self._doors.get(pool.urn)
        if found is None:
            content = self._content(pool)
            found = self._doors_alike.get(content)
            if found is None:
                found = self._doors_alike[content] = Door(pool)
            self._doors[pool.urn] = found
        return found

    def placed(self, pod: PodTemplate, pool: Pool) -> Placement:
        """Return where in a pool a pod can run, or the first reason why not, or what would have to be known."""
        return self._asked(self.demand(pod), pool)

    def placed_without(self, pod: PodTemplate, pool: Pool, keys: frozenset[str]) -> Placement:
        """Return the same for a pod that requires nothing of some labels."""
        asked = self.demand(pod)
        selection, anchored = (
            _without(asked.selection, keys),
            None if asked.anchored is None else _without(asked.anchored, keys),
        )
        return self._asked(replace(asked, selection=selection, anchored=anchored), pool)

    def _asked(self, asked: Demand, pool: Pool) -> Placement:
        supply = self.supply(pool)
        found = supply.place(asked)
        unclear = found.unclear
        if unclear is not None and pool.urn != supply.pool.urn and unclear.source in _sources(supply.pool):
            return replace(found, unclear=replace(unclear, source=pool.urn))
        return found

    def demand(self, pod: PodTemplate) -> Demand:
        """Return what a pod asks of a node."""
        key = pod.urn, pod.path
        found = self._demands.get(key)
        if found is None:
            found = self._demands[key] = demand(replace(pod, volume_affinity=self._volumes(pod)))
        return found

    def supply(self, pool: Pool) -> Supply:
        """Return what a pool has to give; those that differ in nothing but their names share one."""
        found = self._supplies.get(pool.urn)
        if found is None:
            daemons = self._daemons(pool)
            key = self._content(pool), frozenset(map(id, daemons))
            found = self._alike.get(key)
            if found is None:
                found = self._alike[key] = Supply(pool, daemons)
            self._supplies[pool.urn] = found
        return found

    def distinct(self, pools: Iterable[Pool]) -> tuple[Pool, ...]:
        """Return one of each lot of pools that differ in nothing but their names."""
        return tuple({id(self.supply(pool)): pool for pool in reversed(tuple(pools))}.values())[::-1]

    @cached_property
    def _names_matter(self) -> bool:
        """Whether some pod chooses a pool by its name."""
        return any(_chooses_by_name(pod) for pod in self._pods)

    def _content(self, pool: Pool) -> Hashable:
        """Return what makes a pool what it is."""
        unnamed = pool.labels
        if not isinstance(unnamed, NotKnown) and not self._names_matter:
            unnamed = {key: "" if key in _NAMES else value for key, value in unnamed.items()}
        types = pool.types if isinstance(pool.types, NotKnown) else tuple(kind.name for kind in pool.types)
        image = pool.image if isinstance(pool.image, NotKnown) else pool.image.family
        plain = (pool.requirements, pool.taints, pool.capacity_types, pool.size, pool.zones, pool.volumes)
        disks = (pool.disk_size_gib, pool.instance_store_raid0, image)
        parts = (types, *plain, *disks, _items(unnamed), _items(pool.limits), _of_kubelet(pool.kubelet), pool.split)
        return (pool.kind, pool.unlisted, *map(_wherever, parts), _of_overlays(pool.overlays))


def _sources(pool: Pool) -> frozenset[str]:
    """Return the resources that a pool is read from, and no resource."""
    return frozenset({"", pool.urn, pool.template if isinstance(pool.template, str) else ""})


def _wherever(part: Hashable) -> Hashable:
    """Return what is not known without whose it is: copies of a pool do not know the same things."""
    return ("not known", part.path, part.reason) if isinstance(part, NotKnown) else part


def _of_overlays(overlays: tuple[Overlay, ...] | NotKnown) -> Hashable:
    if isinstance(overlays, NotKnown):
        return overlays
    return tuple((overlay.requirements, _items(overlay.capacity)) for overlay in overlays)


def _without(selection: Selection | NotKnown, keys: frozenset[str]) -> Selection | NotKnown:
    return selection if isinstance(selection, NotKnown) else selection.without(keys)


def _items(mapping: Mapping[str, str] | NotKnown) -> Hashable:
    return mapping if isinstance(mapping, NotKnown) else frozenset(mapping.items())


def _of_kubelet(kubelet: Kubelet | NotKnown) -> Hashable:
    if isinstance(kubelet, NotKnown):
        return kubelet
    reserved = (kubelet.kube_reserved, kubelet.system_reserved, kubelet.eviction_hard)
    return (*map(_items, reserved), kubelet.max_pods)


def _chooses_by_name(pod: PodTemplate) -> bool:
    return any(each.key in _NAMES and each.values for each in _wanted(pod))


def _wanted(pod: PodTemplate) -> Iterator[Requirement]:
    """Yield whatever a pod requires or prefers of labels, as far as it is known."""
    if not isinstance(pod.selector, NotKnown):
        yield from pod.selector
    for term in () if isinstance(pod.affinity, NotKnown) else pod.affinity:
        yield from term
    for preference in () if isinstance(pod.preferred, NotKnown) else pod.preferred:
        yield from preference.requirements
