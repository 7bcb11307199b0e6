"""What a case is: pools, pods, and what is to become of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.scheduling.emitted import Block, Manifest
from tests.e2e.scheduling.world import Fate, Placed, Refused


@dataclass(frozen=True)
class On:
    """A pod runs on a node like this; ``None`` where any will do."""

    pool: str
    """Name of a node pool or of a managed node group."""
    instance_type: str
    capacity: str | None = None
    zone: str | None = None

    def met_by(self, fate: Fate) -> bool:
        """Return whether this is what has become of a pod."""
        return (
            isinstance(fate, Placed)
            and (fate.pool, fate.instance_type) == (self.pool, self.instance_type)
            and self.capacity in {None, fate.capacity}
            and self.zone in {None, fate.zone}
        )

    def __str__(self) -> str:
        """Return it as a line of a report."""
        return (
            f"{self.instance_type} of pool {self.pool}, {self.capacity or 'any capacity'}, in {self.zone or 'any zone'}"
        )


class Pending:
    """A pod stays pending, and Karpenter's reason has all these words in it."""

    def __init__(self, *words: str) -> None:
        """Keep what its reason must say."""
        self.words = words

    def met_by(self, fate: Fate) -> bool:
        """Return whether this is what has become of a pod."""
        return isinstance(fate, Refused) and all(word in fate.because for word in self.words)

    def __str__(self) -> str:
        """Return it as a line of a report."""
        return f"pending because {' and '.join(map(repr, self.words))}"


Expectation = On | Pending


@dataclass(frozen=True, kw_only=True)
class Case:
    """Pods that meet pools, and what is to become of them."""

    name: str
    """In words; begins with the lesson where there is one."""

    pools: Mapping[str, Block]
    """Settings of the node pools, by name."""

    groups: Mapping[str, Block] = field(default_factory=dict)
    """Settings of the managed node groups, by name; ``system`` is that of the CPU nodes."""

    pods: Mapping[str, tuple[Manifest, Expectation]] = field(default_factory=dict)
    """The pods, all at once, by the name of the object that carries them."""

    before: Mapping[str, tuple[Manifest, Expectation]] = field(default_factory=dict)
    """Pods that run already when the others come."""

    objects: tuple[Manifest, ...] = ()
    """What the pods need: volumes and claims."""

    pools_last: bool = False
    """Whether the pods are pending together before there is a pool, so that Karpenter sees them all at once."""

    overlooked: str = ""
    """What the planning module does not look at, so that it admits pods that Karpenter refuses here."""


def those(*pods: tuple[Manifest, Expectation]) -> dict[str, tuple[Manifest, Expectation]]:
    """Return pods with what is to become of them, by their names."""
    return {manifest["metadata"]["name"]: (manifest, expectation) for manifest, expectation in pods}
