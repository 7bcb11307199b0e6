"""What Karpenter can buy in the sandbox: the catalogue of facts as the file that its kwok cloud reads.

Stands in for EC2's description of instance types, its prices and its stock. Sizes, GPUs and on-demand prices are those
of the catalogue. It does not prove what EC2 has at hand, what spot costs, or which subnets an EC2NodeClass selects:
every type is there in every zone unless a `Shortage` says otherwise, and spot costs the same share of every price.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instance_labels import DESCRIBED, instance_labels
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from sandbox.errors import SandboxError

ON_DEMAND: Final = "on-demand"
SPOT: Final = "spot"
RESERVED: Final = "reserved"

SPOT_SHARE: Final = 0.4
"""Invented: spot below on-demand everywhere is all that a decision can depend on."""

_RESERVED_SHARE: Final = 1e-7
"""The real provider divides by ten million, so that what is paid already is as good as free (karpenter-provider-aws
v1.14.1, offering/reserved_capacity_resolver.go, checked 2026-11-21)."""

ROOT_VOLUME_GIB: Final = 100
"""Ephemeral storage of a node where nobody knows its volume."""

_KWOK_CPU_MILLICORES: Final = 100
_KWOK_MEMORY_MIB: Final = 10
"""What the kwok cloud takes from capacity, whatever the type (sigs.k8s.io/karpenter v1.14.1, kwok/cloudprovider)."""

_NAME: Final = re.compile(r"([a-z]+)(\d+)[a-z0-9-]*\.(\w+)")
_CPU_GIB_PER_VCPU: Final[Mapping[str, int]] = {"c": 2, "m": 4, "r": 8}
_CPU_USD_PER_VCPU: Final[Mapping[str, float]] = {"c": 0.0446, "m": 0.0504, "r": 0.0662}
"""Memory and (roughly) price for each vCPU of the general families, in us-east-1 (EC2 pages of the seventh
generation, checked 2026-11-21). The catalogue holds GPU types only; of others only their size matters here."""
_CPU_MAX_PODS: Final[Mapping[int, int]] = {1: 8, 2: 29, 4: 58, 8: 58, 16: 234, 32: 234, 48: 234, 64: 737}
"""Up to so many vCPUs, as the VPC CNI has addresses (awslabs/amazon-eks-ami, eni-max-pods.txt); above, as the last."""
_ARM: Final = re.compile(r"[cmr]\d+g")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """What EC2 does not have: everything that fits all the fields that are given."""

    instance_type: str | None = None
    capacity_type: str | None = None
    zone: str | None = None

    def covers(self, instance_type: str, capacity_type: str, zone: str) -> bool:
        """Tell whether an offering cannot be had."""
        wanted = (self.instance_type, self.capacity_type, self.zone)
        return all(
            want is None or want == is_ for want, is_ in zip(wanted, (instance_type, capacity_type, zone), strict=True)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Capacity that was paid for in advance: so many instances of a type in one zone."""

    id: str
    instance_type: str
    zone: str
    count: int
    kind: str = "default"
    """``default``, or ``capacity-block``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What can be bought, and where."""

    region: str = "us-east-1"
    zones: tuple[str, ...] = ("us-east-1a", "us-east-1b", "us-east-1c")
    shortages: tuple[Shortage, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    other_types: tuple[str, ...] = ("m7i.large", "m7i.xlarge", "m7i.2xlarge", "m7i.4xlarge")
    """Types without GPU that are offered beside the catalogue's."""

    @property
    def types(self) -> Iterator[InstanceType]:
        """All types, whether they can be had or not."""
        yield from CATALOGUE.values()
        yield from (known(name) for name in self.other_types)


def write(path: Path, market: Market) -> None:
    """Write the file that Karpenter's kwok cloud reads when it starts."""
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(json.dumps(document(market)))
    temporary.replace(path)


def document(market: Market) -> list[dict[str, Any]]:
    """Return the content of that file: the types that can be had at all."""
    entries = (_entry(instance, market) for instance in market.types)
    return [entry for entry in entries if entry["offerings"]]


def known(name: str) -> InstanceType:
    """Return a type of the catalogue, or one of EC2's families without GPU, whose sizes follow from their names.

    Raises:
        SandboxError: the sandbox does not know the type.

    """
    if name in CATALOGUE:
        return CATALOGUE[name]
    found = _NAME.fullmatch(name)
    vcpu = _vcpu(found.group(3)) if found else 0
    if not found or not vcpu or found.group(1) not in _CPU_GIB_PER_VCPU:
        raise SandboxError(
            f"the sandbox does not know how large {name} is: it knows the {len(CATALOGUE)} types with NVIDIA GPUs and "
            "the sizes medium to 48xlarge of the families c, m and r; use one of those in the sandbox's stack"
        )
    return _cpu_type(name, found.group(1), vcpu)


_RESERVATION_KEYS: Final = (labels.RESERVATION_ID, labels.RESERVATION_TYPE, labels.RESERVATION_INTERRUPTIBLE)


def _entry(instance: InstanceType, market: Market) -> dict[str, Any]:
    described = instance_labels(instance)
    # Karpenter takes a well-known key that an offering does not mention for "anything goes". The real provider says of
    # each that it does not exist; without that, a CPU type would do for a pool that wants GPUs of some name.
    fixed = [
        _is(labels.REGION, market.region),
        *(_is(key, value) for key, value in described.items()),
        *(_is_absent(key) for key in DESCRIBED if key not in described),
    ]
    return {
        "name": instance.name,
        "architecture": instance.arch,
        "operatingSystems": ["linux"],
        "resources": _capacity(instance),
        "offerings": [
            {**offering, "Requirements": [*offering["Requirements"], *fixed]}
            for offering in (*_bought(instance, market), *_reserved(instance, market))
        ],
    }


def _capacity(instance: InstanceType) -> dict[str, str]:
    """Return what the kwok cloud leaves of this is what pods can have on the real type."""
    capacity = {
        resources.CPU: f"{instance.allocatable_cpu_millicores + _KWOK_CPU_MILLICORES}m",
        resources.MEMORY: f"{instance.allocatable_memory_mib + _KWOK_MEMORY_MIB}Mi",
        resources.PODS: str(instance.max_pods),
        resources.EPHEMERAL_STORAGE: allocatable_storage(ROOT_VOLUME_GIB),
    }
    if instance.gpu_count:
        capacity[resources.GPU] = str(instance.gpu_count)
    if instance.efa_interfaces:
        capacity[resources.EFA] = str(instance.efa_interfaces)
    return capacity


def allocatable_storage(volume_gib: int) -> str:
    """Return what pods can have of a node's volume: all but the eviction threshold of 10 % and 1 GiB of the kubelet."""
    mib = volume_gib * 1024
    return f"{mib - mib // 10 - 1024}Mi"


def _bought(instance: InstanceType, market: Market) -> Iterator[dict[str, Any]]:
    """Offer the type in every zone; one without a price is sold in capacity blocks only."""
    price = instance.usd_per_hour
    if price is None:
        return
    for zone in market.zones:
        for capacity_type, share in ((ON_DEMAND, 1.0), (SPOT, SPOT_SHARE)):
            if any(shortage.covers(instance.name, capacity_type, zone) for shortage in market.shortages):
                continue
            absent = [_is_absent(key) for key in _RESERVATION_KEYS]
            where = [_is(labels.CAPACITY_TYPE, capacity_type), _is(labels.ZONE, zone)]
            yield {"Price": round(price * share, 6), "Requirements": [*where, *absent]}


def _reserved(instance: InstanceType, market: Market) -> Iterator[dict[str, Any]]:
    for reservation in market.reservations:
        if reservation.instance_type != instance.name:
            continue
        requirements = [
            _is(labels.CAPACITY_TYPE, RESERVED),
            _is(labels.ZONE, reservation.zone),
            _is(labels.RESERVATION_ID, reservation.id),
            _is(labels.RESERVATION_TYPE, reservation.kind),
            _is(labels.RESERVATION_INTERRUPTIBLE, "false"),
        ]
        price = (instance.usd_per_hour or 0.0) * _RESERVED_SHARE
        yield {"Price": price, "ReservationCapacity": reservation.count, "Requirements": requirements}


def _is(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def _is_absent(key: str) -> dict[str, Any]:
    return {"key": key, "operator": "DoesNotExist"}


def _vcpu(size: str) -> int:
    """Return the vCPUs of a size, or 0 if it is none."""
    if size in {"medium", "large", "xlarge"}:
        return {"medium": 1, "large": 2, "xlarge": 4}[size]
    times = size.removesuffix("xlarge")
    return 4 * int(times) if size != times and times.isdecimal() else 0


def _cpu_type(name: str, family: str, vcpu: int) -> InstanceType:
    memory = vcpu * _CPU_GIB_PER_VCPU[family] * 1024
    arch = "arm64" if _ARM.match(name) else "amd64"
    pods = next((pods for limit, pods in _CPU_MAX_PODS.items() if vcpu <= limit), max(_CPU_MAX_PODS.values()))
    return InstanceType(
        name=name,
        arch=arch,
        vcpu=vcpu,
        memory_mib=memory,
        gpu_name="",
        gpu_count=0,
        gpu_memory_mib=0,
        local_nvme_gb=0,
        efa_interfaces=0,
        ebs_bandwidth_mbps=0,
        network_bandwidth_mbps=0,
        max_pods=pods,
        allocatable_cpu_millicores=allocatable_millicores(vcpu),
        allocatable_memory_mib=allocatable_mib(memory, pods, arch),
        mig_capable=False,
        usd_per_hour=round(vcpu * _CPU_USD_PER_VCPU[family], 4),
    )


def allocatable_millicores(vcpu: int) -> int:
    """Return what the kubelet leaves to pods: it keeps 6 % of the first core, 1 %, 0.5 %, 0.5 %, 0.25 % of the rest."""
    shares = (60.0, 10.0, 5.0, 5.0)
    return 1000 * vcpu - int(sum(shares[:vcpu]) + 2.5 * max(0, vcpu - len(shares)))


def allocatable_mib(memory_mib: int, max_pods: int, arch: str) -> int:
    """Return the memory that is left to pods, as Karpenter computes it.

    It expects Graviton to keep 64 MiB for itself, the virtual machine 7.5 %, the kubelet 255 MiB and 11 for each pod,
    and the eviction threshold to be 100 MiB (karpenter-provider-aws v1.14.1, instancetype/types.go, checked
    2026-11-21).
    """
    usable = memory_mib - (64 if arch == "arm64" else 0)
    virtual_machine = -(-usable * 75 // 1000)
    return usable - virtual_machine - (255 + 11 * max_pods) - 100
