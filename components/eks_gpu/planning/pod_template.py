"""A pod template: what a workload asks of a node, whatever kind of object carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.requirements import Requirement

NOWHERE: Final = View(None, "")
"""The properties of what was read from no resource."""


class WorkloadKind(StrEnum):
    """What the pods are for; rules ask different things of each."""

    INFERENCE = "inference"
    TRAINING = "training"
    DEVELOPMENT = "development"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's consent to a taint. ``None`` matches every key or effect."""

    key: str | None
    operator: str
    value: str
    effect: str | None


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a container sees a volume."""

    volume: str
    path: str
    read_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container."""

    name: str
    image: str | NotKnown = ""
    requests: Mapping[str, str] | NotKnown = field(default_factory=dict)
    limits: Mapping[str, str] | NotKnown = field(default_factory=dict)
    mounts: tuple[Mount, ...] | NotKnown = ()
    claims_devices: bool = False
    """Whether it uses a GPU that is allocated dynamically (DRA)."""
    restarts: bool | NotKnown = False
    """Whether, as an init container, it runs on beside those after it: a sidecar."""
    place: View = NOWHERE
    """Its properties, for what only one rule asks."""

    @property
    def gpu_resources(self) -> tuple[str, ...]:
        """The GPU resources it asks for, in requests or limits; an amount of zero asks for none."""
        asked = (*need(self.requests).items(), *need(self.limits).items())
        return tuple(sorted({name for name, amount in asked if resources.is_gpu(name) and quantity(amount) != 0}))

    @property
    def asks_gpu(self) -> bool:
        """Whether it asks for a GPU, a share or slice of one, or a device by claim."""
        return self.claims_devices or bool(self.gpu_resources)

    @property
    def memory_limit(self) -> Fraction | None:
        """Bytes of memory it may use, its memory-backed volumes included."""
        limit = need(self.limits).get(resources.MEMORY)
        return None if limit is None else quantity(limit)


@dataclass(frozen=True, slots=True)
class PodVolume:
    """A volume of a pod."""

    name: str
    place: View
    """Its properties."""

    @property
    def in_memory(self) -> bool:
        """Whether it is an ``emptyDir`` kept in memory."""
        return self.place.at("emptyDir", "medium").text() == "Memory"

    @property
    def size_limit(self) -> Fraction | None:
        """The ``emptyDir``'s limit in bytes."""
        return self.place.at("emptyDir", "sizeLimit").quantity()

    @property
    def claim(self) -> str | None:
        """The PersistentVolumeClaim it is bound to."""
        return self.place.at("persistentVolumeClaim", "claimName").text()


@dataclass(frozen=True, slots=True)
class Preference:
    """A term of preferred node affinity."""

    weight: int
    """1 to 100."""
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class VolumeAffinity:
    """Where a volume can be mounted, and so the pod can be."""

    volume: str
    """What people call the volume: the name of its claim."""
    terms: tuple[tuple[Requirement, ...], ...]
    """Conditions on the node, of which one must hold: usually its zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTemplate:
    """The pods of one workload."""

    urn: str = ""
    """URN of the resource that carries the template."""
    name: str
    """Logical name of that resource."""
    owner_kind: str = "Pod"
    """``Deployment``, ``Job``, ``RayCluster`` ..."""
    path: str = "spec"
    """Where in the properties the template's spec is."""
    kind: WorkloadKind | NotKnown = WorkloadKind.OTHER
    labels: Mapping[str, str] | NotKnown = field(default_factory=dict)
    annotations: Mapping[str, str] | NotKnown = field(default_factory=dict)
    containers: tuple[Container, ...] | NotKnown
    init_containers: tuple[Container, ...] | NotKnown = ()
    overhead: Mapping[str, str] | NotKnown = field(default_factory=dict)
    """What its runtime takes besides the containers, in Kubernetes quantities."""
    pod_requests: Mapping[str, str] | NotKnown = field(default_factory=dict)
    """What it asks for as a whole, in the place of the sum of its containers (CPU, memory, huge pages)."""
    volumes: tuple[PodVolume, ...] | NotKnown = ()
    tolerations: tuple[Toleration, ...] | NotKnown = ()
    selector: tuple[Requirement, ...] | NotKnown = ()
    """What ``nodeSelector`` requires."""
    affinity: tuple[tuple[Requirement, ...], ...] | NotKnown = ()
    """The terms of required node affinity, of which one must hold; empty where nothing is required."""
    preferred: tuple[Preference, ...] | NotKnown = ()
    """The terms of preferred node affinity: they refuse no node, and rank those there are."""
    volume_affinity: tuple[VolumeAffinity, ...] | NotKnown = ()
    """Where the volumes are that it is bound to."""
    runtime_class: str | NotKnown | None = None
    spec: View = NOWHERE
    """The pod's spec, for what only one rule asks."""

    @property
    def all_containers(self) -> tuple[Container, ...]:
        """Its containers and init containers."""
        return need(self.containers) + need(self.init_containers)

    @property
    def gpu_containers(self) -> tuple[Container, ...]:
        """Those of its containers that ask for a GPU."""
        return tuple(container for container in need(self.containers) if container.asks_gpu)

    @property
    def asks_gpu(self) -> bool:
        """Whether any container asks for a GPU."""
        return any(container.asks_gpu for container in self.all_containers)

    @property
    def extended_resources(self) -> frozenset[str]:
        """The names of the extended resources it asks for; EKS tolerates taints with these keys on its behalf."""
        asked = {name for box in self.all_containers for name in (*need(box.requests), *need(box.limits))}
        return frozenset(name for name in asked if "/" in name)

    def volume(self, name: str) -> PodVolume | None:
        """Return the volume called ``name``."""
        return next((volume for volume in need(self.volumes) if volume.name == name), None)


def asks_gpu(pod: PodTemplate) -> bool | NotKnown:
    """Return whether a pod asks for a GPU, or what would have to be known to tell."""
    return attempt(lambda: pod.asks_gpu)
