"""Which EBS volumes a GPU node has, on the devices that its operating system really uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import ami
from eks_gpu.settings.gpu_pool import GpuPool

_GP3_IOPS: Final = 3000
_GP3_THROUGHPUT_MIBPS: Final = 125
"""What every gp3 volume has at no further price (EBS user guide, "General Purpose SSD volumes", checked 2026-11-21)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVolume:
    """One encrypted gp3 volume of a node, which goes when the node goes."""

    device: str
    size_gib: int
    iops: int = _GP3_IOPS
    throughput_mibps: int = _GP3_THROUGHPUT_MIBPS


def node_volumes(pool: GpuPool) -> tuple[NodeVolume, ...]:
    """Return the volumes of a pool's nodes: the one that holds images, of the size that the settings ask for.

    Where the node boots from another, as Bottlerocket does, that one is named too: nobody would encrypt it otherwise.
    """
    family, wanted = pool.image.ami_family, pool.root_volume
    images = NodeVolume(
        device=family.image_device,
        size_gib=wanted.size_gib,
        iops=wanted.iops,
        throughput_mibps=wanted.throughput_mibps,
    )
    if family.root_device == family.image_device:
        return (images,)
    return (NodeVolume(device=family.root_device, size_gib=ami.BOTTLEROCKET_OS_VOLUME_GIB), images)
