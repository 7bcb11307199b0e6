"""NODE002: the image volume is fast enough.

A mapping without a type or a throughput has what EBS gives by default. Volumes whose speed follows their IOPS (io1,
io2) are nobody's mistake. Local disks that hold images are faster than any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.storage import EBS_SLOW_MIB_PER_SECOND, GP3_MIB_PER_SECOND, MIB
from eks_gpu.planning.image_volume import image_volume, nvme_gb
from eks_gpu.planning.pool import Family, Pool
from eks_gpu.planning.reading import need
from eks_gpu.planning.volume import Volume
from eks_gpu_policies import examples
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

SLOWEST_MIB: Final = 250
"""MiB/s. A pull and its unpacking write an image of 15 GB at least once: a minute at this speed."""
_ADVISED_MIB: Final = 500
_IMAGE_BYTES: Final = 15 * 10**9
"""A CUDA model server's image, unpacked."""
_GP3: Final = "gp3"
_BY_IOPS: Final = frozenset({"io1", "io2"})


def _check(pool: Pool, _stack: Stack) -> Iterator[Outcome]:
    if nvme_gb(pool) > 0:
        return
    family = need(need(pool.image).family)
    if family is None:
        yield from _custom_image(pool)
    else:
        yield from _on_its_device(pool, family)


def _on_its_device(pool: Pool, family: Family) -> Iterator[Outcome]:
    volume = image_volume(pool, family)
    kind, speed = _speed(volume.mapped)
    if speed is None or speed >= SLOWEST_MIB:
        return
    yield Problem(
        f"keeps images on {volume.device}, {kind} at {speed:g} MiB/s: writing 15 GB takes {_seconds(speed)} s, "
        f"{_seconds(_ADVISED_MIB)} s at {_ADVISED_MIB} MiB/s"
    )


def _speed(volume: Volume | None) -> tuple[str, float | None]:
    """Return a volume's type and its MiB/s; None for one whose speed follows its IOPS."""
    kind = None if volume is None else need(volume.type)
    throughput = None if volume is None else need(volume.throughput_mib)
    if kind is not None and kind in _BY_IOPS:
        return kind, None
    if kind is not None and kind in EBS_SLOW_MIB_PER_SECOND:
        return kind, EBS_SLOW_MIB_PER_SECOND[kind]
    if throughput is not None:
        return _GP3, throughput
    return f"{kind or 'the default volume'} without a throughput", GP3_MIB_PER_SECOND


def _seconds(mib_per_second: float) -> str:
    return f"{_IMAGE_BYTES / (mib_per_second * MIB):.0f}" if mib_per_second > 0 else "countless"


def _custom_image(pool: Pool) -> Iterator[Outcome]:
    """Judge an image of somebody's own by all its volumes, since nobody knows which one holds images."""
    speeds = [_speed(volume)[1] for volume in need(pool.volumes)]
    if not speeds:
        yield Undecided("amiType or amiFamily", "the image's own devices and volumes are not known")
        return
    if all(speed is not None and speed < SLOWEST_MIB for speed in speeds):
        fastest = max(speed for speed in speeds if speed is not None)
        yield Problem(
            f"has no volume of more than {fastest:g} MiB/s: writing an image of 15 GB takes {_seconds(fastest)} s, "
            f"{_seconds(_ADVISED_MIB)} s at {_ADVISED_MIB} MiB/s"
        )


_SLOW = examples.launch_template(blockDeviceMappings=[examples.volume(throughput=125)])
_SOUND = examples.launch_template()

RULE: Final = Rule(
    id="NODE002",
    title="The image volume is fast enough",
    severity=Severity.MEDIUM,
    why=(
        "A gp3 volume that nobody asked more of writes 125 MiB/s. A model server's image of 15 GB needs two minutes "
        "for that alone, at every node that comes, while the GPU is already paid for and pods wait."
    ),
    fix=(
        f"set the throughput of the gp3 volume that holds images to {_ADVISED_MIB} MiB/s, or let the local NVMe disks "
        "hold them (instanceStorePolicy or NodeConfig's localStorage.strategy: RAID0), as GpuNodeGroup and "
        "GpuNodePool do"
    ),
    lessons=("N01", "N08"),
    levels=PRODUCTION_ONLY,
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=Example((_SLOW, examples.node_group(_SLOW))),
    passing=Example((_SOUND, examples.node_group(_SOUND))),
)
