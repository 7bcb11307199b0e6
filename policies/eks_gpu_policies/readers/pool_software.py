"""What a pool's nodes bring of GPU software before anybody installs any, and what they have to be served."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.ami import AMI_TYPES, AmiFamily
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind, family_of
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.user_data import user_data_of

_OWN_PLUGIN: Final = ("kubelet-device-plugins", "nvidia", "enabled")
"""Bottlerocket's setting that turns its device plugin off, since 1.63 (EKS user guide, "EKS-optimized accelerated
AMIs", checked 2026-11-21)."""


def auto_mode(pool: Pool) -> bool:
    """Return whether EKS Auto Mode makes the nodes."""
    return need(pool.labels).get(labels.EKS_AUTO_COMPUTE_TYPE) == labels.EKS_AUTO_COMPUTE


def own_device_plugin(pool: Pool, program: Program) -> str | None:
    """Return what brings a device plugin to a pool's nodes by itself, or None.

    Raises ``NotKnownError`` when that cannot be told.
    """
    if auto_mode(pool):
        return "EKS Auto Mode"
    family = family_of(pool)
    if family is not AmiFamily.BOTTLEROCKET or not _nvidia_image(pool, program):
        return None
    off = user_data_of(pool, program).settings.at(*_OWN_PLUGIN).boolean() is False
    return None if off else "Bottlerocket's NVIDIA image"


def _nvidia_image(pool: Pool, program: Program) -> bool:
    """Return whether a pool boots an image with NVIDIA's driver, as far as its AMI type tells."""
    if pool.kind is PoolKind.NODE_POOL:
        return True
    name = attempt(program.by_urn[pool.urn].view["amiType"].text)
    known = AMI_TYPES.get(name) if isinstance(name, str) else None
    return known is None or known.nvidia


def has_adapters(pool: Pool, program: Program, lodgers: tuple[PodTemplate, ...]) -> bool:
    """Return whether a pool's nodes have Elastic Fabric Adapters: it attaches some, or a pod that it may hold asks."""
    template = None if pool.template is None else program.by_urn[need(pool.template)].view
    if template is not None:
        listed = (*template["networkInterfaces"].items(), *template.at("spec", "networkInterfaces").items())
        if any((card["interfaceType"].text() or "").startswith("efa") for card in listed):
            return True
    return any(resources.EFA in pod.extended_resources for pod in lodgers)
