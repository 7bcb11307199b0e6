"""What the planning module says of a pod."""

from __future__ import annotations

from collections.abc import Mapping

from eks_gpu.planning.placement import admits, types_selected
from eks_gpu.planning.pool import Pool
from tests.e2e.scheduling.emitted import Manifest, pod_templates


def answers(pools: Mapping[str, Pool], manifest: Manifest) -> dict[str, tuple[str, ...]]:
    """Return the pools that admit the pods of an object, each with the types it may land on."""
    (pod,) = pod_templates([manifest]).values()
    return {
        name: tuple(instance.name for instance in types_selected(pool, pod))
        for name, pool in pools.items()
        if admits(pool, pod)
    }
