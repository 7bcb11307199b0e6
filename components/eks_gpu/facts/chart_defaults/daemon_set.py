"""How a chart's DaemonSets are described: where in its values each finds what decides on which nodes it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from eks_gpu.facts.taints import GPU, Effect

Path = tuple[str, ...]
"""Keys that lead to a value of a chart."""


class Role(StrEnum):
    """What a DaemonSet does on a node."""

    DEVICE_PLUGIN = "device plugin"
    DRA_DRIVER = "DRA driver"
    """Both make GPUs known to the scheduler: one of them per node."""
    NFD = "node feature discovery"
    GFD = "GPU feature discovery"
    MPS = "MPS control daemon"
    EXPORTER = "GPU metrics exporter"
    MIG_MANAGER = "MIG manager"
    DRIVER = "driver installer"
    TOOLKIT = "container toolkit installer"
    VALIDATOR = "validator"
    DCGM = "DCGM host engine"
    EFA_PLUGIN = "EFA device plugin"
    STORAGE = "storage driver"
    NODE_AGENT = "node agent"
    NODE_EXPORTER = "node metrics exporter"
    LOGS = "log shipper"


GPU_ROLES: frozenset[Role] = frozenset(
    {
        Role.DEVICE_PLUGIN,
        Role.DRA_DRIVER,
        Role.GFD,
        Role.MPS,
        Role.EXPORTER,
        Role.MIG_MANAGER,
        Role.DRIVER,
        Role.TOOLKIT,
        Role.VALIDATOR,
        Role.DCGM,
    }
)
"""What has no business on nodes without GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSet:
    """One DaemonSet of a chart."""

    name: str
    role: Role
    switches: tuple[tuple[Path, ...], ...] = ()
    """It is there when all of these are on; of the paths of one, the first that is set decides."""
    decided_by: Path | None = None
    """A switch with which custom resources decide where it runs."""
    tolerations: tuple[Path, ...] = ()
    """Lists that are put one after the other."""
    always_tolerates: tuple[Mapping[str, str], ...] = ()
    """What its template tolerates besides."""
    tolerates_all: Path | None = None
    """A switch that replaces its tolerations by one for everything."""
    selectors: tuple[Path, ...] = ()
    always_selects: Mapping[str, str] = field(default_factory=dict)
    """What its template selects besides."""
    affinity: Path | None = None
    resources: tuple[Path, ...] = ()
    """Of each container."""
    adds: Mapping[str, str | None] = field(default_factory=dict)
    """Labels that a node has once it runs there; None for a value that depends on the node."""
    pci_fields: Path | None = None
    """Where the values say by which fields node feature discovery names PCI devices."""
    opt_outs: tuple[str, ...] = ()
    """Labels of a pool that keep it away when they say ``false``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartDaemons:
    """What a chart, or an add-on of the same values, puts on nodes."""

    chart: str
    defaults: Mapping[str, object]
    """The part of its default values that the paths of its DaemonSets lead through."""
    daemon_sets: tuple[DaemonSet, ...]
    read_until: tuple[int, ...] | None = None
    """The newest release line whose values were read; of a later one nothing is assumed. None where the line has been
    the same for years."""


TOLERATES_GPU: Mapping[str, str] = MappingProxyType(
    {"key": GPU.key, "operator": "Exists", "effect": Effect.NO_SCHEDULE.value}
)
CRITICAL: Mapping[str, str] = MappingProxyType({"key": "CriticalAddonsOnly", "operator": "Exists"})
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
MASTER = "node-role.kubernetes.io/master"


def equal(key: str, value: str = "") -> Mapping[str, str]:
    """Return a toleration of one value of a NoSchedule taint."""
    return MappingProxyType({"key": key, "operator": "Equal", "value": value, "effect": Effect.NO_SCHEDULE.value})


def exists(key: str) -> Mapping[str, str]:
    """Return a toleration of any value of a NoSchedule taint."""
    return MappingProxyType({"key": key, "operator": "Exists", "effect": Effect.NO_SCHEDULE.value})


Term = Sequence[tuple[str, str, Sequence[str]]]
"""Expressions that must all hold: key, operator, values."""


def requires(*terms: Term) -> dict[str, object]:
    """Return an ``affinity`` of which one of ``terms`` must hold."""
    written = [
        {"matchExpressions": [{"key": key, "operator": verb, "values": list(values)} for key, verb, values in term]}
        for term in terms
    ]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": written}}}


def resources(cpu: str, memory: str) -> dict[str, object]:
    """Return the ``resources`` of a container that requests as much."""
    return {"requests": {"cpu": cpu, "memory": memory}}
