"""What nodes of a pool carry under a label: as its labels, its types, its requirements and its place say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eks_gpu.facts import labels as keys
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement.column import ByType, Column, Content, OneOf, SomeValue, Untold, column
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.requirements import Requirement

_PLACES: Final = frozenset({keys.ZONE_ID, keys.REGION, keys.HOSTNAME})
"""Every node has them, with values that are not in the model."""
_OF_PLACE: Final = _PLACES | {keys.ZONE, keys.CAPACITY_TYPE, keys.EKS_CAPACITY_TYPE}
"""No pool can set them as labels of its own."""
_NOWHERE: Final = frozenset({"no zone"})
"""A pool whose subnets and requirements have no zone in common makes no node anywhere."""
_ABSENT: Final = OneOf(frozenset())


class Carried:
    """What nodes of a pool carry by label."""

    def __init__(self, pool: Pool) -> None:
        """Take what a pool says about labels."""
        self._pool = pool
        kinds: tuple[InstanceType, ...] = () if isinstance(pool.types, NotKnown) else pool.types
        self._described = tuple(_labels_of_type(pool, kind) for kind in kinds)
        self._of_types = frozenset(key for described in self._described for key in described)
        self._said = self._spoken_of()
        self._absent = column(_ABSENT)
        self.columns: dict[str, Column] = {}
        """What was asked for before, for those in a hurry."""

    def _spoken_of(self) -> frozenset[str] | None:
        """Return the labels that the pool says anything about; None where that is not known."""
        labels, requirements = self._pool.labels, self._pool.requirements
        if isinstance(labels, NotKnown) or isinstance(requirements, NotKnown):
            return None
        return _OF_PLACE.union(self._of_types, labels, (requirement.key for requirement in requirements))

    def under(self, key: str) -> Column:
        """Return what nodes carry under a label."""
        if self._said is not None and key not in self._said and not _set_by_others(self._pool.kind, key):
            return self._absent
        found = self.columns.get(key)
        if found is None:
            found = self.columns[key] = column(self._find(key))
        return found

    def _find(self, key: str) -> Content:
        labels = self._pool.labels
        if not isinstance(labels, NotKnown) and key in labels:
            return OneOf(frozenset({labels[key]}))
        if key in self._of_types:
            return ByType(tuple(described.get(key) for described in self._described))
        if isinstance(labels, NotKnown) and key not in _OF_PLACE:
            return Untold(labels)
        if key in _CAPACITY_LABEL.values():
            return _capacity_types(self._pool, key)
        if isinstance(self._pool.requirements, NotKnown):
            return Untold(self._pool.requirements)
        own = tuple(requirement for requirement in self._pool.requirements if requirement.key == key)
        return self._zones(own) if key == keys.ZONE else _required(key, own)

    def _zones(self, own: tuple[Requirement, ...]) -> Content:
        zones = self._pool.zones
        if isinstance(zones, frozenset):
            return OneOf(_admitted(own, zones) or _NOWHERE)
        listed = _listed(own)
        if listed:
            return OneOf(_admitted(own, listed))
        return SomeValue(own, may_be_absent=False) if zones is None else Untold(zones)


def _required(key: str, own: tuple[Requirement, ...]) -> Content:
    """Return what nodes carry under a label of which a pool requires something, or which others set."""
    listed = _listed(own)
    if listed:
        return OneOf(_admitted(own, listed))
    if any(requirement.operator == "DoesNotExist" for requirement in own):
        return _ABSENT
    unnamed = all(requirement.operator == "NotIn" for requirement in own)
    return SomeValue(own, unnamed if own else keys.appears_after_boot(key))


def _listed(own: tuple[Requirement, ...]) -> frozenset[str]:
    return frozenset(value for requirement in own if requirement.operator == "In" for value in requirement.values)


def _admitted(own: tuple[Requirement, ...], values: frozenset[str]) -> frozenset[str]:
    return frozenset(value for value in values if all(requirement.admits(value) for requirement in own))


def _labels_of_type(pool: Pool, instance: InstanceType) -> Mapping[str, str | None]:
    """Return what the type puts on the pool's nodes: Karpenter describes it at length, EKS does not."""
    all_ = instance_labels(instance)
    if pool.kind is PoolKind.NODE_POOL:
        return all_
    return {key: value for key, value in all_.items() if not key.startswith(keys.KARPENTER_AWS_DOMAIN)}


def _capacity_types(pool: Pool, key: str) -> Content:
    """Return the values that a label of the capacity type can have: each maker of nodes sets only its own label."""
    if key != _CAPACITY_LABEL.get(pool.kind):
        return _ABSENT
    if isinstance(pool.capacity_types, NotKnown):
        return Untold(pool.capacity_types)
    if key == keys.CAPACITY_TYPE:
        return OneOf(pool.capacity_types)
    return OneOf(frozenset(value.upper().replace("-", "_") for value in pool.capacity_types))


_CAPACITY_LABEL: Final = {PoolKind.NODE_POOL: keys.CAPACITY_TYPE, PoolKind.NODE_GROUP: keys.EKS_CAPACITY_TYPE}


def _set_by_others(kind: PoolKind, key: str) -> bool:
    """Return whether nodes carry a label whose value is not in the model.

    It is of their place, or set by Karpenter, EKS, or what runs on the node: then Karpenter does not know it when it
    is to buy one. The name of a node pool or group is not known where Pulumi is to choose it.
    """
    if key in _PLACES:
        return True
    if kind is PoolKind.NODE_POOL:
        return key == keys.KARPENTER_NODEPOOL or key in keys.KARPENTER_AWS_ALLOWED
    by_eks = kind is PoolKind.NODE_GROUP and key.startswith(f"{keys.EKS_AUTO_DOMAIN}/")
    return by_eks or keys.appears_after_boot(key)
