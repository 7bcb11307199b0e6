"""What pools offer, as their settings say: the way from what people choose to what nodes advertise."""

from __future__ import annotations

from dataclasses import dataclass

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split, advertised
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.sharing import Sharing


def split_of(sharing: Sharing) -> Split:
    """Return how GPUs are split under a pool's settings."""
    if sharing.mig is not None:
        return Partitions(sharing.mig.layout_name, sharing.mig.strategy.value)
    if sharing.mps is not None:
        return Shares(sharing.mps.replicas)
    if sharing.time_slicing is not None:
        renamed = sharing.time_slicing.rename
        return Shares(sharing.time_slicing.replicas, resources.GPU_SHARED if renamed else resources.GPU)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What the nodes of one pool advertise."""

    pool: str
    """The pool's name."""
    gpu_type: str
    """Value of its nodes' label ``gpu-type``."""
    types: tuple[InstanceType, ...]
    """The instance types it may have, all of one GPU model."""
    split: Split
    """How each GPU is split."""

    @property
    def resources(self) -> tuple[str, ...]:
        """The names by which pods ask for its GPUs or parts of them."""
        return tuple(sorted({name for kind in self.types for name in self.on(kind)}))

    def on(self, instance: InstanceType) -> dict[str, int]:
        """Return what one of its nodes of the type advertises: resource name to how many."""
        return advertised(instance, self.split)


def offer_of(name: str, pool: GpuPool, default: Sharing) -> Offer:
    """Return what the pool ``name`` offers; ``default`` is how GPUs are shared on pools that do not say."""
    return Offer(pool=name, gpu_type=pool.gpu_type, types=pool.types, split=split_of(pool.shared_as(default)))
