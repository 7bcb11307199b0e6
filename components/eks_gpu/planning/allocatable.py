"""What pods can have of a node: the catalogue's figures, and what a pool's own kubelet reservations change in them.

The catalogue holds what Karpenter computes where nobody reserves anything else: capacity less EKS's reservations, the
eviction threshold and Karpenter's overhead for virtual machines. A reservation of the pool's own takes the place of
EKS's for that resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.quantity import quantity

_MIB: Final = 2**20

_RESERVED_CPU: Final = ((0, 1000, 60), (1000, 2000, 10), (2000, 4000, 5))
"""From and up to how many millicores, how many of a thousand are reserved; above, 2.5 of a thousand."""

_RESERVED_CPU_ABOVE: Final = (4000, 400)
"""From how many millicores on, one of how many is reserved."""

_RESERVED_MIB: Final = 255
_RESERVED_MIB_PER_POD: Final = 11
"""Karpenter 1.14.1, pkg/providers/instancetype/types.go, ``kubeReservedResources``; nodeadm of amazon-eks-ami v20260724
reserves the same (nodeadm/internal/kubelet/config.go). Checked 2026-11-21."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Allocatable:
    """What pods can have of a node, DaemonSets among them."""

    cpu_millicores: int
    memory_mib: int


def default_reserved(kind: InstanceType) -> Allocatable:
    """Return what EKS reserves on a node of a type where nobody says otherwise."""
    whole = kind.vcpu * 1000
    cpu = sum((min(whole, upper) - lower) * share // 1000 for lower, upper, share in _RESERVED_CPU if whole >= lower)
    above, one_of = _RESERVED_CPU_ABOVE
    cpu += max(0, whole - above) // one_of
    return Allocatable(cpu, _RESERVED_MIB + _RESERVED_MIB_PER_POD * kind.max_pods)


def allocatable(kind: InstanceType, reserved: Mapping[str, str] = _NOTHING) -> Allocatable:
    """Return what pods can have of a node of a type, never less than nothing.

    ``reserved`` is a kubelet's ``kubeReserved`` in Kubernetes quantities; a resource that is not in it, or unreadable,
    keeps EKS's own reservation.
    """
    default = default_reserved(kind)
    cpu = quantity(reserved.get(resources.CPU, ""))
    memory = quantity(reserved.get(resources.MEMORY, ""))
    more_cpu = 0 if cpu is None else round(cpu * 1000) - default.cpu_millicores
    more_memory = 0 if memory is None else round(memory / _MIB) - default.memory_mib
    return Allocatable(
        max(0, kind.allocatable_cpu_millicores - more_cpu), max(0, kind.allocatable_memory_mib - more_memory)
    )
