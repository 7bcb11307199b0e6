"""Which instance types of a pool can meet a pod's wishes for labels.

Sets of types are numbers: bit ``n`` stands for the pool's type ``n``. One bit more stands for what the pool may buy and
nobody here knows: of such a type everything may be true and nothing is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement.carried import Carried
from eks_gpu.planning.placement.column import Chosen
from eks_gpu.planning.placement.refusal import Contradictory, Unlabelled
from eks_gpu.planning.placement.wishes import Selection, Wish, wishes
from eks_gpu.planning.pod_template import Preference
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown


class Space:
    """What the nodes of a pool offer by label."""

    def __init__(self, pool: Pool) -> None:
        """Take what a pool says about labels, apart from its taints and its room."""
        self.types: tuple[InstanceType, ...] = () if isinstance(pool.types, NotKnown) else pool.types
        self.unknown_types: NotKnown | None = _unknown_types(pool)
        known = (1 << len(self.types)) - 1
        self.all = Chosen(known, known | (self.unlisted if self.unknown_types else 0), self.unknown_types)
        """All its types."""
        self._bought_on_demand = pool.kind is PoolKind.NODE_POOL
        self._carried = Carried(pool)
        self._scores: dict[tuple[Preference, ...], tuple[int, ...]] = {}

    @property
    def unlisted(self) -> int:
        """The bit of what is not known."""
        return 1 << len(self.types)

    def members(self, mask: int) -> Iterator[tuple[int, InstanceType]]:
        """Yield the known types in a set, with their places."""
        return ((place, kind) for place, kind in enumerate(self.types) if mask >> place & 1)

    def selected(self, selection: Selection, within: Chosen | None = None) -> Chosen:
        """Return the types of which a node can be what a selection wants: of all, or of those ``within``."""
        start = self.all if within is None else within
        if len(selection.alternatives) == 1:
            return self._together(selection.alternatives[0], start)
        sure, maybe, unclear = 0, 0, start.unclear
        for each in selection.alternatives:
            alternative = self._together(each, start)
            sure |= alternative.sure
            maybe |= alternative.maybe
            unclear = unclear or alternative.unclear
        return Chosen(sure, maybe, unclear)

    def _together(self, wanted: Iterable[Wish], start: Chosen) -> Chosen:
        sure, maybe, unclear = start
        before = self._carried.columns
        for wish in wanted:
            offered = before.get(wish.key) or self._carried.under(wish.key)
            answer = offered.answers.get(wish) or offered.answer(wish)
            sure &= answer.sure
            maybe &= answer.maybe
            unclear = unclear or answer.unclear
            if not maybe:
                break
        return Chosen(sure, maybe, unclear)

    def answer(self, wish: Wish) -> Chosen:
        """Return the types of which a node can meet all conditions on one label."""
        return self._together((wish,), self.all)

    def variety(self, key: str, mask: int) -> int | NotKnown:
        """Return how many values a label can have on nodes of some types."""
        return self._carried.under(key).content.variety(mask)

    def refusal(self, selection: Selection) -> Unlabelled | Contradictory:
        """Return why no type is selected: the first wish of the first alternative that nothing here meets."""
        for each in selection.alternatives:
            for wish in each:
                offered = self._carried.under(wish.key)
                if not offered.answer(wish).maybe & self.all.maybe:
                    return offered.unlabelled(wish, len(selection.alternatives) - 1, self._bought_on_demand)
        return Contradictory(selection)

    def scores(self, preferences: tuple[Preference, ...]) -> tuple[int, ...]:
        """Return how much of what a pod prefers each type can have: the sum of the weights."""
        found = self._scores.get(preferences)
        if found is None:
            met = [(each.weight, self._together(wishes(each.requirements), self.all).sure) for each in preferences]
            found = tuple(sum(weight for weight, mask in met if mask >> n & 1) for n in range(len(self.types)))
            self._scores[preferences] = found
        return found


def _unknown_types(pool: Pool) -> NotKnown | None:
    if isinstance(pool.types, NotKnown):
        return pool.types
    if pool.unlisted:
        return NotKnown(pool.urn, "instance types", f"nothing is known of {', '.join(pool.unlisted)}")
    return None
