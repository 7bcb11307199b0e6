"""Where the volumes are that pods are bound to, and so where the pods can run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pod_template import PodTemplate, VolumeAffinity
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.requirements import Requirement, canonical, read_terms
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.claims import Claim, Storage
from eks_gpu_policies.resource import Resource

Terms = tuple[tuple[Requirement, ...], ...]

_SEPARATOR: Final = "__"
"""Between the zones of a volume that is in several, in its label."""


def volume_affinity(pod: PodTemplate, storage: Storage, program: Program) -> tuple[VolumeAffinity, ...]:
    """Return where each volume of a pod is, as far as its claim is in the stack and says so.

    A claim that names a volume is bound to it; one whose class allows some zones only gets a volume in one of them.
    Raises ``NotKnownError`` when the place of one is not known yet.
    """
    found = []
    for volume in need(pod.volumes):
        claim = attempt(storage.claim_of, pod, volume.name)
        if isinstance(claim, Claim):
            name = attempt(claim.metadata["name"].text)
            called = name if isinstance(name, str) else volume.name
            found += [VolumeAffinity(called, terms) for terms in _places(claim, storage, program) if terms]
    return tuple(found)


def _places(claim: Claim, storage: Storage, program: Program) -> Iterator[Terms]:
    if claim.spec["volumeName"].exists:
        for volume in storage.volumes_of(claim):
            yield read_terms(volume.view.at("spec", "nodeAffinity", "required", "nodeSelectorTerms"))
            yield _zones(_labelled(volume))
            yield _zones(_of_disks(volume, program))
        return
    storage_class = attempt(storage.class_of, claim)
    if not isinstance(storage_class, NotKnown):
        yield _allowed(storage_class.view["allowedTopologies"])


def _labelled(volume: Resource) -> tuple[str, ...]:
    """Return the zones that a volume carries as a label, by which the scheduler goes as well."""
    own = volume.view.at("metadata", "labels").text_map()
    return tuple(zone for key, text in own.items() if canonical(key) == labels.ZONE for zone in text.split(_SEPARATOR))


def _of_disks(volume: Resource, program: Program) -> tuple[str, ...]:
    """Return the zones of the EBS volumes that a PersistentVolume was made from."""
    disks = program.computed_from(volume, "spec", tokens.EBS_VOLUME)
    zones = (disk.view["availabilityZone"].text() for disk in disks)
    return tuple(zone for zone in zones if zone is not None)


def _zones(zones: tuple[str, ...]) -> Terms:
    return ((Requirement(labels.ZONE, "In", zones),),) if zones else ()


def _allowed(topologies: View) -> Terms:
    return tuple(
        tuple(
            Requirement(canonical(key), "In", item["values"].texts())
            for item in topology["matchLabelExpressions"].items()
            if (key := item["key"].text()) is not None
        )
        for topology in topologies.items()
    )
