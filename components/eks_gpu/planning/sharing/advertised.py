"""What a node advertises of its GPUs: the one answer for pools, workloads, validation, quotas and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.instances import InstanceType


@dataclass(frozen=True, slots=True)
class Shares:
    """Each GPU is advertised several times: time-slicing and MPS."""

    replicas: int
    """Pods on one GPU."""
    resource: str = resources.GPU
    """Name under which the shares are advertised."""

    @property
    def renamed(self) -> bool:
        """Whether the name tells them from whole GPUs."""
        return self.resource != resources.GPU


@dataclass(frozen=True, slots=True)
class Partitions:
    """Each GPU is partitioned by MIG."""

    layout: str
    """Name of the layout, as the MIG manager knows it: ``all-1g.5gb``."""
    strategy: str = mig.MIXED
    """``mixed`` or ``single``."""


Split = Shares | Partitions | None
"""How a node's GPUs are split; ``None``: each is advertised once, and one pod has it alone."""


def advertised(instance: InstanceType, split: Split) -> dict[str, int]:
    """Return what one node of the type advertises: resource name to how many. Empty for a type without whole GPUs.

    Raises:
        ValueError: the GPUs of the type cannot hold the layout.

    """
    match split:
        case Shares(replicas=replicas, resource=resource):
            return _some({resource: instance.gpu_count * replicas})
        case Partitions():
            return _some(_partitions(instance, split))
        case None:
            return _some({resources.GPU: instance.gpu_count})


def _partitions(instance: InstanceType, split: Partitions) -> dict[str, int]:
    gpu = mig.MODELS.get(instance.gpu_model)
    layout = None if gpu is None else gpu.layout(split.layout)
    if layout is None:
        raise ValueError(f"the {instance.gpu_name} of {instance.name} has no MIG layout {split.layout}")
    if not layout:
        return {resources.GPU: instance.gpu_count}
    if split.strategy == mig.SINGLE:
        return {resources.GPU: sum(layout.values()) * instance.gpu_count}
    return {resources.mig(profile): count * instance.gpu_count for profile, count in layout.items()}


def may_advertise(node: Mapping[str, str], instance: InstanceType, resource: str) -> bool:
    """Return whether a node of the type with the labels ``node`` can advertise a GPU resource, as far as they tell.

    Partitions are there only where the MIG manager is told so by label. Under which name shares are, and whether
    partitions pass for GPUs, no label tells; and a layout of a name that is not known here may be anything.
    """
    if not resource.startswith(resources.MIG_PREFIX):
        return True
    layout = node.get(labels.MIG_CONFIG, mig.ALL_DISABLED)
    gpu = mig.MODELS.get(instance.gpu_model)
    if gpu is None:
        return False
    slices = resource.removesuffix(resources.SHARED_SUFFIX)
    return gpu.layout(layout) is None or slices in advertised(instance, Partitions(layout))


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
