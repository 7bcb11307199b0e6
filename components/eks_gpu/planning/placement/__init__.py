"""Which pools a pod can be placed on: which instance types admit it and at what price, or the first reason why not.

``place`` looks at everything that decides: taints, labels, zones of volumes, room beside DaemonSets, limits. Whoever
has many pods and many pools prepares each once (:func:`demand`, :class:`Supply`) and then asks for each pair.

``admits`` looks at taints and labels alone: a pool that admits a pod may still be too small for it.

Not looked at: what other pods take of a node or of a limit, spread and affinity between pods, what EC2 has at hand,
and devices claimed by dynamic resource allocation.
"""

from __future__ import annotations

from collections.abc import Iterable

from eks_gpu.planning.placement.admission import Door, Manner, admits, manner, types_selected
from eks_gpu.planning.placement.answer import Candidate, Placement
from eks_gpu.planning.placement.demand import Demand, demand, requests
from eks_gpu.planning.placement.refusal import Refusal
from eks_gpu.planning.placement.supply import Supply
from eks_gpu.planning.placement.taints import tolerates
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool

__all__ = [
    "Candidate",
    "Demand",
    "Door",
    "Manner",
    "Placement",
    "Refusal",
    "Supply",
    "admits",
    "demand",
    "manner",
    "place",
    "requests",
    "tolerates",
    "types_selected",
]


def place(pod: PodTemplate, pool: Pool, daemons: Iterable[PodTemplate] = ()) -> Placement:
    """Return the instance types of a pool that admit a pod, or why none does, or what would have to be known.

    ``daemons`` are the DaemonSets that reach the pool: what they take of every node is not there for the pod. Only GPU
    instance types are known; what a pod without GPUs finds on others is not looked at.
    """
    return Supply(pool, daemons).place(demand(pod))
