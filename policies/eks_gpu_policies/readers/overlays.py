"""NodeOverlays: what Karpenter is told that instance types have besides EC2's figures."""

from __future__ import annotations

from eks_gpu.planning.pool import Overlay
from eks_gpu.planning.requirements import read_requirements
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program


def read_overlays(program: Program) -> tuple[Overlay, ...]:
    """Return the overlays of a program that add capacity, the one that decides last."""
    specs = [overlay.view["spec"] for overlay in program.of_type(tokens.NODE_OVERLAY)]
    by_weight = sorted(specs, key=lambda spec: spec["weight"].integer() or 0)
    found = (
        Overlay(requirements=read_requirements(spec["requirements"].items()), capacity=spec["capacity"].text_map())
        for spec in by_weight
    )
    return tuple(overlay for overlay in found if overlay.capacity)
