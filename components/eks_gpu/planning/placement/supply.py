"""What a pool has to give, prepared so that each of many pods is compared with it in a few steps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement.answer import Candidate, Placement
from eks_gpu.planning.placement.column import Chosen
from eks_gpu.planning.placement.demand import Demand, demand
from eks_gpu.planning.placement.limits import Limits
from eks_gpu.planning.placement.node_room import PLENTY, Room, Rooms, rooms
from eks_gpu.planning.placement.refusal import (
    Elsewhere,
    NoPods,
    NotBoughtFor,
    NoTypes,
    Refusal,
    TooLarge,
    Untolerated,
)
from eks_gpu.planning.placement.space import Space
from eks_gpu.planning.placement.taints import Consents
from eks_gpu.planning.placement.wishes import Selection
from eks_gpu.planning.pod_template import PodTemplate, Preference
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, attempt, need


class _Table(NamedTuple):
    """Which types have how much of one resource."""

    most: list[int]
    """The amounts that may be there, from small to large; after them nothing is."""
    masks: list[int]
    """The types that may have at least as much, for each; none for more than the largest."""
    sure: list[int]
    sure_masks: list[int]
    """The same of the amounts that are sure to be there."""
    largest: tuple[int, ...]
    """The places of the types, from the one that may have most."""
    by_type: Sequence[int]
    unclear: NotKnown | None


class _Tolerant(NamedTuple):
    """What those find who consent to the same."""

    types: Chosen | Placement
    """The types whose taints they tolerate, or why there are none."""
    chosen: dict[Selection | NotKnown, Chosen | Placement]
    """Of these, the types that some of them selected, or why there were none."""


class Supply:
    """A pool with the DaemonSets on its nodes."""

    def __init__(self, pool: Pool, daemons: Iterable[PodTemplate] = ()) -> None:
        """Reckon what is left for other pods on each instance type beside ``daemons``, which reach the pool."""
        self.pool = pool
        self.space = Space(pool)
        self._tolerant: dict[Consents, _Tolerant] = {}
        self._answers: dict[tuple[int, int, tuple[Preference, ...]], Placement] = {}
        self._dynamic = pool.kind is PoolKind.NODE_POOL and attempt(lambda: pool.static) is False
        asked = tuple(demand(daemon) for daemon in daemons)
        self._daemons = bool(asked)
        given = [rooms(pool, kind) for kind in self.space.types]
        overhead = [self._overhead(asked, place) for place in range(len(given))]
        self._tables = self._tabulate(given, overhead)
        self._crowded = self._without_place(given, overhead)
        self._limits = Limits(pool, self.space)

    # --- preparation -----------------------------------------------------------------------------------------------

    def _overhead(self, daemons: Sequence[Demand], place: int) -> Mapping[str, int]:
        """Return what DaemonSets take of a node of one type: those that select other types alone take nothing."""
        taken = {resources.PODS: 0}
        for daemon in daemons:
            if isinstance(daemon.selection, Selection):
                chosen = self.space.selected(daemon.selection).maybe
                if chosen and not chosen >> place & 1:
                    continue
            taken[resources.PODS] += 1
            for name, amount in () if isinstance(daemon.asks, NotKnown) else daemon.asks:
                taken[name] = taken.get(name, 0) + amount
        return taken

    def _tabulate(self, given: Sequence[Rooms], overhead: Sequence[Mapping[str, int]]) -> dict[str, _Table]:
        names = {name for each in given for name in each.by_resource}
        return {name: self._table(name, given, overhead) for name in names}

    def _table(self, name: str, given: Sequence[Rooms], overhead: Sequence[Mapping[str, int]]) -> _Table:
        left = [
            _less(each.by_resource.get(name, Room(0, 0)), taken.get(name, 0))
            for each, taken in zip(given, overhead, strict=True)
        ]
        unknown = [PLENTY] if self.space.unknown_types else []
        most, masks = _thresholds([*(room.most for room in left), *unknown])
        sure, sure_masks = _thresholds([room.sure for room in left])
        order = sorted(range(len(left)), key=lambda place: left[place].most, reverse=True)
        unclear = next((each.unclear[name] for each in given if name in each.unclear), None)
        return _Table(most, masks, sure, sure_masks, tuple(order), [room.most for room in left], unclear)

    @staticmethod
    def _without_place(given: Sequence[Rooms], overhead: Sequence[Mapping[str, int]]) -> int:
        """Return the types whose nodes have no place for a pod beside the DaemonSets."""
        crowded = 0
        for place, (each, taken) in enumerate(zip(given, overhead, strict=True)):
            if each.pods <= taken[resources.PODS]:
                crowded |= 1 << place
        return crowded

    # --- the question ----------------------------------------------------------------------------------------------

    def place(self, asked: Demand) -> Placement:
        """Return where a pod can run, or the first reason why not: taints, labels, volumes, room, limits."""
        alike = self._tolerant.get(asked.consents)
        if alike is None:
            alike = self._tolerant[asked.consents] = _Tolerant(self._tolerated(asked.consents), {})
        if isinstance(alike.types, Placement):
            return alike.types
        chosen = self._choose(asked, alike.types, alike.chosen)
        if isinstance(chosen, Placement):
            return chosen
        fitting = self._fit(asked, chosen)
        if isinstance(fitting, Placement):
            return fitting
        return self._conclude(fitting, asked)

    def _choose(
        self, asked: Demand, within: Chosen, before: dict[Selection | NotKnown, Chosen | Placement]
    ) -> Chosen | Placement:
        """Return the types whose labels and places let the pod on; ``before`` is what others were told."""
        chosen = before.get(asked.selection)
        if chosen is None:
            chosen = before[asked.selection] = self._selected(within, asked.selection)
        if asked.anchored is None or isinstance(chosen, Placement):
            return chosen
        anchored = self._selected(chosen, asked.anchored)
        return anchored if isinstance(anchored, Chosen) else Placement(refusal=self._elsewhere(asked))

    def _selected(self, within: Chosen, selection: Selection | NotKnown) -> Chosen | Placement:
        if isinstance(selection, NotKnown):
            return Chosen(0, within.maybe, within.unclear or selection)
        chosen = self.space.selected(selection, within)
        return chosen if chosen.maybe else Placement(refusal=self.space.refusal(selection))

    def _tolerated(self, consents: Consents) -> Chosen | Placement:
        untolerated = attempt(lambda: consents.untolerated(need(self.pool.taints)))
        if untolerated is None or isinstance(untolerated, NotKnown):
            everything = self.space.all
            if not everything.maybe:
                return Placement(refusal=NoTypes())
            return everything if untolerated is None else Chosen(0, everything.maybe, untolerated)
        return Placement(refusal=Untolerated(str(untolerated)))

    def _elsewhere(self, asked: Demand) -> Refusal:
        for volume, own in asked.anchors:
            if not self.space.selected(own).maybe:
                return Elsewhere(volume, str(self.space.refusal(own)))
        volume, own = asked.anchors[0]
        wanted = " or ".join(" and ".join(map(str, wishes)) for wishes in own.alternatives)
        return Elsewhere(volume, f"requires {wanted}, which does not go with what the pod requires itself")

    def _fit(self, asked: Demand, chosen: Chosen) -> Chosen | Placement:
        """Return those of the types that have room."""
        if isinstance(asked.asks, NotKnown):
            return Chosen(0, chosen.maybe, chosen.unclear or asked.asks)
        sure, maybe, unclear = chosen
        for resource, amount in asked.asks:
            table = self._tables.get(resource)
            if table is None:
                refusal = self._unheard_of(resource, amount, maybe)
                if refusal is not None:
                    return Placement(refusal=refusal)
                sure = 0
                unclear = unclear or NotKnown(self.pool.urn, resource, "whether its nodes have any is not known")
                continue
            left = maybe & table.masks[bisect_left(table.most, amount)]
            if not left:
                return Placement(refusal=self._too_large(table, resource, amount, maybe))
            maybe = left
            enough = table.sure_masks[bisect_left(table.sure, amount)]
            sure &= enough
            if unclear is None and maybe & ~enough:
                unclear = table.unclear
        return Chosen(sure, maybe, unclear)

    def _unheard_of(self, resource: str, amount: int, maybe: int) -> Refusal | None:
        """Return why no node has a resource that is in no table; None where some may have it all the same."""
        if maybe & self.space.unlisted or resource in resources.NOT_COUNTED:
            return None
        if self._dynamic:
            return NotBoughtFor(resource, amount)
        if resources.is_gpu(resource):
            return TooLarge(resource, amount, 0, self._first(maybe).name, after_daemons=False)
        return None

    def _too_large(self, table: _Table, resource: str, amount: int, maybe: int) -> Refusal:
        best = next(place for place in table.largest if maybe >> place & 1)
        room, name = table.by_type[best], self.space.types[best].name
        return TooLarge(resource, amount, room, name, self._daemons and resource not in _NEVER_TAKEN)

    def _first(self, mask: int) -> InstanceType:
        return next(kind for _, kind in self.space.members(mask))

    def _conclude(self, fitting: Chosen, asked: Demand) -> Placement:
        """Return the answer for the types that have room, once crowding, limits and minValues are looked at."""
        key = fitting.sure, fitting.maybe, asked.preferred
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._answer(fitting, asked)
        return found

    def _answer(self, fitting: Chosen, asked: Demand) -> Placement:
        free = fitting.maybe & ~self._crowded
        if not free:
            kind = self._first(fitting.maybe)
            return Placement(refusal=NoPods(kind.name, rooms(self.pool, kind).pods))
        within = self._limits.within(Chosen(fitting.sure & free, free, fitting.unclear), needs_gpu=asked.asks_gpu)
        if not isinstance(within, Chosen):
            return Placement(refusal=within)
        if not within.sure:
            return Placement(unclear=within.unclear or _UNTOLD)
        scores = self.space.scores(asked.preferred)
        found = (Candidate(kind, scores[place]) for place, kind in self.space.members(within.sure))
        return Placement(tuple(sorted(found, key=lambda candidate: candidate.rank)))


_NEVER_TAKEN: Final = frozenset({resources.GPU, resources.GPU_SHARED, resources.EFA})
_UNTOLD: Final = NotKnown("", "instance types", "which of them would do is not known")


def _less(room: Room, taken: int) -> Room:
    return Room(max(0, room.sure - taken), max(0, room.most - taken))


def _thresholds(amounts: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the distinct amounts from small to large, and which types have at least as much; none beyond them."""
    steps = sorted(set(amounts))
    masks = []
    for step in steps:
        mask = 0
        for place, amount in enumerate(amounts):
            if amount >= step:
                mask |= 1 << place
        masks.append(mask)
    return steps, [*masks, 0]
