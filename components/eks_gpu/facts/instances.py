"""EC2 instance types with NVIDIA GPUs: what they hold, what a pod can have of it, and what they cost.

The table is ``instance_types.csv`` beside this file; its head names the sources and the dates. It is read when
:data:`CATALOGUE` is first asked for a type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

SOURCE = (
    "aws/karpenter-provider-aws website/content/en/preview/reference/instance-types.md @1d927085 (2026-08-21) and "
    "pkg/providers/pricing/zz_generated.pricing_aws.go (generated 2026-07-20, us-east-1, on demand)"
)
CHECKED = "2026-11-21"


OTHER_MAKERS_GPUS = frozenset({"gaudi-hl-205", "radeon-pro-v520"})
"""Names by which Karpenter labels GPUs that are not NVIDIA's: those of dl1 and g4ad (the same source)."""


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One instance type. Memory is in MiB, local disks in GB, bandwidth in Mbit/s, money in US dollars."""

    name: str
    arch: str
    """``amd64`` or ``arm64``, as Kubernetes labels nodes."""
    vcpu: int
    memory_mib: int
    gpu_name: str
    """The GPU model as Karpenter labels nodes: ``a10g``. One name can have two memory sizes (A100)."""
    gpu_count: int
    """Whole GPUs; 0 for the fractional types (g6f, gr6f), of which a node advertises none."""
    gpu_memory_mib: int
    """Memory of one GPU."""
    local_nvme_gb: int
    """All instance-store disks together; 0 where there is none."""
    efa_interfaces: int
    """Elastic Fabric Adapters the type can have; 0 where it cannot have any."""
    ebs_bandwidth_mbps: int
    network_bandwidth_mbps: int
    max_pods: int
    """Pods the VPC CNI has addresses for, without prefix delegation."""
    allocatable_cpu_millicores: int
    """What pods can have after kubelet and system reservations, as Karpenter computes it."""
    allocatable_memory_mib: int
    """What pods can have after reservations, eviction threshold and Karpenter's 7.5 % virtual-machine overhead."""
    mig_capable: bool
    """Whether the GPUs can be partitioned by MIG."""
    usd_per_hour: float | None
    """On demand in us-east-1; None where no on-demand price is listed (capacity blocks only)."""

    @property
    def family(self) -> str:
        """The part before the dot: ``g5`` of ``g5.xlarge``."""
        return self.name.partition(".")[0]

    @property
    def size(self) -> str:
        """The part after the dot: ``xlarge`` of ``g5.xlarge``."""
        return self.name.partition(".")[2]

    @property
    def gpu_model(self) -> tuple[str, int]:
        """Name and memory of the GPU: what a workload can tell apart."""
        return self.gpu_name, self.gpu_memory_mib


def _instance_type(row: Mapping[str, str]) -> InstanceType:
    """Read one row of the table."""
    price = row["usd_per_hour"]
    return InstanceType(
        name=row["name"],
        arch=row["arch"],
        vcpu=int(row["vcpu"]),
        memory_mib=int(row["memory_mib"]),
        gpu_name=row["gpu_name"],
        gpu_count=int(row["gpu_count"]),
        gpu_memory_mib=int(row["gpu_memory_mib"]),
        local_nvme_gb=int(row["local_nvme_gb"]),
        efa_interfaces=int(row["efa_interfaces"]),
        ebs_bandwidth_mbps=int(row["ebs_bandwidth_mbps"]),
        network_bandwidth_mbps=int(row["network_bandwidth_mbps"]),
        max_pods=int(row["max_pods"]),
        allocatable_cpu_millicores=int(row["allocatable_cpu_millicores"]),
        allocatable_memory_mib=int(row["allocatable_memory_mib"]),
        mig_capable=row["mig_capable"] == "yes",
        usd_per_hour=float(price) if price else None,
    )


@cache
def _table() -> dict[str, InstanceType]:
    """Read the table once. What reads it is imported here, so that asking for no instance type costs nothing."""
    import csv  # noqa: PLC0415 - lazily, see above
    from pathlib import Path  # noqa: PLC0415 - lazily, see above

    with Path(__file__).with_name("instance_types.csv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        return {row["name"]: _instance_type(row) for row in rows}


class _Catalogue(Mapping[str, InstanceType]):
    """The table as a mapping that is read when it is first used."""

    __slots__ = ()

    def __getitem__(self, name: str) -> InstanceType:
        return _table()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_table())

    def __len__(self) -> int:
        return len(_table())

    def __repr__(self) -> str:
        return f"<{len(self)} instance types>"


CATALOGUE: Mapping[str, InstanceType] = _Catalogue()
"""Instance type name to what it holds."""


def _grouped(key: Callable[[InstanceType], str]) -> dict[str, tuple[InstanceType, ...]]:
    """Group the types by a property, keeping the table's order."""
    groups: dict[str, list[InstanceType]] = {}
    for instance in CATALOGUE.values():
        groups.setdefault(key(instance), []).append(instance)
    return {name: tuple(instances) for name, instances in groups.items()}


@cache
def families() -> Mapping[str, tuple[InstanceType, ...]]:
    """Return the types by family (``g5``), in the table's order: small to large."""
    return _grouped(lambda instance: instance.family)


@cache
def by_gpu_name() -> Mapping[str, tuple[InstanceType, ...]]:
    """Return the types by Karpenter's GPU name (``a10g``)."""
    return _grouped(lambda instance: instance.gpu_name)


@cache
def mig_capable() -> frozenset[str]:
    """Return the names of the types whose GPUs can be partitioned by MIG."""
    return frozenset(name for name, instance in CATALOGUE.items() if instance.mig_capable)


@cache
def efa_capable() -> frozenset[str]:
    """Return the names of the types that can have an Elastic Fabric Adapter."""
    return frozenset(name for name, instance in CATALOGUE.items() if instance.efa_interfaces)
