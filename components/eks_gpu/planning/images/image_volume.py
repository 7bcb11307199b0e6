"""The disk of a node that holds container images, their layers and what pods write: where it is and how large.

It is an EBS volume, or the local disks where the node puts images there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eks_gpu.facts.storage import EBS_OLDER_MIB_PER_SECOND, GP3, GP3_MIB_PER_SECOND
from eks_gpu.planning.pool import Family, Pool, family_of
from eks_gpu.planning.reading import NotKnown, NotKnownError, need
from eks_gpu.planning.volume import Volume

DEFAULT_GIB: Final = 20
"""What EKS and Karpenter give a node that says nothing."""


@dataclass(frozen=True, slots=True)
class ImageVolume:
    """The EBS volume that an image's family keeps container images on."""

    device: str
    mapped: Volume | None
    """What the pool maps there; None where it leaves the volume as it comes."""
    elsewhere: tuple[str, ...]
    """The devices that it maps volumes to instead."""
    disk_size_gib: float | None
    """A node group's ``diskSize``."""

    @property
    def of_snapshot(self) -> bool:
        """Whether it is as large as its snapshot, which nobody here can see."""
        return self.mapped is not None and self.mapped.from_snapshot and self.mapped.size_gib is None

    @property
    def gib(self) -> float:
        """Its size; raise ``NotKnownError`` when it is not known."""
        mapped = None if self.mapped is None else need(self.mapped.size_gib)
        return next((size for size in (mapped, self.disk_size_gib) if size is not None), DEFAULT_GIB)

    @property
    def said(self) -> str:
        """How its size came about, in words: ``has 50 GiB``."""
        mapped = None if self.mapped is None else need(self.mapped.size_gib)
        if mapped is not None:
            return f"has {mapped:.3g} GiB"
        if self.disk_size_gib is not None:
            return f"has a diskSize of {self.disk_size_gib:g} GiB"
        beside = f" (volumes are mapped to {', '.join(self.elsewhere)} only)" if self.elsewhere else ""
        return f"has the default of {DEFAULT_GIB} GiB{beside}"


def image_volume(pool: Pool, family: Family) -> ImageVolume:
    """Return a pool's image volume; raise ``NotKnownError`` when its mappings are not known."""
    mapped = pool.volume(family.image_device)
    others = (
        () if mapped is not None else tuple(sorted(volume.device for volume in need(pool.volumes) if volume.device))
    )
    return ImageVolume(family.image_device, mapped, others, need(pool.disk_size_gib))


def image_volume_gib(pool: Pool) -> float:
    """Return the size of a pool's image volume in GiB.

    Raises ``NotKnownError`` where it cannot be told: an image of somebody's own, a volume as large as its snapshot.
    """
    family = family_of(pool)
    if family is None:
        raise NotKnownError(NotKnown(pool.urn, "image", "on which device somebody's own image keeps images"))
    volume = image_volume(pool, family)
    if volume.of_snapshot:
        raise NotKnownError(NotKnown(pool.urn, "volumeSize", f"{volume.device} is as large as its snapshot"))
    return volume.gib


def nvme_gb(pool: Pool) -> int:
    """Return how many GB of local disks hold images on every type of a pool; 0 where some node uses its volume.

    Raises ``NotKnownError`` when nobody can tell whether the local disks are used.
    """
    smallest = min((item.local_nvme_gb for item in pool.gpu_types), default=0)
    if smallest == 0 or pool.unlisted:
        return 0
    return smallest if need(pool.instance_store_raid0) else 0


def mib_per_second(volume: Volume | None, gib: float | NotKnown | None) -> float | None:
    """Return how fast a volume of so many GiB writes; None where that follows its IOPS.

    Raises ``NotKnownError`` for what is not known of it: its type, its throughput, or the size where that decides.
    """
    kind = None if volume is None else need(volume.type)
    if kind is not None and kind in EBS_OLDER_MIB_PER_SECOND:
        size = need(gib)
        if size is None:
            raise NotKnownError(NotKnown("", "volumeSize", "as large as its snapshot"))
        return EBS_OLDER_MIB_PER_SECOND[kind](size)
    if kind not in {None, GP3}:
        return None
    said = None if volume is None else need(volume.throughput_mib)
    return GP3_MIB_PER_SECOND if said is None else said
