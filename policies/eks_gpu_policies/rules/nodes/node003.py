"""NODE003: old images are pruned.

A greatest age of unused images is advice in the remedy only: Karpenter's EC2NodeClass has no field for it up to 1.14.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.planning.images.image_volume import image_volume_gib, nvme_gb
from eks_gpu.planning.pool import Pool, PoolKind, family_of
from eks_gpu.planning.quantity import GIB
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.user_data import BOTTLEROCKETS, HIGH, LOW, UserData, user_data_of
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Undecided, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

LARGE_GIB: Final = 200
"""A volume of this size holds a dozen model servers' images; the kubelet's own thresholds then do."""
HIGHEST_PERCENT: Final = 80
_ADVISED_LOW: Final = 60
_EVICTS_FROM: Final = 90
"""Percent: nodes of EKS evict pods while less than a tenth of the disk is free (``nodefs.available``)."""
KUBELET_HIGH: Final = 85
KUBELET_LOW: Final = 80
"""The kubelet's defaults (kubernetes.io, KubeletConfiguration v1beta1, checked 2026-11-21)."""


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    size = attempt(_gib, pool)
    if not isinstance(size, NotKnown) and size >= LARGE_GIB:
        return
    told = user_data_of(pool, stack)
    high, low = _percent(pool, stack, told, HIGH), _percent(pool, stack, told, LOW)
    starts, ends = KUBELET_HIGH if high is None else high, KUBELET_LOW if low is None else low
    if ends < starts <= HIGHEST_PERCENT:
        return
    if isinstance(size, NotKnown):
        yield undecided(size)
    elif ends >= starts:
        yield Problem(
            f"starts to remove images at {starts:g} % and stops at {ends:g} %: the kubelet refuses to start unless the "
            "second is below the first",
            fix=_remedy(pool),
        )
    elif told.unread:
        yield Undecided("userData", "a part of it is in a form that nobody reads here")
    else:
        own = "" if high is not None else ", the kubelet's default,"
        yield Problem(
            f"removes unused images only when its {size:.3g} GiB for images are {starts:g} % full{own} and stops at "
            f"{ends:g} %: {_left(size, starts)}",
            fix=_remedy(pool),
        )


def _left(size: float, starts: float) -> str:
    """Return what is left until pods are evicted, in words."""
    if starts >= _EVICTS_FROM:
        return f"pods are evicted before that, at {_EVICTS_FROM} %"
    left = size * (_EVICTS_FROM - starts) / 100
    return f"{left:.2g} GiB more, at {_EVICTS_FROM} %, and pods are evicted, while a single image takes 15 GB"


def _remedy(pool: Pool) -> str | None:
    """Return what to write where; None where the rule's own remedy says as much."""
    family = attempt(family_of, pool)
    if pool.kind is PoolKind.NODE_POOL:
        place, names = "kubelet of the EC2NodeClass", (HIGH, LOW)
    elif family is AmiFamily.AL2023:
        place, names = "kubelet.config of a NodeConfig in the user data", (HIGH, LOW)
    elif family is AmiFamily.BOTTLEROCKET:
        place, names = "settings.kubernetes of the user data", BOTTLEROCKETS
    else:
        return None
    return (
        f"set {names[0]} to {HIGHEST_PERCENT} or less and {names[1]} below it, to {_ADVISED_LOW} say, in {place}, as "
        f"GpuNodeGroup and GpuNodePool do, or give images {LARGE_GIB} GiB"
    )


def _gib(pool: Pool) -> float:
    """Return the size of the disk that holds images; raise ``NotKnownError`` when it cannot be told."""
    local = nvme_gb(pool)
    if local:
        return local * 10**9 / GIB
    if family_of(pool) is not None:
        return image_volume_gib(pool)
    sizes = (need(volume.size_gib) for volume in need(pool.volumes))
    large = [size for size in sizes if size is not None and size >= LARGE_GIB]
    if not large:
        place = "amiType or amiFamily"
        raise NotKnownError(NotKnown(pool.urn, place, "the image's own devices and disk size are not known"))
    return large[0]


def _percent(pool: Pool, stack: Stack, told: UserData, setting: str) -> float | None:
    """Return a threshold: what an EC2NodeClass says wins over user data, as Karpenter puts its own last."""
    template = stack.template(pool) if pool.kind is PoolKind.NODE_POOL else None
    kubelet = View(None, "") if template is None else template.at("spec", "kubelet")
    said = kubelet[setting].number()
    return told.kubelet_percent(setting) if said is None else said


_SILENT = examples.launch_template(userData=None)
_PRUNED = examples.launch_template()

RULE: Final = Rule(
    id="NODE003",
    title="Old images are pruned",
    severity=Severity.MEDIUM,
    why=(
        "containerd keeps every layer it ever pulled. The kubelet removes unused images from 85 % on, and evicts pods "
        "from 90 %: with images of 15 GB one pull leads from one to the other, and the node ends in disk pressure."
    ),
    fix=(
        f"set imageGCHighThresholdPercent to {HIGHEST_PERCENT} or less and imageGCLowThresholdPercent below it (in "
        "NodeConfig's kubelet.config, the EC2NodeClass's kubelet, or Bottlerocket's settings.kubernetes), and where "
        "the kubelet is yours to configure imageMaximumGCAge too, as GpuNodeGroup and GpuNodePool do; or give images "
        f"{LARGE_GIB} GiB"
    ),
    lessons=("N02",),
    levels=PRODUCTION_ONLY,
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=Example((_SILENT, examples.node_group(_SILENT))),
    passing=Example((_PRUNED, examples.node_group(_PRUNED))),
)
