"""From a pod's volume to the file system behind it: claim, class or volume, file system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eks_gpu.planning.pod_template import PodTemplate, PodVolume
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource


def pods_by_file_system(program: Program, pods: tuple[PodTemplate, ...]) -> Mapping[str, tuple[PodTemplate, ...]]:
    """Return those of ``pods`` that are known to mount each file system of the stack, by its URN.

    Claims are found by the name that pods give, classes and volumes by the name that claims give, file systems by
    what the class or volume was computed from.
    """
    behind = {
        tokens.STORAGE_CLASS: _file_systems(program, tokens.STORAGE_CLASS, "parameters"),
        tokens.VOLUME: _file_systems(program, tokens.VOLUME, "spec"),
    }
    by_claim: dict[str, set[str]] = {}
    for claim in program.of_type(tokens.CLAIM):
        name, spec = attempt(claim.kubernetes_name), claim.view["spec"]
        named = {tokens.STORAGE_CLASS: spec["storageClassName"], tokens.VOLUME: spec["volumeName"]}
        for token, place in named.items():
            found = behind[token].get(attempt(place.text), frozenset())
            if isinstance(name, str) and found:
                by_claim.setdefault(name, set()).update(found)
    mounted: dict[str, dict[int, PodTemplate]] = {}
    for number, pod in enumerate(pods):
        for claim_name in _claims(pod):
            for urn in by_claim.get(claim_name, ()):
                mounted.setdefault(urn, {})[number] = pod
    return {urn: tuple(users.values()) for urn, users in mounted.items()}


def _file_systems(program: Program, token: str, prop: str) -> Mapping[object, frozenset[str]]:
    """Return the URNs of the file systems behind each object of a kind, by its name."""
    found: dict[object, frozenset[str]] = {}
    for resource in program.of_type(token):
        urns = _urns(program.computed_from(resource, prop, tokens.FILE_SYSTEM))
        name = attempt(resource.kubernetes_name)
        if isinstance(name, str) and urns:
            found[name] = found.get(name, frozenset()) | urns
    return found


def _urns(resources: tuple[Resource, ...]) -> frozenset[str]:
    return frozenset(resource.urn for resource in resources)


def _claims(pod: PodTemplate) -> Iterator[str]:
    volumes = attempt(need, pod.volumes)
    for volume in volumes if isinstance(volumes, tuple) else ():
        name = attempt(_claim_of, volume)
        if isinstance(name, str):
            yield name


def _claim_of(volume: PodVolume) -> str | None:
    return volume.claim
