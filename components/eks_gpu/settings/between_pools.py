"""What must hold between pools, their owner and their users about how GPUs are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from eks_gpu.facts import mig
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.settings.problems import Location, Problem
from eks_gpu.settings.sharing import (
    Sharing,
    refuse_checks_beside_mps,
    refuse_disagreement,
    refuse_on_demand,
    refuse_placeholders,
    refuse_without_operator,
)

_PLAIN_PATH = "device_plugin"
_BLOCK = "gpu_software"
_ON_DEMAND = "node_pools"


@dataclass(frozen=True, slots=True)
class SharingPool:
    """A pool as far as it matters here."""

    location: Location
    sharing: Sharing | None
    """None when it does not say, or says it wrongly, which is somebody else's problem."""
    models: tuple[tuple[str, int], ...]
    """Its GPU model, with the memory in MiB; none when it is not known."""
    warm: bool = False
    """Whether placeholders keep nodes of it ready."""
    closed: bool = False
    """Whether its new nodes are proven before workloads come to them."""

    @property
    def profiles(self) -> frozenset[str]:
        """The MIG profiles that its GPUs are partitioned into; none where they are whole."""
        if self.sharing is None or self.sharing.mig is None:
            return frozenset()
        layout = self.sharing.mig.layout_name
        gpus = (mig.MODELS[model] for model in self.models if model in mig.MODELS)
        return frozenset(profile for gpu in gpus for profile in gpu.layout(layout) or {})

    def shared_as(self, default: Sharing) -> Sharing:
        """Return how its GPUs are shared."""
        return self.sharing or default


def sharing_of(block: Mapping[str, object]) -> Sharing | None:
    """Return what a block says under ``sharing``; None when it says nothing, or something that is refused anyway."""
    said = block.get("sharing")
    if said is None:
        return None
    try:
        return Sharing.model_validate(said)
    except ValidationError:
        return None


def problems_of_sharing(owner: Mapping[str, object], pools: list[SharingPool]) -> Iterator[Problem]:
    """Yield what the owner of the GPUs (the ``gpu_software`` block) cannot do for the pools."""
    default = sharing_of(owner) or Sharing()
    if owner.get("kind") == _PLAIN_PATH:
        for pool in pools:
            yield from _refused(refuse_without_operator, pool.sharing, pool.location)
    else:
        yield from _disagreements(default, pools)
    if any(pool.location[0] == _ON_DEMAND and pool.sharing is None for pool in pools):
        yield from _refused(refuse_on_demand, default, (_BLOCK,))
    for pool in pools:
        if pool.warm:
            yield from _refused(refuse_placeholders, pool.shared_as(default), pool.location, "warm_nodes")
        if pool.closed:
            yield from _refused(refuse_checks_beside_mps, pool.shared_as(default), pool.location, "validate_new_nodes")


def models_of(instance_types: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the GPU models of those instance types that the catalogue knows."""
    return tuple({CATALOGUE[name].gpu_model for name in instance_types if name in CATALOGUE})


def problems_of_server(
    location: Location,
    server: tuple[Sequence[str], object],
    owner: Mapping[str, object],
    pools: list[SharingPool],
) -> Iterator[Problem]:
    """Yield why a server finds no GPU, or no partition, on pools that have the models it asks for.

    ``server`` is its ``gpu_types`` and its ``mig_profile``, ``owner`` the ``gpu_software`` block.
    """
    gpu_types, profile = server
    having = [pool for pool in pools if {name for name, _ in pool.models}.intersection(gpu_types)]
    yield from _beside_mps(location, gpu_types, sharing_of(owner) or Sharing(), having)
    offered = ", ".join(sorted({name for pool in having for name in pool.profiles})) or "none"
    if profile is None:
        if having and all(pool.profiles for pool in having):
            yield Problem(
                (*location, "gpu_types"),
                f"is {', '.join(gpu_types)}, whose GPUs are partitioned wherever there are any; give mig_profile, one "
                f"of {offered}, or a pool with whole GPUs",
            )
    elif isinstance(profile, str) and not any(profile in pool.profiles for pool in having):
        yield Problem(
            (*location, "mig_profile"),
            f'is "{profile}", into which no group with {", ".join(gpu_types)} is partitioned; they offer {offered}',
        )


def _beside_mps(
    location: Location, gpu_types: Sequence[str], default: Sharing, having: list[SharingPool]
) -> Iterator[Problem]:
    """Yield why a server cannot be a client of MPS.

    A client finds its daemon through the ``/dev/shm`` that the device plugin mounts (NVIDIA/k8s-device-plugin v0.20.0,
    MPS), and a server mounts one of its own over it, because the default of 64 MiB kills its workers.
    """
    shared = [str(pool.location[-1]) for pool in having if pool.shared_as(default).mps is not None]
    if shared:
        yield Problem(
            (*location, "gpu_types"),
            f"is {', '.join(gpu_types)}, which {', '.join(shared)} shares by mps: the server's own /dev/shm would hide "
            "the one by which a client of MPS finds its daemon; share that pool by time_slicing or mig, or not at all, "
            "or give the server another GPU model",
        )


def _disagreements(default: Sharing, pools: list[SharingPool]) -> Iterator[Problem]:
    try:
        refuse_disagreement(default, {str(pool.location[-1]): pool for pool in pools})
    except ValueError as error:
        yield Problem((_BLOCK,), str(error))


def _refused(
    refuse: Callable[[Sharing], None], sharing: Sharing | None, location: Location, key: str = "sharing"
) -> Iterator[Problem]:
    try:
        refuse(sharing or Sharing())
    except ValueError as error:
        yield Problem((*location, key), str(error))
