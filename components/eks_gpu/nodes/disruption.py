"""How Karpenter may disrupt the nodes of a pool, by what the pool is for.

The defaults of Karpenter are made for stateless pods: nodes that could be packed tighter are emptied at once, and every
node goes after 30 days, whatever runs on it. A training job of three days would be lost to either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eks_gpu.settings.gpu_pool import Purpose
from eks_gpu.settings.node_pool import NodePool

_EMPTY: Final[dict[str, object]] = {"nodes": "100%", "reasons": ["Empty"]}
"""Empty nodes may all go at once: nothing is lost, and each costs by the hour."""

_BUSY: Final = ("Drifted", "Underutilized")
_MONTH: Final = "720h"
_NEVER: Final = "Never"


@dataclass(frozen=True, kw_only=True)
class Disruption:
    """The disruption contract of a pool. Durations are Go durations without days, as Karpenter takes them."""

    consolidation_policy: str
    consolidate_after: str
    """How long a node must be empty, or unchanged, first."""
    busy_nodes_at_once: str
    """How many nodes with pods on them may be disrupted at once; budgets do not hold back expiry."""
    expire_after: str
    """Age at which a node is drained, whatever runs on it."""
    termination_grace_minutes: int
    """How long a draining node waits for pods that refuse to go; then it goes."""

    @property
    def delete_timeout_minutes(self) -> int:
        """How long deleting the pool may take: its nodes are drained first, then EC2 takes some minutes for each."""
        return self.termination_grace_minutes + 30

    def spec(self) -> dict[str, object]:
        """Return the ``disruption`` block of the NodePool."""
        return {
            "consolidationPolicy": self.consolidation_policy,
            "consolidateAfter": self.consolidate_after,
            "budgets": [dict(_EMPTY), {"nodes": self.busy_nodes_at_once, "reasons": list(_BUSY)}],
        }

    def template(self) -> dict[str, str]:
        """Return the part of the contract that stands in the template's spec."""
        return {
            "expireAfter": self.expire_after,
            "terminationGracePeriod": _go_duration(self.termination_grace_minutes),
        }


def _go_duration(minutes: int) -> str:
    """Return whole hours as hours, because people read them."""
    hours, rest = divmod(minutes, 60)
    return f"{hours}h" if rest == 0 else f"{minutes}m"


def disruption(pool: NodePool) -> Disruption:
    """Return the disruption contract of a pool.

    Inference is packed tighter and renewed one node at a time, because each new node pulls its image and loads its
    model again. Training is never disturbed: only empty nodes go, after a quarter of an hour in which a gang of pods
    may restart, and a node that is deleted by hand waits for the longest job. Development is between the two.
    """
    if pool.purpose is Purpose.TRAINING:
        return Disruption(
            consolidation_policy="WhenEmpty",
            consolidate_after="15m",
            busy_nodes_at_once="0",
            expire_after=_NEVER,
            termination_grace_minutes=pool.job_hours * 60,
        )
    if pool.purpose is Purpose.DEVELOPMENT:
        return Disruption(
            consolidation_policy="WhenEmpty",
            consolidate_after="30m",
            busy_nodes_at_once="1",
            expire_after=_MONTH,
            termination_grace_minutes=60,
        )
    return Disruption(
        consolidation_policy="WhenEmptyOrUnderutilized",
        consolidate_after="10m",
        busy_nodes_at_once="1",
        expire_after=_MONTH,
        termination_grace_minutes=30,
    )
