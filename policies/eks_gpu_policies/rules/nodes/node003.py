"""NODE003: old images are pruned.

A greatest age of unused images is advice in the remedy only: Karpenter's EC2NodeClass has no field for it up to 1.14.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.image_volume import image_volume, nvme_gb
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.quantity import GIB
from eks_gpu.planning.reading import View, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.user_data import HIGH, LOW, UserData, user_data_of
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

LARGE_GIB: Final = 200
"""A volume of this size holds a dozen model servers' images; the kubelet's own thresholds then do."""
HIGHEST_PERCENT: Final = 80
KUBELET_HIGH: Final = 85
KUBELET_LOW: Final = 80
"""The kubelet's defaults (kubernetes.io, KubeletConfiguration v1beta1, checked 2026-11-21)."""


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    size = _gib(pool)
    if size is not None and size >= LARGE_GIB:
        return
    told = user_data_of(pool, stack)
    high, low = _percent(pool, stack, told, HIGH), _percent(pool, stack, told, LOW)
    starts, ends = KUBELET_HIGH if high is None else high, KUBELET_LOW if low is None else low
    if ends < starts <= HIGHEST_PERCENT:
        return
    if size is None:
        yield Undecided("amiType or amiFamily", "the image's own devices and disk size are not known")
    elif ends >= starts:
        yield Problem(
            f"starts to remove images at {starts:g} % and stops at {ends:g} %: the kubelet does not start with an end "
            "that is not below the beginning"
        )
    elif told.unread:
        yield Undecided("userData", "a part of it is in a form that nobody reads here")
    else:
        yield Problem(_too_late(size, starts, ends, said=high is not None))


def _too_late(size: float, starts: float, ends: float, *, said: bool) -> str:
    which = "" if said else ", the kubelet's defaults"
    return f"has {size:.3g} GiB for images and removes old ones from {starts:g} % full only, down to {ends:g} %{which}"


def _gib(pool: Pool) -> float | None:
    """Return the size of the disk that holds images; None for an image of somebody's own with no large volume."""
    local = nvme_gb(pool)
    if local:
        return local * 10**9 / GIB
    family = need(need(pool.image).family)
    if family is None:
        largest = max((need(volume.size_gib) or 0.0 for volume in need(pool.volumes)), default=0.0)
        return largest if largest >= LARGE_GIB else None
    volume = image_volume(pool, family)
    return None if volume.of_snapshot else volume.gib


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
