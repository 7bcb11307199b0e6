"""Whether Karpenter buys nodes for what EC2 does not list: slices, shares, claimed devices."""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.provisioning import ENABLE_DRA, FIRST_WITH_DRA, NODE_OVERLAY_GATE
from eks_gpu.facts.versions import KARPENTER
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, need
from eks_gpu.planning.sharing.slices import adds
from eks_gpu_policies import charts
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

_NUMBERS: Final = re.compile(r"\d+")


def buys_for(resource: str, pool: Pool, program: Program) -> str | None:
    """Return why nobody makes nodes of a pool for pods that ask a resource, or None when somebody does.

    Raises ``NotKnownError`` where Karpenter's release is needed and not in the stack.
    """
    if pool.static:
        return None
    if not any(adds(overlay, resource, pool) for overlay in need(pool.overlays)):
        return f"makes nodes on demand, and Karpenter does not know that they have {resource}"
    if any(_is_on(release, NODE_OVERLAY_GATE) for release in _karpenter(pool, NODE_OVERLAY_GATE, program)):
        return None
    return f"has {resource} by a NodeOverlay, which Karpenter ignores until {'.'.join(NODE_OVERLAY_GATE)} is true"


def claims_devices(pool: Pool, program: Program) -> str | None:
    """Return why nobody makes nodes of a pool for pods that claim devices, or None when somebody does."""
    if pool.static:
        return None
    if need(pool.labels).get(labels.EKS_AUTO_COMPUTE_TYPE) == labels.EKS_AUTO_COMPUTE:
        return "belongs to EKS Auto Mode, which allocates no devices by claims"
    releases = _karpenter(pool, ENABLE_DRA, program)
    if any(_version(release) >= FIRST_WITH_DRA and _is_on(release, ENABLE_DRA) for release in releases):
        return None
    first = ".".join(map(str, FIRST_WITH_DRA))
    return f"makes nodes on demand, and Karpenter ignores claims before {first} and without {'.'.join(ENABLE_DRA)}"


def _karpenter(pool: Pool, setting: tuple[str, ...], program: Program) -> tuple[Resource, ...]:
    found = charts.releases(program, KARPENTER.name)
    if not found:
        raise NotKnownError(NotKnown(pool.urn, ".".join(setting), "Karpenter's release is not in the stack"))
    return found


def _is_on(release: Resource, setting: tuple[str, ...]) -> bool:
    return charts.values(release).at(*setting).boolean() is True


def _version(release: Resource) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBERS.findall(release.view["version"].text() or "")[:2])
