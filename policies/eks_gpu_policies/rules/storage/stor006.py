"""STOR006: NVMe paths are NVMe.

Amazon Linux mounts local disks below ``/mnt/k8s-disks`` only where it is told to, and only on types that have some.
Bottlerocket mounts them elsewhere and has no such folder at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.storage import NVME_MOUNTS
from eks_gpu.planning.pod_template import PodTemplate, PodVolume
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.user_data import UserData, user_data_of
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses
from eks_gpu_policies.stack import Stack

_WITH_DISKS: Final = f"{labels.INSTANCE_LOCAL_NVME} Exists on Karpenter's nodes"
_STRATEGIES: Final = frozenset({"RAID0", "RAID10", "Mount"})
_BY_HAND: Final = (NVME_MOUNTS, "setup-local-disks")
"""In scripts: whoever names the folder, or the program that mounts there, does it without NodeConfig."""


def _concerns(pod: PodTemplate, _stack: Stack) -> bool:
    return pod.asks_gpu and bool(_nvme_paths(pod))


def _nvme_paths(pod: PodTemplate) -> tuple[str, ...]:
    paths = (_host_path(volume) for volume in need(pod.volumes))
    return tuple(path for path in paths if path == NVME_MOUNTS or path.startswith(f"{NVME_MOUNTS}/"))


def _host_path(volume: PodVolume) -> str:
    path = volume.place.at("hostPath", "path").text() or ""
    return path.rstrip("/")


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    paths = ", ".join(_nvme_paths(pod))
    pools = stack.landing(pod)
    if not pools:
        yield Undecided("hostPath", "no pool of the stack is known to let the pod on")
    yield from clauses(*(_pool(pod, pool, paths, stack) for pool in pools))


def _pool(pod: PodTemplate, pool: Pool, paths: str, stack: Stack) -> Iterator[Outcome]:
    bare = [kind.name for kind in stack.places.types_selected(pod, pool) if not kind.local_nvme_gb]
    if bare:
        yield Problem(
            f"mounts {paths}, and {', '.join(bare)} of {pool.name} has no local disk: it writes to EBS",
            fix=f"have the pod require types with local disks ({_WITH_DISKS}), or take the others from {pool.name}",
        )
    elif attempt(lambda: need(pool.image).family) is AmiFamily.BOTTLEROCKET:
        yield Problem(
            f"mounts {paths}, a folder that Bottlerocket, the system of {pool.name}, does not have: it writes to EBS",
            fix="use an emptyDir, which is on the local disks where they hold images (instanceStorePolicy RAID0)",
        )
    elif not _mounts_local_disks(pool, stack):
        yield Problem(f"mounts {paths}, and nothing mounts the local disks of {pool.name} there: it writes to EBS")


def _mounts_local_disks(pool: Pool, stack: Stack) -> bool:
    if need(pool.instance_store_raid0):
        return True
    told = user_data_of(pool, stack)
    if told.unread and not _is_told(told):
        raise NotKnownError(NotKnown(pool.urn, "userData", "a part of it is in a form that is not read"))
    return _is_told(told)


def _is_told(told: UserData) -> bool:
    """Return whether user data has the node mount its local disks, by NodeConfig or by hand."""
    strategies = {config.at("spec", "instance", "localStorage", "strategy").text() for config in told.node_configs}
    return bool(strategies & _STRATEGIES) or any(words in line for line in told.lines for words in _BY_HAND)


_POD: Final = examples.deployment(
    volumes=[
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        {"name": "models", "hostPath": {"path": f"{NVME_MOUNTS}/0"}},
    ]
)

RULE: Final = Rule(
    id="STOR006",
    title="NVMe paths are NVMe",
    severity=Severity.MEDIUM,
    why=(
        "A host path that nothing is mounted on is a folder of the node's EBS volume: everything works, at a tenth of "
        "the speed that was planned with, and fills the disk that images need."
    ),
    fix=(
        "set instanceStorePolicy RAID0 on the EC2NodeClass, or localStorage.strategy in the launch template's "
        "NodeConfig, and keep pods that need local disks on types that have some"
    ),
    lessons=("S03", "N01"),
    looks_at=Subjects[PodTemplate]("GPU pods on local disks", frozenset(), lambda stack: stack.pods, _concerns),
    check=_check,
    failing=Example((_POD, examples.node_pool(), examples.node_class())),
    passing=Example((_POD, examples.node_pool(), examples.node_class(instanceStorePolicy="RAID0"))),
)
