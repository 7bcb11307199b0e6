"""The answer: where a pod can run in a pool, at what price, or why not."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement.refusal import Refusal
from eks_gpu.planning.reading import NotKnown


@dataclass(frozen=True, slots=True)
class Candidate:
    """An instance type whose nodes have room for the pod."""

    instance: InstanceType
    preference: int = 0
    """The weights of those of the pod's preferences that its nodes are sure to meet, together."""

    @property
    def usd_per_hour(self) -> float | None:
        """On demand in us-east-1; None where no price is listed."""
        return self.instance.usd_per_hour

    @property
    def rank(self) -> tuple[int, float, str]:
        """By what it is sorted: the most preferred first, then the cheapest."""
        price = self.instance.usd_per_hour
        return -self.preference, inf if price is None else price, self.instance.name


@dataclass(frozen=True, slots=True)
class Placement:
    """What a pool says to a pod: exactly one of the three is there."""

    candidates: tuple[Candidate, ...] = ()
    """The instance types that admit the pod, the best first."""
    refusal: Refusal | None = None
    """The first reason why none does."""
    unclear: NotKnown | None = None
    """What would have to be known to tell."""

    @property
    def admits(self) -> bool:
        """Whether the pod is known to find a node."""
        return bool(self.candidates)

    @property
    def refuses(self) -> bool:
        """Whether the pod is known to find none."""
        return self.refusal is not None

    @property
    def reason(self) -> str:
        """Why the pod finds no node, as a sentence about it; empty where it may find one."""
        return "" if self.refusal is None else str(self.refusal)

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The instance types that admit the pod, the best first."""
        return tuple(candidate.instance for candidate in self.candidates)

    @property
    def usd_per_hour(self) -> float | None:
        """What the cheapest of them costs on demand; None without any, or without a price."""
        prices = [kind.usd_per_hour for kind in self.types if kind.usd_per_hour is not None]
        return min(prices, default=None)
