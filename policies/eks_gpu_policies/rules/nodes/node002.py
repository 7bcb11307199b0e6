"""NODE002: the image volume is fast enough.

A mapping without a type or a throughput has what EBS gives by default. gp2 and older types fail whatever their size:
the fastest of them writes what is the least here. Volumes whose speed follows their IOPS (io1, io2) are nobody's
mistake. Local disks that hold images are faster than any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts.storage import EBS_OLDER_MIB_PER_SECOND, GP3, MIB
from eks_gpu.planning.images.image_volume import ImageVolume, image_volume, image_volume_gib, mib_per_second, nvme_gb
from eks_gpu.planning.pool import Pool, PoolKind, family_of
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu.planning.volume import Volume
from eks_gpu_policies import examples
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

SLOWEST_MIB: Final = 250
"""MiB/s. A pull and its unpacking write an image of 15 GB at least once: a minute at this speed."""
_ADVISED_MIB: Final = 500
"""MiB/s. A gp3 volume gives up to 750 with the 3,000 IOPS that it comes with."""
_IMAGE_BYTES: Final = 15 * 10**9
"""A CUDA model server's image, unpacked."""


@dataclass(frozen=True, slots=True)
class _Slow:
    """What is slow about a volume."""

    what: str
    """Its type and size, as far as they matter."""
    mib: float | None
    """MiB/s; None where its size decides and is not known."""


def _check(pool: Pool, _stack: Stack) -> Iterator[Outcome]:
    if nvme_gb(pool):
        return
    family = family_of(pool)
    if family is None:
        yield from _custom_image(pool)
        return
    volume = image_volume(pool, family)
    slow = _slow(volume.mapped, attempt(image_volume_gib, pool))
    if slow is not None:
        yield Problem(f"keeps images on {volume.device} ({slow.what}){_so_long(slow.mib)}", fix=_remedy(pool, volume))


def _slow(volume: Volume | None, gib: float | NotKnown | None) -> _Slow | None:
    """Return what is slow about a volume; None for one that is fast enough or as fast as its IOPS."""
    kind = "" if volume is None else need(volume.type) or ""
    mib = attempt(mib_per_second, volume, gib)
    if kind in EBS_OLDER_MIB_PER_SECOND:
        return _Slow(kind, None) if isinstance(mib, NotKnown) else _Slow(f"{kind}, {gib:.6g} GiB", mib)
    mib = need(mib)
    if mib is None or mib >= SLOWEST_MIB:
        return None
    unsaid = volume is None or volume.throughput_mib is None
    return _Slow(f"{kind or 'the default volume'} without a throughput" if unsaid else GP3, mib)


def _so_long(mib: float | None) -> str:
    """Return how long an image takes at a speed, and at the one that is advised."""
    if mib is None:
        return f": {GP3} at {_ADVISED_MIB} MiB/s writes an image of 15 GB in {_seconds(_ADVISED_MIB)} s"
    now = f"{_seconds(mib)} s" if mib else "an eternity"
    return (
        f": at its {mib:.3g} MiB/s an image of 15 GB is written in {now} on every new node, at {_ADVISED_MIB} MiB/s in "
        f"{_seconds(_ADVISED_MIB)} s"
    )


def _seconds(mib_per_second: float) -> str:
    return f"{_IMAGE_BYTES / (mib_per_second * MIB):.0f}"


def _remedy(pool: Pool, volume: ImageVolume) -> str:
    by_class = pool.kind is PoolKind.NODE_POOL
    place = "EC2NodeClass" if by_class else "launch template"
    instead = "" if volume.disk_size_gib is None else " in the place of diskSize, which knows no speed"
    has_disks = all(item.local_nvme_gb for item in pool.gpu_types) and not pool.unlisted
    own = f", or let the local NVMe disks hold images ({_RAID_OF_CLASS if by_class else _RAID})" if has_disks else ""
    return (
        f"map {volume.device} in the {place} as {GP3} with throughput {_ADVISED_MIB} (at least {SLOWEST_MIB}; up to "
        f"750 needs no more IOPS){instead}{own}, as GpuNodeGroup and GpuNodePool do"
    )


_RAID_OF_CLASS: Final = "instanceStorePolicy: RAID0"
_RAID: Final = "localStorage.strategy: RAID0 in NodeConfig"


def _custom_image(pool: Pool) -> Iterator[Outcome]:
    """Judge an image of somebody's own by all its volumes, since nobody knows which one holds images."""
    slow = [_slow(volume, volume.size_gib) for volume in need(pool.volumes)]
    if not slow:
        yield Undecided("amiType or amiFamily", "the image's own devices and volumes are not known")
        return
    known = [each for each in slow if each is not None]
    if len(known) == len(slow):
        fastest = max(known, key=lambda each: each.mib or 0.0)
        yield Problem(
            f"has no volume that is fast enough for images; the fastest is {fastest.what}{_so_long(fastest.mib)}"
        )


_SLOW = examples.launch_template(blockDeviceMappings=[examples.volume(throughput=125)])
_SOUND = examples.launch_template()

RULE: Final = Rule(
    id="NODE002",
    title="The image volume is fast enough",
    severity=Severity.MEDIUM,
    why=(
        "A gp3 volume that nobody asked more of writes 125 MiB/s. A model server's image of 15 GB needs two minutes "
        "for that alone, on every node that comes, while the GPU is already paid for and pods wait."
    ),
    fix=(
        f"make the volume that holds images {GP3} with throughput {_ADVISED_MIB}, or let the local NVMe disks hold "
        f"them ({_RAID_OF_CLASS} in the EC2NodeClass, {_RAID}), as GpuNodeGroup and GpuNodePool do"
    ),
    lessons=("N01", "N08"),
    levels=PRODUCTION_ONLY,
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=Example((_SLOW, examples.node_group(_SLOW))),
    passing=Example((_SOUND, examples.node_group(_SOUND))),
)
