"""NODE001: the image volume is large enough, encrypted, and on the device that the AMI really uses.

"A mapping on another family's root" is read literally: ``/dev/sda1`` beside Amazon Linux, ``/dev/xvda`` beside
Ubuntu. A further data volume on ``/dev/xvdb`` beside Amazon Linux is nobody's mistake, and Bottlerocket's own small
root beside its data volume is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.ami import ROOT_DEVICES
from eks_gpu.planning.images.image_volume import image_volume, nvme_gb
from eks_gpu.planning.pool import Family, Pool, PoolKind, family_name, family_of
from eks_gpu.planning.reading import need
from eks_gpu.planning.volume import Volume
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Undecided, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

SMALLEST_GIB: Final = 100
SMALLEST_NVME_GB: Final = 100
_RESERVED: Final = 0.1
"""The share of a disk that the kubelet's eviction threshold keeps free; one GiB goes to the system."""


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if pool.disk_size_gib is not None and pool.template is not None:
        yield Problem(
            "sets diskSize beside a launch template, which EKS refuses",
            fix="leave diskSize out and map the volume, with its size and encrypted, in the launch template",
        )
        return
    family = family_of(pool)
    if family is None:
        yield from _custom_image(pool, stack)
    else:
        yield from clauses(
            _size(pool, family),
            _encryption(pool, family, stack),
            _foreign_roots(pool, family),
        )


def _size(pool: Pool, family: Family) -> Iterator[Outcome]:
    volume = image_volume(pool, family)
    if volume.of_snapshot:
        yield Undecided("volumeSize", f"{volume.device} is as large as its snapshot")
        return
    size = volume.gib
    if size >= SMALLEST_GIB or _on_local_disks(pool):
        return
    yield Problem(
        f"{volume.said} on {volume.device}, where {family_name(family)} keeps images; "
        f"about {max(0.0, size - 1 - _RESERVED * size):.0f} GiB of it are left for images and pods, and a volume of "
        f"{SMALLEST_GIB} GiB is needed"
    )


def _encryption(pool: Pool, family: Family, stack: Stack) -> Iterator[Outcome]:
    if stack.options.volumes_encrypted_by_account:
        return
    if pool.kind is PoolKind.NODE_POOL and not need(pool.volumes):
        return  # Karpenter's own default mapping is encrypted.
    mapped = pool.volume(family.image_device)
    if mapped is None or need(mapped.encrypted) is not True:
        cannot = "" if need(pool.disk_size_gib) is None else ", and diskSize has no way to say so"
        yield Problem(f"does not encrypt {family.image_device}{cannot}", fix=_ENCRYPT)


_ENCRYPT: Final = (
    "set encrypted on the volume in the launch template or EC2NodeClass; where the account encrypts every new volume "
    "by itself, say volumesEncryptedByAccount in the configuration of the policy eks-gpu"
)


def _foreign_roots(pool: Pool, family: Family) -> Iterator[Outcome]:
    own = {family.root_device, family.image_device}
    for volume in need(pool.volumes):
        if volume.device in ROOT_DEVICES - own:
            yield Problem(
                f"maps a volume to {volume.device}, which {family_name(family)} does not boot from: "
                "it becomes a second, empty disk",
                fix=f"map the volume to {family.image_device}, or leave it out",
            )


def _custom_image(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Judge an image of somebody's own: one large encrypted volume will do, since its devices are not known.

    Where local disks hold the images, any encrypted one will.
    """
    local = _on_local_disks(pool)
    if any(_encrypted(volume, stack) and (local or _is_large(volume)) for volume in need(pool.volumes)):
        return
    yield Undecided("amiType or amiFamily", "the image's own devices and disk size are not known")


def _on_local_disks(pool: Pool) -> bool:
    return nvme_gb(pool) >= SMALLEST_NVME_GB


def _is_large(volume: Volume) -> bool:
    size = need(volume.size_gib)
    return size is not None and size >= SMALLEST_GIB


def _encrypted(volume: Volume, stack: Stack) -> bool:
    return stack.options.volumes_encrypted_by_account or need(volume.encrypted) is True


_SOUND = examples.launch_template()
_SMALL = examples.launch_template(blockDeviceMappings=[examples.volume(20)])

RULE: Final = Rule(
    id="NODE001",
    title="The image volume is >= 100 GiB, encrypted, on the AMI's device",
    severity=Severity.HIGH,
    why=(
        "CUDA, Triton and vLLM images unpack to 15 GB and more. A default volume of 20 GiB leaves 17 for images and "
        "pods: the node reports disk pressure, evicts what runs, and pods end in ImagePullBackOff with no space left. "
        "A large volume on a device that the AMI does not use helps nobody: the node boots from its small default."
    ),
    fix=(
        "map at least 100 GiB of encrypted gp3 to the family's image device (AL2023 /dev/xvda, Bottlerocket "
        "/dev/xvdb), as GpuNodeGroup and GpuNodePool do"
    ),
    lessons=("N01",),
    looks_at=GPU_POOLS,
    check=_check,
    failing=Example((_SMALL, examples.node_group(_SMALL))),
    passing=Example((_SOUND, examples.node_group(_SOUND))),
)
