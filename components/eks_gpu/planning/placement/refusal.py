"""Why a pool does not admit a pod: plain data that reads as one sentence about "it", the pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.placement.wishes import Selection, Wish

_MILLICORES: Final = 1000
_UNITS: Final = ((2**30, "GiB"), (2**20, "MiB"))
_IN_BYTES: Final = frozenset({resources.MEMORY, resources.EPHEMERAL_STORAGE})


def amount(resource: str, value: float) -> str:
    """Return an amount of a resource as people write it: ``3.92 CPU``, ``14 GiB of memory``, ``1 nvidia.com/gpu``."""
    if resource == resources.CPU:
        return f"{value / _MILLICORES:g} CPU"
    if resource in _IN_BYTES or resource.startswith(resources.HUGE_PAGES_PREFIX):
        return f"{_bytes(value)} of {resource}"
    return f"{value:g} {resource}"


def bare(resource: str, value: float) -> str:
    """Return the same without the resource's name."""
    if resource == resources.CPU:
        return f"{value / _MILLICORES:g}"
    return _bytes(value) if resource in _IN_BYTES else f"{value:g}"


def _bytes(value: float) -> str:
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:.5g} {unit}"
    return f"{value:g} bytes"


_MOST_NAMED: Final = 6


def some(names: tuple[str, ...], last: str = "") -> str:
    """Return names in a row; of many the first, and how many more. ``last`` goes before the last of few."""
    left = len(names) - _MOST_NAMED
    if left > 0:
        return f"{', '.join(names[:_MOST_NAMED])} ... ({left} more)"
    return f" {last} ".join(names) if last else ", ".join(names)


@dataclass(frozen=True, slots=True)
class Untolerated:
    """It does not tolerate a taint."""

    taint: str

    def __str__(self) -> str:
        """Return the sentence."""
        return f"does not tolerate the taint {self.taint}"


@dataclass(frozen=True, slots=True)
class NoTypes:
    """The pool buys nothing that is known here."""

    def __str__(self) -> str:
        """Return the sentence."""
        return "finds no instance type with a GPU there"


@dataclass(frozen=True, slots=True)
class NoNodes:
    """The pool's size is zero."""

    def __str__(self) -> str:
        """Return the sentence."""
        return "finds no node there: the pool's largest size is 0"


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """No node of the pool has the labels it requires."""

    wish: Wish
    offered: tuple[str, ...]
    """The values that the label has there; none when no node has it."""
    after_boot: bool = False
    """Whether nodes may get the label once they run, for which Karpenter buys none."""
    others: int = 0
    """How many other terms of its affinity fail as well."""

    def __str__(self) -> str:
        """Return the sentence."""
        return f"requires {self.wish}, {self._instead()}{self._nor()}"

    def _nor(self) -> str:
        if not self.others:
            return ""
        rest = "does the other term" if self.others == 1 else f"do the {self.others} other terms"
        return f" (nor {rest} of its affinity hold)"

    def _instead(self) -> str:
        if self.offered:
            return f"nodes there have {some(self.offered)}"
        if self.after_boot:
            return "a label that nodes get only after boot, and Karpenter buys no node for it"
        return "nodes there have that label" if not self.wish.asks else "nodes there have no such label"


@dataclass(frozen=True, slots=True)
class Contradictory:
    """Each label it requires is there, but on no node all of them."""

    selection: Selection

    def __str__(self) -> str:
        """Return the sentence."""
        wishes = [str(wish) for wish in self.selection.alternatives[0]] if self.selection.alternatives else []
        if not wishes:
            return "requires an affinity term without conditions, which matches no node"
        return f"requires {' and '.join(wishes)}, which no instance type there has together"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A volume it is bound to cannot be mounted where the pool's nodes are."""

    volume: str
    because: str

    def __str__(self) -> str:
        """Return the sentence."""
        return f"mounts {self.volume}, and the volume {self.because}"


@dataclass(frozen=True, slots=True)
class TooLarge:
    """No node has room for it."""

    resource: str
    asked: int
    room: int
    """The most that a node of the pool has of it."""
    instance: str
    """The instance type that has the most."""
    after_daemons: bool

    def __str__(self) -> str:
        """Return the sentence."""
        after = " after DaemonSets" if self.after_daemons else ""
        return f"asks {amount(self.resource, self.asked)}, {self.instance} has {bare(self.resource, self.room)}{after}"


@dataclass(frozen=True, slots=True)
class NotBoughtFor:
    """It asks for something that no instance type has as far as Karpenter knows."""

    resource: str
    asked: int

    def __str__(self) -> str:
        """Return the sentence."""
        return f"asks {amount(self.resource, self.asked)}, for which Karpenter buys no node"


@dataclass(frozen=True, slots=True)
class NoPods:
    """The pool's nodes have no place for one more pod beside the DaemonSets."""

    instance: str
    most: int

    def __str__(self) -> str:
        """Return the sentence."""
        return f"finds all {self.most} places for pods on {self.instance} taken by DaemonSets"


@dataclass(frozen=True, slots=True)
class OverLimit:
    """The pool's limit does not allow the smallest node that would do."""

    resource: str
    limit: int
    needed: int
    instance: str

    def __str__(self) -> str:
        """Return the sentence."""
        return (
            f"needs {self.instance} with {amount(self.resource, self.needed)}, "
            f"more than the pool's limit of {bare(self.resource, self.limit)}"
        )


@dataclass(frozen=True, slots=True)
class TooFewValues:
    """Too few of the instance types fit it for Karpenter to choose from."""

    key: str
    least: int
    left: int

    def __str__(self) -> str:
        """Return the sentence."""
        values = "1 value" if self.left == 1 else f"{self.left} values"
        return f"fits {values} of {self.key}, fewer than the pool's minValues of {self.least}"


Refusal = (
    Untolerated
    | NoTypes
    | NoNodes
    | Unlabelled
    | Contradictory
    | Elsewhere
    | TooLarge
    | NotBoughtFor
    | NoPods
    | OverLimit
    | TooFewValues
)
"""Each kind in the order in which placement asks."""
