"""From a pod's volume to the file system behind it: claim, class or volume, file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eks_gpu.planning.pod_template import PodTemplate, PodVolume
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.resource import Resource

if TYPE_CHECKING:
    from eks_gpu_policies.stack import Stack


def mounts(pod: PodTemplate, file_system: Resource, stack: Stack) -> bool:
    """Return whether a pod is known to mount ``file_system`` through a claim of the stack."""
    volumes = attempt(lambda: need(pod.volumes))
    if not isinstance(volumes, tuple):
        return False
    names = {attempt(_claim_of, volume) for volume in volumes}
    claims = [claim for claim in stack.of_type(tokens.CLAIM) if attempt(claim.kubernetes_name) in names]
    return any(_is_on(claim, file_system, stack) for claim in claims)


def _claim_of(volume: PodVolume) -> str | None:
    return volume.claim


def _is_on(claim: Resource, file_system: Resource, stack: Stack) -> bool:
    spec = claim.view["spec"]
    class_name, volume_name = attempt(spec["storageClassName"].text), attempt(spec["volumeName"].text)
    behind = (
        (tokens.STORAGE_CLASS, class_name, "parameters"),
        (tokens.VOLUME, volume_name, "spec"),
    )
    return any(
        isinstance(name, str)
        and attempt(resource.kubernetes_name) == name
        and file_system in stack.computed_from(resource, prop, tokens.FILE_SYSTEM)
        for token, name, prop in behind
        for resource in stack.of_type(token)
    )
