"""What the planning module says of a pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from eks_gpu.planning.placement import Placement, admits, place
from eks_gpu.planning.pool import Pool
from eks_gpu_policies.readers.volume_zones import volume_affinity
from tests.e2e.scheduling.emitted import Manifest, seen

_DAEMON_SET = "DaemonSet"


def answers(
    pools: Mapping[str, Pool], manifest: Manifest, objects: Iterable[Manifest] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the pools that have room for the pods of an object, each with the types that they may land on."""
    placed = placements(pools, manifest, objects).items()
    return {name: tuple(kind.name for kind in placement.types) for name, placement in placed if placement.admits}


def placements(pools: Mapping[str, Pool], manifest: Manifest, objects: Iterable[Manifest] = ()) -> dict[str, Placement]:
    """Return what each pool says to the pods of an object; ``objects`` are its volumes and claims, and DaemonSets."""
    stack = seen([manifest, *objects])
    (pod,) = (each for each in stack.pods if each.name == manifest["metadata"]["name"])
    daemons = [each for each in stack.pods if each.owner_kind == _DAEMON_SET]
    bound = replace(pod, volume_affinity=volume_affinity(pod, stack.storage, stack))
    return {
        name: place(bound, pool, [daemon for daemon in daemons if admits(pool, daemon)]) for name, pool in pools.items()
    }
