"""How the GPUs of a pool are shared between pods: one choice with four cases."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol, Self

from pydantic import Field, model_validator

from eks_gpu.facts import gpu_software, labels, mig, resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.settings.block import Block

MOST_REPLICAS: Final = 64
"""More pods than this on one GPU have less than half a gigabyte each of the largest one sold by the slice."""

MOST_MPS_CLIENTS: Final = 48
"""Pods that one MPS server takes, since Volta (NVIDIA MPS guide, "Volta MPS Execution Resource Provisioning"; checked
2026-11-21)."""


class TimeSlicing(Block):
    """One GPU handed to several pods in turn. They share its memory, and one that fails takes the others with it."""

    replicas: int = Field(ge=2, le=MOST_REPLICAS)
    """Pods on one GPU, 2 to 64. No default: each of them gets that fraction of the memory, and nothing enforces it."""

    rename: bool = False
    """Advertise ``nvidia.com/gpu.shared`` and not ``nvidia.com/gpu``, so that nobody gets a share who asked for a GPU.

    Off by default, and refused with Karpenter: no autoscaler knows the new name before a node has it."""


class Mps(Block):
    """One GPU for several pods at once, each limited to its part of memory and threads by NVIDIA's MPS.

    A fault in one pod can still end the others. The operator only: its feature discovery marks the nodes on which the
    MPS daemon starts. Not for pods with a ``/dev/shm`` of their own, as our model servers have: it hides the daemon's.
    """

    replicas: int = Field(ge=2, le=MOST_MPS_CLIENTS)
    """Pods on one GPU, 2 to 48. Each gets that fraction of memory and threads, and MPS enforces it."""


class MigStrategy(StrEnum):
    """How partitions are advertised."""

    SINGLE = mig.SINGLE
    MIXED = mig.MIXED


class Mig(Block):
    """GPUs partitioned in hardware: memory, cache and faults of one pod are its own. A100, H100 and newer have it.

    The operator's MIG manager applies the layout when a node joins and after each reboot, so that it survives both.
    """

    strategy: MigStrategy = MigStrategy.MIXED
    """``mixed``: each profile is a resource of its own, ``nvidia.com/mig-1g.5gb``. ``single``: every partition is
    advertised as ``nvidia.com/gpu``, and all must be alike; whoever names no ``gpu-type`` may then get one for a GPU.
    The operator has one strategy for all nodes, so the platform too."""

    profile: str | None = None
    """A layout that has a name: ``all-1g.5gb`` and so on for each profile, or ``all-balanced``."""

    layout: Mapping[str, int] | None = Field(default=None, min_length=1)
    """A layout of one's own: partitions of each GPU by profile, ``{3g.20gb: 1, 1g.5gb: 4}``."""

    @model_validator(mode="after")
    def _one_layout(self) -> Self:
        if (self.profile is None) == (self.layout is None):
            raise ValueError("give one of profile, such as all-1g.5gb, and layout, such as {3g.20gb: 1, 1g.5gb: 4}")
        if self.profile == mig.ALL_DISABLED:
            raise ValueError(f"profile {mig.ALL_DISABLED} partitions nothing; remove mig")
        fewest = min((self.layout or {}).values(), default=1)
        if fewest < 1:
            raise ValueError(f"layout has {fewest} partitions of a profile; give at least 1, or leave the profile out")
        several = self.profile == mig.ALL_BALANCED or len(self.layout or {}) > 1
        if self.strategy is MigStrategy.SINGLE and several:
            raise ValueError(
                "strategy single needs partitions of one profile on every GPU, because all are advertised by one name; "
                "use strategy mixed, or a layout of one profile"
            )
        return self

    @property
    def layout_name(self) -> str:
        """Name of the layout: the value of the node label by which the MIG manager finds it."""
        return mig.layout_name(self.layout) if self.layout is not None else self.profile or ""


class Sharing(Block):
    """How a GPU is shared between pods: at most one of the cases. Empty means exclusive: a pod has its GPU alone."""

    time_slicing: TimeSlicing | None = None
    """Let pods take turns on a GPU. For development; production inference is refused by policy."""

    mps: Mps | None = None
    """Let pods use a GPU at once, each within its limits. The operator only."""

    mig: Mig | None = None
    """Partition the GPUs in hardware. For node groups with GPUs that have MIG; the operator only."""

    @model_validator(mode="after")
    def _one_case(self) -> Self:
        if len(self._cases) > 1:
            raise ValueError(
                f"{' and '.join(self._cases)} are both given; give one, because a GPU is shared in one way, or none "
                "for exclusive GPUs"
            )
        return self

    @property
    def _cases(self) -> tuple[str, ...]:
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def shared(self) -> bool:
        """Whether several pods share what one pod can ask for. A partition is a pod's own."""
        return self.time_slicing is not None or self.mps is not None

    @property
    def config_name(self) -> str:
        """Name of the device plugin's configuration for it, which says what is in it: ``time-slicing-4``."""
        match self:
            case Sharing(time_slicing=TimeSlicing(replicas=replicas, rename=rename)):
                return f"time-slicing-{replicas}{'-renamed' if rename else ''}"
            case Sharing(mps=Mps(replicas=replicas)):
                return f"mps-{replicas}"
            case _:
                return gpu_software.DEVICE_PLUGIN_EXCLUSIVE_CONFIG

    def node_labels(self) -> dict[str, str]:
        """Return the labels by which a pool's nodes choose this, whatever the platform's default is."""
        chosen = {labels.DEVICE_PLUGIN_CONFIG: self.config_name}
        return chosen if self.mig is None else {**chosen, labels.MIG_CONFIG: self.mig.layout_name}


class SharesGpus(Protocol):
    """What shares GPUs: a node group or a node pool."""

    def shared_as(self, default: Sharing) -> Sharing:
        """Return how, where ``default`` is how those do that do not say."""
        ...


def refuse_misfit(sharing: Sharing, types: Sequence[InstanceType]) -> None:
    """Refuse partitions that the GPUs of a pool cannot hold; raise ``ValueError`` with what would work instead."""
    if sharing.mig is None:
        return
    first = types[0]
    gpu = mig.MODELS.get(first.gpu_model)
    if gpu is None:
        raise ValueError(
            f"sharing mig needs GPUs that can be partitioned, and the {first.gpu_name} of {first.name} has no MIG; "
            f"{mig.WITHOUT_MIG} (sharing: {{mps: {{replicas: 2}}}}), or use types with MIG, such as p4d.24xlarge or "
            "p5.48xlarge"
        )
    model = f"{first.gpu_name} with {first.gpu_memory_mib} MiB"
    if sharing.mig.layout is not None:
        obstacle = gpu.obstacle(sharing.mig.layout)
        if obstacle is not None:
            raise ValueError(f"sharing mig: the {model} cannot hold layout {dict(sharing.mig.layout)}: {obstacle}")
    elif gpu.layout(sharing.mig.layout_name) is None:
        raise ValueError(_no_such_layout(sharing.mig.layout_name, model, gpu))


def _no_such_layout(name: str, model: str, gpu: mig.MigGpu) -> str:
    known = [each for each in gpu.layouts if each != mig.ALL_DISABLED]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"sharing mig: the {model} has no layout {name}; layouts are {', '.join(known)}{hint}"


def refuse_on_demand(sharing: Sharing) -> None:
    """Refuse what a pool cannot offer whose nodes come when pods ask for them; raise ``ValueError``."""
    if sharing.mig is not None:
        raise ValueError(
            "sharing mig needs nodes that are there already: Karpenter knows an instance type by its whole GPUs and "
            "never buys a node for a partition; use a node group, whose size is fixed"
        )
    if sharing.time_slicing is not None and sharing.time_slicing.rename:
        raise ValueError(
            "sharing time_slicing with rename needs nodes that are there already: Karpenter never buys a node for "
            f"{resources.GPU_SHARED}, which it does not know; remove rename, or use a node group"
        )


def refuse_placeholders(sharing: Sharing) -> None:
    """Refuse shares where placeholders keep nodes warm; raise ``ValueError``."""
    if sharing.shared:
        raise ValueError(
            "does not go with GPUs that pods share: a placeholder holds a node by asking for all its GPUs, and nobody "
            "gets more than one share; remove warm_nodes, or give the pool exclusive GPUs with sharing: {}"
        )


def refuse_checks_beside_mps(sharing: Sharing) -> None:
    """Refuse MPS where new nodes are proven by pods that ask for no GPU; raise ``ValueError``.

    The MPS daemon puts each GPU into compute mode EXCLUSIVE_PROCESS (NVIDIA/k8s-device-plugin v0.20.0,
    MPS daemon, Start), so that CUDA works only for those that the device plugin made its clients.
    """
    if sharing.mps is not None:
        raise ValueError(
            "does not go with sharing mps: the MPS daemon has the GPUs for itself and its clients, so the checks of a "
            "new node would find them busy, and every node would be given back; remove validate_new_nodes, or share "
            "by time_slicing or not at all"
        )


def refuse_beside_own_plugin(sharing: Sharing) -> None:
    """Refuse sharing on nodes whose image runs a device plugin of its own; raise ``ValueError``."""
    if sharing != Sharing():
        raise ValueError(
            "sharing does not reach nodes of this image, which run a device plugin of their own and read its "
            "configuration when they boot; use image: {family: al2023}, or leave sharing out for exclusive GPUs"
        )


def refuse_without_operator(sharing: Sharing) -> None:
    """Refuse what the plain path of GPU software cannot do; raise ``ValueError``."""
    if sharing.mps is not None:
        raise ValueError(
            "sharing mps does not start with kind device_plugin: the MPS daemon runs on nodes that GPU feature "
            "discovery has marked, and only the operator brings that; use kind: operator, or time_slicing"
        )
    if sharing.mig is not None:
        raise ValueError(
            "sharing mig is not kept with kind device_plugin: nobody would partition the GPUs again after a reboot; "
            "use kind: operator, whose MIG manager does"
        )


def refuse_disagreement(default: Sharing, pools: Mapping[str, SharesGpus]) -> None:
    """Refuse pools that one operator cannot serve together; raise ``ValueError``. ``default`` is the platform's."""
    every = {name: pool.shared_as(default) for name, pool in pools.items()}
    by_strategy = {each.mig.strategy: name for name, each in every.items() if each.mig is not None}
    if len(by_strategy) > 1:
        listed = " and ".join(f"{strategy} ({name})" for strategy, name in by_strategy.items())
        raise ValueError(
            f"sharing mig has strategy {listed}, but the operator has one for all nodes; give the same strategy, mixed "
            "unless all partitions are alike"
        )
    mps = [name for name, each in every.items() if each.mps is not None]
    if mps and MigStrategy.MIXED in by_strategy:
        raise ValueError(
            f"sharing mps ({', '.join(mps)}) does not start beside mig with strategy mixed "
            f"({by_strategy[MigStrategy.MIXED]}), which the device plugin then has on all nodes; use strategy single, "
            "or time_slicing in place of mps"
        )
