"""The labels that nodes of a pool can have, type by type, and which types can meet a pod's wishes.

Sets of types are numbers: bit ``n`` stands for the pool's type ``n``. One bit more stands for what the pool may buy and
nobody here knows: of such a type everything may be true and nothing is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from eks_gpu.facts import labels as keys
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement.refusal import Contradictory, Unlabelled
from eks_gpu.planning.placement.wishes import Selection, Wish, wishes
from eks_gpu.planning.pod_template import Preference
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.requirements import Requirement

_PLACES: Final = frozenset({keys.ZONE_ID, keys.REGION, keys.HOSTNAME})
"""Every node has them, with values that are not in the model."""
_ANY: Final = "any"
"""A label has values, and nobody says which."""


class Chosen(NamedTuple):
    """Which types meet something."""

    sure: int
    """The types that do."""
    maybe: int
    """Those and the ones of which nobody can tell."""
    unclear: NotKnown | None = None
    """What would have to be known."""


class Space:
    """What the nodes of a pool offer by label."""

    def __init__(self, pool: Pool) -> None:
        """Take what a pool says about labels, apart from its taints and its room."""
        self.types: tuple[InstanceType, ...] = () if isinstance(pool.types, NotKnown) else pool.types
        self.unknown_types: NotKnown | None = _unknown_types(pool)
        known = (1 << len(self.types)) - 1
        self.all = Chosen(known, known | (self.unlisted if self.unknown_types else 0), self.unknown_types)
        """All its types."""
        self._pool = pool
        self._described = tuple(_labels_of_type(pool, kind) for kind in self.types)
        self._keys: frozenset[str] = frozenset(key for described in self._described for key in described)
        self._answers: dict[Wish, Chosen] = {}
        self._selected: dict[Selection, Chosen] = {}
        self._offers: dict[str, frozenset[str] | str | NotKnown] = {}
        self._refusals: dict[tuple[Wish, int], Unlabelled] = {}
        self._scores: dict[tuple[Preference, ...], tuple[int, ...]] = {}

    @property
    def unlisted(self) -> int:
        """The bit of what is not known."""
        return 1 << len(self.types)

    def members(self, mask: int) -> Iterator[tuple[int, InstanceType]]:
        """Yield the known types in a set, with their places."""
        return ((place, kind) for place, kind in enumerate(self.types) if mask >> place & 1)

    # --- selections ------------------------------------------------------------------------------------------------

    def selected(self, selection: Selection) -> Chosen:
        """Return the types of which a node can be what a selection wants."""
        found = self._selected.get(selection)
        if found is None:
            found = self._selected[selection] = self._select(selection)
        return found

    def _select(self, selection: Selection) -> Chosen:
        sure, maybe, unclear = 0, 0, self.unknown_types
        for each in selection.alternatives:
            alternative = self._together(each)
            sure |= alternative.sure
            maybe |= alternative.maybe
            unclear = unclear or alternative.unclear
        return Chosen(sure, maybe, unclear)

    def _together(self, wanted: Iterable[Wish]) -> Chosen:
        sure, maybe, unclear = self.all
        for wish in wanted:
            answer = self.answer(wish)
            sure &= answer.sure
            maybe &= answer.maybe
            unclear = unclear or answer.unclear
            if not maybe:
                break
        return Chosen(sure, maybe, unclear)

    def answer(self, wish: Wish) -> Chosen:
        """Return the types of which a node can meet all conditions on one label."""
        found = self._answers.get(wish)
        if found is None:
            found = self._answers[wish] = self._meet(wish)
        return found

    def _meet(self, wish: Wish) -> Chosen:
        labels = self._pool.labels
        if not isinstance(labels, NotKnown) and wish.key in labels:
            return self._everywhere(wish.admits(labels[wish.key]))
        if wish.key in self._keys:
            return self._by_type(wish)
        if isinstance(labels, NotKnown) and not self._is_of_place(wish.key):
            return Chosen(0, self.all.maybe, labels)
        offered = self._offered(wish.key)
        if isinstance(offered, NotKnown):
            return Chosen(0, self.all.maybe, offered)
        if offered == _ANY:
            absent = self._may_be_absent(wish.key) and wish.admits(None)
            return self._everywhere(absent or wish.admits_some(self._own(wish.key)))
        return self._everywhere(any(wish.admits(value) for value in offered) if offered else wish.admits(None))

    def _everywhere(self, holds: bool) -> Chosen:
        return self.all if holds else Chosen(0, 0)

    def _by_type(self, wish: Wish) -> Chosen:
        met = 0
        for place, described in enumerate(self._described):
            if wish.admits(described.get(wish.key)):
                met |= 1 << place
        return Chosen(met, met | (self.all.maybe & self.unlisted), self.unknown_types)

    # --- what is offered -------------------------------------------------------------------------------------------

    def _offered(self, key: str) -> frozenset[str] | str | NotKnown:
        """Return the values a label can have that no type fixes: none, some, or any."""
        found = self._offers.get(key)
        if found is None:
            found = self._offers[key] = self._find_offer(key)
        return found

    def _find_offer(self, key: str) -> frozenset[str] | str | NotKnown:
        pool = self._pool
        if key in {keys.CAPACITY_TYPE, keys.EKS_CAPACITY_TYPE}:
            return _capacity_labels(pool, key)
        if isinstance(pool.requirements, NotKnown):
            return pool.requirements
        own = self._own(key)
        if key == keys.ZONE:
            return self._zones(own)
        listed = [value for requirement in own if requirement.operator == "In" for value in requirement.values]
        if listed:
            return frozenset(value for value in listed if all(requirement.admits(value) for requirement in own))
        if any(requirement.operator == "DoesNotExist" for requirement in own):
            return frozenset()
        return _ANY if own or _set_by_others(pool, key) else frozenset()

    def _zones(self, own: tuple[Requirement, ...]) -> frozenset[str] | str | NotKnown:
        zones = self._pool.zones
        listed = [value for requirement in own if requirement.operator == "In" for value in requirement.values]
        if isinstance(zones, frozenset):
            return frozenset(zone for zone in zones if all(requirement.admits(zone) for requirement in own)) or _NOWHERE
        if listed:
            return frozenset(zone for zone in listed if all(requirement.admits(zone) for requirement in own))
        return _ANY if zones is None else zones

    def _own(self, key: str) -> tuple[Requirement, ...]:
        requirements = self._pool.requirements
        if isinstance(requirements, NotKnown):
            return ()
        return tuple(requirement for requirement in requirements if requirement.key == key)

    def _may_be_absent(self, key: str) -> bool:
        """Return whether a node may also be without a label that may have any value."""
        own = self._own(key)
        if not own:
            return keys.appears_after_boot(key)
        return not _set_by_others(self._pool, key) and all(each.operator == "NotIn" for each in own)

    @staticmethod
    def _is_of_place(key: str) -> bool:
        return key in _PLACES or key in {keys.ZONE, keys.CAPACITY_TYPE, keys.EKS_CAPACITY_TYPE}

    def values(self, key: str, mask: int) -> frozenset[str]:
        """Return the known values of a label on nodes of some types."""
        pool = self._pool
        if not isinstance(pool.labels, NotKnown) and key in pool.labels:
            return frozenset({pool.labels[key]})
        if key in self._keys:
            found = (self._described[place].get(key) for place, _ in self.members(mask))
            return frozenset(value for value in found if value is not None)
        offered = self._offered(key)
        return offered if isinstance(offered, frozenset) else frozenset()

    # --- refusals and preferences ----------------------------------------------------------------------------------

    def refusal(self, selection: Selection) -> Unlabelled | Contradictory:
        """Return why no type is selected: the first wish of the first alternative that nothing here meets."""
        for each in selection.alternatives:
            unmet = next((wish for wish in each if not self.answer(wish).maybe), None)
            if unmet is not None:
                return self._unlabelled(unmet, len(selection.alternatives) - 1)
        return Contradictory(selection)

    def _unlabelled(self, wish: Wish, others: int) -> Unlabelled:
        found = self._refusals.get((wish, others))
        if found is None:
            offered = tuple(sorted(self.values(wish.key, self.all.maybe), key=_naturally))
            later = self._pool.kind is PoolKind.NODE_POOL and keys.appears_after_boot(wish.key) and wish.asks
            found = self._refusals[wish, others] = Unlabelled(wish, offered, later, others)
        return found

    def scores(self, preferences: tuple[Preference, ...]) -> tuple[int, ...]:
        """Return how much of what a pod prefers each type can have: the sum of the weights."""
        found = self._scores.get(preferences)
        if found is None:
            met = [(each.weight, self._together(wishes(each.requirements)).sure) for each in preferences]
            found = tuple(sum(weight for weight, mask in met if mask >> n & 1) for n in range(len(self.types)))
            self._scores[preferences] = found
        return found


_NOWHERE: Final = frozenset({"no zone"})
"""A pool whose subnets and requirements have no zone in common makes no node anywhere."""


def _unknown_types(pool: Pool) -> NotKnown | None:
    if isinstance(pool.types, NotKnown):
        return pool.types
    if pool.unlisted:
        return NotKnown(pool.urn, "instance types", f"nothing is known of {', '.join(pool.unlisted)}")
    return None


def _labels_of_type(pool: Pool, instance: InstanceType) -> Mapping[str, str | None]:
    """Return what the type puts on the pool's nodes: Karpenter describes it at length, EKS does not."""
    all_ = instance_labels(instance)
    if pool.kind is PoolKind.NODE_POOL:
        return all_
    return {key: value for key, value in all_.items() if not key.startswith(keys.KARPENTER_AWS_DOMAIN)}


def _capacity_labels(pool: Pool, key: str) -> frozenset[str] | NotKnown:
    """Return the values that a label of the capacity type can have: each maker of nodes sets only its own label."""
    capacity_types = pool.capacity_types
    if pool.kind is PoolKind.NODE_POOL:
        return capacity_types if key == keys.CAPACITY_TYPE else frozenset()
    if pool.kind is PoolKind.NODE_GROUP and key == keys.EKS_CAPACITY_TYPE:
        if isinstance(capacity_types, NotKnown):
            return capacity_types
        return frozenset(value.upper().replace("-", "_") for value in capacity_types)
    return frozenset()


def _set_by_others(pool: Pool, key: str) -> bool:
    """Return whether nodes carry a label whose value is not in the model.

    It is of their place, or set by Karpenter, EKS, or what runs on the node: then Karpenter does not know it when it
    is to buy one. The name of a node pool or group is not known where Pulumi is to choose it.
    """
    if key in _PLACES:
        return True
    if pool.kind is PoolKind.NODE_POOL:
        return key == keys.KARPENTER_NODEPOOL or key in keys.KARPENTER_AWS_ALLOWED
    by_eks = pool.kind is PoolKind.NODE_GROUP and key.startswith(f"{keys.EKS_AUTO_DOMAIN}/")
    return by_eks or keys.appears_after_boot(key)


def _naturally(value: str) -> tuple[bool, int, str]:
    return (True, int(value), "") if value.isdecimal() else (False, 0, value)
