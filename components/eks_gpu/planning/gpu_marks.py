"""Whether what a pod requires of nodes keeps it off GPU nodes, where nobody knows which pools there are.

A label of somebody's own (``node-role: web``, a pool's name) picks nodes that its author had in mind; it keeps a pod
off GPU nodes unless its words say that GPUs are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.planning.instance_labels import NAMES_INSTANCES, instance_labels
from eks_gpu.planning.requirements import Requirement

_ON_EVERY_NODE: Final = frozenset(
    {
        labels.OS,
        labels.ARCH,
        labels.ZONE,
        labels.ZONE_ID,
        labels.REGION,
        labels.CAPACITY_TYPE,
        labels.EKS_CAPACITY_TYPE,
    }
)
"""Labels that tell nothing about GPUs."""

_VENDOR: Final = resources.GPU.partition("/")[0] + "/"
_WORDS: Final = re.compile(r"gpu|nvidia|cuda|accelerat|(?<![a-z0-9])(?:g|gr|p)\d[a-z]*(?![a-z0-9])", re.IGNORECASE)
"""Words by which people say GPU in labels' keys and values, families of instances among them."""

_WANTS: Final = frozenset({"In", "Exists", "Gt", "Lt", "Gte", "Lte"})


def keeps_off_gpu_nodes(required: Iterable[Requirement]) -> bool:
    """Return whether one of the requirements, of which all must hold, is met by no node with GPUs."""
    return any(_excludes(requirement) for requirement in required)


def _excludes(requirement: Requirement) -> bool:
    key = requirement.key
    if key in _ON_EVERY_NODE:
        return False
    if key in NAMES_INSTANCES:
        return not any(requirement.admits(value) for value in _values(key))
    if key == labels.WORKLOAD:
        return not any(requirement.admits(value) for value in labels.WORKLOADS)
    says_gpu = key.startswith(_VENDOR) or any(_WORDS.search(text) for text in (key, *requirement.values))
    return says_gpu != (requirement.operator in _WANTS)


def _values(key: str) -> frozenset[str | None]:
    return frozenset(instance_labels(kind)[key] for kind in CATALOGUE.values())
