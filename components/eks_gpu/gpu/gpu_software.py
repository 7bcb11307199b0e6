"""What the rest of the platform needs to know of the GPU software, whoever owns it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pulumi

from eks_gpu.facts import mig, resources
from eks_gpu.planning.offer import Offer
from eks_gpu.planning.sharing.advertised import Shares


@dataclass(frozen=True, kw_only=True)
class GpuSoftware:
    """GPU software that is installed: one owner of every GPU."""

    ready: tuple[pulumi.Resource, ...]
    """What a pod that asks for a GPU must come after."""

    gpu_resource: str
    """Name by which pods ask for a GPU where a pool does not say how it shares: ``nvidia.com/gpu``, or
    ``nvidia.com/gpu.shared`` where sharing renames it."""

    shared: bool
    """Whether several pods share a GPU there. Then nobody can ask for more than one."""

    runtime_class_name: str | None
    """RuntimeClass for GPU pods to name; ``None`` on the operator path, where naming one breaks CDI."""

    owns_exporter: bool
    """Whether a DCGM exporter came with it. If not, monitoring brings one."""

    namespace: str
    """Namespace where it runs."""

    offers: tuple[Offer, ...] = ()
    """What each pool that it was told of advertises."""

    mig_strategy: str = mig.SINGLE
    """How partitions are advertised: ``single`` as ``nvidia.com/gpu``, ``mixed`` under their profile's name."""

    def resource_on(self, gpu_types: Collection[str]) -> str:
        """Return the name by which pods ask for a GPU on nodes with these values of the label ``gpu-type``.

        A whole GPU where some pool offers it by that name, else a share.
        """
        offered = {name for offer in self._on(gpu_types) for name in offer.resources}
        if not offered or resources.GPU in offered:
            return resources.GPU if offered else self.gpu_resource
        return min(offered)

    def partition(self, profile: str) -> str:
        """Return the name by which pods ask for one MIG partition of a profile."""
        return resources.GPU if self.mig_strategy == mig.SINGLE else resources.mig(profile)

    def shared_on(self, gpu_types: Collection[str]) -> bool:
        """Return whether pods may get but a share of a GPU on nodes with these values of the label ``gpu-type``."""
        offers = self._on(gpu_types)
        return any(isinstance(offer.split, Shares) for offer in offers) if offers else self.shared

    def _on(self, gpu_types: Collection[str]) -> list[Offer]:
        return [offer for offer in self.offers if offer.gpu_type in gpu_types]
