"""How much of each resource a pod can have of an empty node, type by type.

For node pools that is what Karpenter reckons with: it buys for nothing else. Of managed nodes, which are there already,
Karpenter's allowance for what virtual machines keep of their memory is more than they keep: between the two figures
nobody can tell beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.allocatable import allocatable
from eks_gpu.planning.images.image_volume import image_volume_gib
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement.demand import in_units
from eks_gpu.planning.pool import Kubelet, Pool, PoolKind
from eks_gpu.planning.quantity import GIB, quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu.planning.sharing.advertised import Partitions, advertised

MIB: Final = 2**20
GB: Final = 10**9
PLENTY: Final = 2**62
"""Room of which nobody knows how much there is."""

VM_OVERHEAD: Final = Fraction(75, 1000)
"""The share of a machine's memory that Karpenter takes for kept by it (its chart's ``vmMemoryOverheadPercent``)."""
_EVICTION_MIB: Final = 100
_EVICTION_SHARE: Final = Fraction(1, 10)
_RESERVED_STORAGE: Final = GIB
"""Kept of a disk where nobody says otherwise: 1 GiB for the kubelet, a tenth below which it evicts (Karpenter 1.14.1,
pkg/providers/instancetype/types.go, ``kubeReservedResources`` and ``evictionThreshold``, checked 2026-11-21)."""
_MIB_PER_POD: Final = 11
_MOST_PODS: Final = ((30, 110), (None, 250))
"""Below how many vCPU EKS lets a managed node have how many pods at most (EKS user guide, "Choosing an Amazon EC2
instance type", checked 2026-11-21)."""


class Room(NamedTuple):
    """Room for one resource on one type."""

    sure: int
    """At least this."""
    most: int
    """At most this."""


class Rooms(NamedTuple):
    """Room on the nodes of one type."""

    by_resource: Mapping[str, Room]
    pods: int
    """Places for pods, DaemonSets among them."""
    unclear: Mapping[str, NotKnown]
    """What would have to be known about a resource of which ``sure`` and ``most`` differ."""


def rooms(pool: Pool, kind: InstanceType) -> Rooms:
    """Return the room on an empty node without any DaemonSet."""
    kubelet = Kubelet() if isinstance(pool.kubelet, NotKnown) else pool.kubelet
    pods = _pods(pool, kind, kubelet)
    found, unclear = _devices(pool, kind)
    found[resources.CPU], found[resources.MEMORY] = _cpu(kind, kubelet), _memory(pool, kind, kubelet, pods)
    if found[resources.MEMORY].sure < found[resources.MEMORY].most:
        unclear[resources.MEMORY] = NotKnown(pool.urn, "memory", "what machines keep for themselves is not known")
    storage = attempt(_storage, pool, kind, kubelet)
    if isinstance(storage, NotKnown):
        found[resources.EPHEMERAL_STORAGE], unclear[resources.EPHEMERAL_STORAGE] = Room(0, PLENTY), storage
    else:
        found[resources.EPHEMERAL_STORAGE] = _exactly(storage)
    if isinstance(pool.kubelet, NotKnown):
        for resource in (resources.CPU, resources.MEMORY):
            found[resource] = Room(0, found[resource].most)
            unclear[resource] = pool.kubelet
    return Rooms(found, pods, unclear)


def _exactly(amount: int) -> Room:
    return Room(max(0, amount), max(0, amount))


def _pods(pool: Pool, kind: InstanceType, kubelet: Kubelet) -> int:
    if kubelet.max_pods is not None:
        return kubelet.max_pods
    if pool.kind is PoolKind.NODE_GROUP:
        return min(kind.max_pods, next(most for vcpu, most in _MOST_PODS if vcpu is None or kind.vcpu < vcpu))
    return kind.max_pods


def _cpu(kind: InstanceType, kubelet: Kubelet) -> Room:
    left = allocatable(kind, kubelet.kube_reserved).cpu_millicores
    return _exactly(left - (in_units(resources.CPU, kubelet.system_reserved.get(resources.CPU, "0")) or 0))


def _memory(pool: Pool, kind: InstanceType, kubelet: Kubelet, pods: int) -> Room:
    left = allocatable(kind, kubelet.kube_reserved).memory_mib * MIB
    if quantity(kubelet.kube_reserved.get(resources.MEMORY, "")) is None:
        left += _MIB_PER_POD * (kind.max_pods - pods) * MIB
    left -= in_units(resources.MEMORY, kubelet.system_reserved.get(resources.MEMORY, "0")) or 0
    signal = kubelet.eviction_hard.get("memory.available")
    if signal is not None:
        left -= _kept(signal, kind.memory_mib * MIB) - _EVICTION_MIB * MIB
    if pool.kind is PoolKind.NODE_POOL:
        return _exactly(left)
    return Room(max(0, left), max(0, left + int(kind.memory_mib * MIB * VM_OVERHEAD)))


def _kept(signal: str, whole: int) -> int:
    """Return what an eviction signal keeps free: a quantity, or a percentage of the whole."""
    share = quantity(signal.removesuffix("%")) if signal.endswith("%") else None
    if share is not None:
        return int(whole * share / 100) if share < 100 else 0  # noqa: PLR2004 - percent; the kubelet takes 100 for off
    return in_units(resources.MEMORY, signal) or 0


def _storage(pool: Pool, kind: InstanceType, kubelet: Kubelet) -> int:
    whole = kind.local_nvme_gb * GB
    if not (whole and need(pool.instance_store_raid0)):
        whole = int(image_volume_gib(pool) * GIB)
    signal = kubelet.eviction_hard.get("nodefs.available")
    evicted = int(whole * _EVICTION_SHARE) if signal is None else _kept(signal, whole)
    reserved = in_units(resources.EPHEMERAL_STORAGE, kubelet.kube_reserved.get(resources.EPHEMERAL_STORAGE, ""))
    system = in_units(resources.EPHEMERAL_STORAGE, kubelet.system_reserved.get(resources.EPHEMERAL_STORAGE, "0"))
    return whole - evicted - (_RESERVED_STORAGE if reserved is None else reserved) - (system or 0)


# --- devices ---------------------------------------------------------------------------------------------------------


def _devices(pool: Pool, kind: InstanceType) -> tuple[dict[str, Room], dict[str, NotKnown]]:
    """Return the GPUs and adapters on a node: as many as it really has, and for a node pool as Karpenter believes."""
    found = {resources.GPU: Room(0, 0), **dict(_gpus(pool, kind)), resources.EFA: _exactly(kind.efa_interfaces)}
    unclear = {}
    if isinstance(pool.split, NotKnown):
        unclear = {name: pool.split for name, room in found.items() if room.sure < room.most}
    if pool.kind is PoolKind.NODE_POOL and not _is_static(pool):
        overlaid = _overlaid(pool, kind)
        if isinstance(pool.split, NotKnown):
            found |= {name: _exactly(amount) for name, amount in overlaid.items()}
        believed = {resources.GPU: kind.gpu_count, resources.EFA: kind.efa_interfaces, **overlaid}
        found = {name: _at_most(room, believed[name]) for name, room in found.items() if name in believed}
    return found, unclear


def _gpus(pool: Pool, kind: InstanceType) -> Iterator[tuple[str, Room]]:
    if isinstance(pool.split, NotKnown):
        yield resources.GPU, _exactly(kind.gpu_count)
        yield resources.GPU_SHARED, Room(0, PLENTY if kind.gpu_count else 0)
        yield from _partitions_by_label(pool, kind)
        return
    try:
        real = advertised(kind, pool.split)
    except ValueError:  # The GPUs cannot be partitioned so; they stay whole.
        real = {resources.GPU: kind.gpu_count}
    yield from ((name, _exactly(count)) for name, count in real.items())


def _partitions_by_label(pool: Pool, kind: InstanceType) -> Iterator[tuple[str, Room]]:
    """Yield the partitions where it is not known who makes them: as the label says, else any that the GPU can have."""
    gpu = mig.MODELS.get(kind.gpu_model)
    if gpu is None:
        return
    layout = None if isinstance(pool.labels, NotKnown) else pool.labels.get(labels.MIG_CONFIG)
    if layout is not None and gpu.layout(layout) is not None:
        for name, count in advertised(kind, Partitions(layout)).items():
            yield name, _exactly(count)
            yield name + resources.SHARED_SUFFIX, Room(0, PLENTY)
        return
    for profile in gpu.profiles:
        yield resources.mig(profile.name), Room(0, gpu.most(profile) * kind.gpu_count)


def _at_most(room: Room, most: int) -> Room:
    return Room(min(room.sure, most), min(room.most, most))


def _is_static(pool: Pool) -> bool:
    return attempt(lambda: pool.static) is True


def _overlaid(pool: Pool, kind: InstanceType) -> dict[str, int]:
    """Return what overlays make Karpenter believe of a type; what they say of places or pools may hold."""
    if isinstance(pool.overlays, NotKnown):
        return {}
    described = instance_labels(kind)
    found: dict[str, int] = {}
    for overlay in pool.overlays:
        about = (each for each in overlay.requirements if each.key in described)
        if all(each.admits(described[each.key]) for each in about):
            amounts = {name: in_units(name, text) for name, text in overlay.capacity.items()}
            found |= {name: amount for name, amount in amounts.items() if amount is not None}
    return found
