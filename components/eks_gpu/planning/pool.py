"""A pool: nodes that come alike, as an EKS managed node group or a Karpenter node pool describes them.

The model is read from resources, never from settings, so that it says the same of a program that uses none of our
components. A field that could not be read is :class:`~eks_gpu.planning.reading.NotKnown`; ask with ``need``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.ami import FOREIGN_FAMILIES, AmiFamily, ForeignFamily
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Taint
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu.planning.requirements import Requirement
from eks_gpu.planning.sharing.advertised import Split
from eks_gpu.planning.volume import Volume

HOURS_PER_MONTH: Final = 730
"""The month that AWS's own price pages count with."""

Family = AmiFamily | ForeignFamily
"""An operating system of nodes."""


class PoolKind(StrEnum):
    """Who makes the pool's nodes."""

    NODE_GROUP = "node group"
    """EKS, of a fixed size."""
    SELF_MANAGED = "self-managed node group"
    """An Auto Scaling group, of a fixed size."""
    NODE_POOL = "node pool"
    """Karpenter, on demand."""


class ImageSource(StrEnum):
    """How a pool names the image of its nodes."""

    ALIAS = "alias"
    SSM_PARAMETER = "SSM parameter"
    ID = "id"
    NAME = "name"
    TAGS = "tags"
    RELEASE = "release version"
    LATEST = "latest release of its type"
    """Nothing is said, so EKS takes whatever is newest on the day."""


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """One way in which a pool's image may be chosen."""

    source: ImageSource
    value: str | NotKnown
    """The alias, id, name pattern, parameter or release; for tags, their keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What the pool's nodes boot."""

    family: Family | NotKnown | None
    """``None`` for an image of someone's own, about which we know nothing."""
    choices: tuple[ImageChoice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many nodes a pool has. ``None`` where nothing is said."""

    minimum: int | None = None
    desired: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubelet:
    """What a pool's own kubelet configuration changes in the room on its nodes, in Kubernetes quantities."""

    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    """In the place of EKS's own reservation, resource by resource."""
    system_reserved: Mapping[str, str] = field(default_factory=dict)
    """Besides it; EKS reserves nothing there."""
    eviction_hard: Mapping[str, str] = field(default_factory=dict)
    """``memory.available`` and ``nodefs.available``, as quantities or as percentages: ``100Mi``, ``10%``."""
    max_pods: int | None = None
    """In the place of what the VPC CNI has addresses for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A NodeOverlay's capacity: what Karpenter then believes some instance types to have besides EC2's figures."""

    requirements: tuple[Requirement, ...] = ()
    """Which instance types, and nodes, it is about."""
    capacity: Mapping[str, str] = field(default_factory=dict)
    """Extended resources, in Kubernetes quantities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes that come alike.

    Only a name, a kind and instance types are needed to describe one by hand; the rest is then as EKS and Karpenter
    have it where nothing is said.
    """

    urn: str = ""
    name: str
    kind: PoolKind
    types: tuple[InstanceType, ...] | NotKnown
    """The GPU instance types of the catalogue that it may buy."""
    unlisted: tuple[str, ...] = ()
    """Instance types or families by name that look like GPUs and are not in the catalogue: we know no more."""
    by_omission: bool = False
    """Whether it may buy GPUs only because nothing forbids it."""
    requirements: tuple[Requirement, ...] | NotKnown = ()
    labels: Mapping[str, str] | NotKnown = field(default_factory=dict)
    """What every node carries besides the labels of its instance type."""
    taints: tuple[Taint, ...] | NotKnown = ()
    """Those that stay; startup taints are not among them."""
    capacity_types: frozenset[str] | NotKnown = frozenset({"on-demand"})
    """``on-demand``, ``spot``, ``reserved``."""
    size: Size | NotKnown = field(default_factory=Size)
    """For groups and static node pools."""
    limits: Mapping[str, str] | NotKnown = field(default_factory=dict)
    """For node pools: the most of each resource that all its nodes together may have."""
    weight: int | NotKnown | None = None
    """For node pools: Karpenter tries those with more weight first; unset counts as 0."""
    zones: frozenset[str] | NotKnown | None = None
    """The availability zones of its subnets, before its requirements; None where nobody says which."""
    image: Image | NotKnown = field(default_factory=lambda: Image(family=AmiFamily.AL2023, choices=()))
    volumes: tuple[Volume, ...] | NotKnown = ()
    disk_size_gib: float | NotKnown | None = None
    """A node group's ``diskSize``."""
    instance_store_raid0: bool | NotKnown = False
    """Whether the local NVMe disks hold images and ephemeral storage."""
    kubelet: Kubelet | NotKnown = field(default_factory=Kubelet)
    """As EKS has it, where what would say otherwise (a node class, a launch template) is not to be seen."""
    split: Split | NotKnown = None
    """How its GPUs are shared; not known where what shares them is not in the stack."""
    overlays: tuple[Overlay, ...] | NotKnown = ()
    """For node pools: the NodeOverlays of the cluster."""
    template: str | NotKnown | None = None
    """URN of its launch template or EC2NodeClass; ``None`` for a node group without one."""

    @property
    def gpu_types(self) -> tuple[InstanceType, ...]:
        """The GPU instance types it may buy; raise ``NotKnownError`` when they are not known."""
        return need(self.types)

    @property
    def buys_gpus(self) -> bool:
        """Whether it may buy a GPU, listed in the catalogue or not."""
        return bool(self.unlisted) or bool(self.gpu_types)

    @property
    def static(self) -> bool:
        """Whether its size is fixed rather than following demand."""
        if self.kind is not PoolKind.NODE_POOL:
            return True
        return need(self.size).desired is not None

    @property
    def gpu_limit(self) -> float | None:
        """The most GPUs a node pool may have; None without a limit on them."""
        limit = need(self.limits).get(resources.GPU)
        amount = None if limit is None else quantity(limit)
        return None if amount is None else float(amount)

    @property
    def dearest(self) -> InstanceType | None:
        """The instance type with the highest price it may buy, or None when no type of it has a price."""
        priced = [instance for instance in self.gpu_types if instance.usd_per_hour is not None]
        return max(priced, key=lambda instance: instance.usd_per_hour or 0.0, default=None)

    def volume(self, device: str) -> Volume | None:
        """Return what is mapped to ``device``."""
        return next((volume for volume in need(self.volumes) if volume.device == device), None)


_AMI_TYPE_FAMILIES: Final[tuple[tuple[str, Family], ...]] = (
    ("AL2023_", AmiFamily.AL2023),
    ("BOTTLEROCKET_", AmiFamily.BOTTLEROCKET),
    ("AL2_", FOREIGN_FAMILIES["AL2"]),
)

_LOOKS_LIKE_NVIDIA: Final = re.compile(r"(?!g4ad\.)(?:gr?\d+[a-z]*|p\d+[a-z]*(?:-[a-z]+\d*)?)\.[a-z0-9-]+")
"""The g, gr and p families but for g4ad, whose GPUs are AMD's."""


def family_of(pool: Pool) -> Family | None:
    """Return the family of a pool's image; None for somebody's own. Raise ``NotKnownError`` when nobody knows."""
    return need(need(pool.image).family)


def family_of_ami_type(name: str | None) -> Family | None:
    """Return the family of an EKS ``amiType``; unset means AL2023, ``CUSTOM`` means None."""
    if name is None:
        return AmiFamily.AL2023
    return next((family for prefix, family in _AMI_TYPE_FAMILIES if name.startswith(prefix)), None)


def family_of_alias(name: str) -> Family | None:
    """Return the family of an EC2NodeClass alias (``al2023@v1``) or ``amiFamily``; None for ``Custom`` and others."""
    spelled = name.partition("@")[0].lower()
    families: tuple[Family, ...] = (*AmiFamily, *FOREIGN_FAMILIES.values())
    return next((family for family in families if family_name(family).lower() == spelled), None)


def family_name(family: Family) -> str:
    """Return the family's name as Karpenter spells it."""
    return family.value if isinstance(family, AmiFamily) else family.name


def looks_like_gpu_type(name: str) -> bool:
    """Return whether an instance type's name is of a family with NVIDIA GPUs, in the catalogue or not."""
    return _LOOKS_LIKE_NVIDIA.fullmatch(name) is not None


def looks_like_gpu_family(name: str) -> bool:
    """Return the same of an instance family: ``g6e``."""
    return looks_like_gpu_type(f"{name}.{_ANY_SIZE}")


_ANY_SIZE: Final = "xlarge"
