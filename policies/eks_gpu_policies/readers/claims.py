"""From a pod's volume to the storage behind it: claim, class or volume, file system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from eks_gpu.facts import storage
from eks_gpu.planning.pod_template import PodTemplate, PodVolume
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.persistent_volumes import PersistentVolumes
from eks_gpu_policies.readers.storage_classes import StorageClasses
from eks_gpu_policies.resource import Resource


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim on a volume: an object of its own, or the template of one inside a workload."""

    resource: Resource
    """The object that says it."""
    spec: View
    metadata: View
    template: bool
    """Whether each pod of a workload gets a claim of its own."""

    @property
    def urn(self) -> str:
        """The resource it was read from."""
        return self.resource.urn

    @property
    def name(self) -> str:
        """What people call that resource."""
        return self.resource.name

    @property
    def class_name(self) -> str | None:
        """Name of its StorageClass; empty for none at all, None where nothing is said."""
        return self.spec["storageClassName"].text()


class Storage:
    """The claims of a program, who mounts them, and what is behind them. Everything is looked up once."""

    def __init__(self, program: Program, pods: tuple[PodTemplate, ...]) -> None:
        """Hold the program with its pods."""
        self._program = program
        self._pods = pods
        self._behind: dict[str, tuple[Resource, ...]] = {}
        self._volumes = PersistentVolumes(program)
        self.classes = StorageClasses(program)
        """The StorageClasses of the program."""

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim, templates of claims included."""
        own = tuple(_claim(item) for item in self._program.of_type(tokens.CLAIM))
        sets = (claim for item in self._program.of_type(tokens.STATEFUL_SET) for claim in _templates(item))
        return (*own, *sets, *(claim for pod in self._pods for claim in self._ephemeral(pod)))

    def _ephemeral(self, pod: PodTemplate) -> Iterator[Claim]:
        for volume in _volumes(pod):
            place = volume.place.at("ephemeral", "volumeClaimTemplate")
            if isinstance(place.data, Mapping):
                yield Claim(self._program.by_urn[pod.urn], place["spec"], place["metadata"], True)

    @cached_property
    def pods_by_claim(self) -> Mapping[str, tuple[PodTemplate, ...]]:
        """The pods that are known to mount each claim of the stack, by the claim's URN."""
        found: dict[str, dict[int, PodTemplate]] = {}
        for number, pod in enumerate(self._pods):
            for volume in _volumes(pod):
                for claim in self._mounted(pod, volume):
                    found.setdefault(claim.urn, {})[number] = pod
        return {urn: tuple(users.values()) for urn, users in found.items()}

    @cached_property
    def pods_by_file_system(self) -> Mapping[str, tuple[PodTemplate, ...]]:
        """The pods that are known to mount each file system of the stack, by its URN.

        Claims are found by the name that pods give, classes and volumes by the name that claims give, file systems by
        what the class or volume was computed from. A pod may also mount one without any claim.
        """
        mounted: dict[str, dict[int, PodTemplate]] = {}
        for number, pod in enumerate(self._pods):
            for file_system in self._file_systems_of_pod(pod):
                mounted.setdefault(file_system.urn, {})[number] = pod
        return {urn: tuple(users.values()) for urn, users in mounted.items()}

    def _file_systems_of_pod(self, pod: PodTemplate) -> Iterator[Resource]:
        owner = self._program.by_urn[pod.urn]
        for volume in _volumes(pod):
            for claim in self._mounted(pod, volume):
                yield from self.file_systems_of(_claim(claim))
            if _is_inline(volume):
                yield from self._efs_behind(owner, "spec")
        for template in _templates(owner):
            yield from self.file_systems_of(template)

    def claim_of(self, pod: PodTemplate, volume: str) -> Claim:
        """Return the claim behind a pod's volume: by name in the pod's namespace, or the template of that name.

        Raises ``NotKnownError`` when it is not in the stack.
        """
        owner = self._program.by_urn[pod.urn]
        found = pod.volume(volume)
        if found is None:
            named = [claim for claim in _templates(owner) if attempt(claim.metadata["name"].text) == volume]
            if named:
                return named[0]
            raise NotKnownError(pod.spec["volumes"].not_known(f"{volume} is not among them"))
        own = self._mounted(pod, found)
        if len(own) != 1:
            place = found.place.at("persistentVolumeClaim", "claimName")
            raise NotKnownError(place.not_known("the claim is not in the stack"))
        return _claim(own[0])

    def _named(self, pod: PodTemplate, volume: PodVolume) -> tuple[Resource, ...]:
        """Return the claims of the stack that a volume is known to name."""
        name = attempt(lambda: volume.claim)
        if not isinstance(name, str):
            return ()
        owner = self._program.by_urn[pod.urn]
        return tuple(claim for claim in self._program.named(tokens.CLAIM, name) if same_namespace(claim, owner))

    def _mounted(self, pod: PodTemplate, volume: PodVolume) -> tuple[Resource, ...]:
        """Return the same, or those that the workload was computed from where the volume's name is not known yet."""
        if isinstance(attempt(lambda: volume.claim), NotKnown):
            return self._program.computed_from(self._program.by_urn[pod.urn], "spec", tokens.CLAIM)
        return self._named(pod, volume)

    @cached_property
    def unclear(self) -> tuple[tuple[PodTemplate, NotKnown], ...]:
        """The pods of which nobody can tell what they mount, with what would have to be known."""
        return tuple(self._unclear())

    def _unclear(self) -> Iterator[tuple[PodTemplate, NotKnown]]:
        for pod in self._pods:
            if isinstance(pod.volumes, NotKnown):
                yield pod, pod.volumes
            for volume in _volumes(pod):
                name = attempt(lambda volume=volume: volume.claim)  # type: ignore[misc]
                if isinstance(name, NotKnown) and not self._mounted(pod, volume):
                    yield pod, name

    def unclear_ways(self, file_system: Resource) -> Iterator[NotKnown]:
        """Yield the names that are not known, of what stands between a file system and the pods that may mount it."""
        for token, prop in ((tokens.STORAGE_CLASS, "parameters"), (tokens.VOLUME, "spec")):
            for item in self._program.of_type(token):
                if file_system in self._efs_behind(item, prop):
                    yield from _unknown(attempt(item.kubernetes_name))
        for claim in self.claims:
            if file_system in self.file_systems_of(claim):
                yield from _unknown(attempt(claim.metadata["name"].text))
            elif isinstance(attempt(lambda claim=claim: claim.class_name), NotKnown):  # type: ignore[misc]
                yield from _unknown(attempt(self.class_of, claim))

    def class_of(self, claim: Claim) -> Resource:
        """Return a claim's StorageClass: by literal name, else by what the claim was computed from.

        Raises ``NotKnownError`` when it is not in the stack.
        """
        place = claim.spec["storageClassName"]
        name = attempt(place.text)
        if isinstance(name, NotKnown):
            found = self._program.computed_from(claim.resource, "spec", tokens.STORAGE_CLASS)
        else:
            found = self._program.named(tokens.STORAGE_CLASS, name) if name else ()
        if not found:
            raise NotKnownError(place.not_known("the class is not in the stack"))
        return found[0]

    def provisioner_of(self, claim: Claim) -> str | None:
        """Return who makes a claim's volume; None where nobody does.

        Raises ``NotKnownError`` where the class is neither in the stack nor one that every cluster of EKS has.
        """
        found = self.class_or_name(claim)
        if isinstance(found, Resource):
            return found.view["provisioner"].text()
        return storage.EBS_DRIVER if found in _CLASSES_ON_EBS else None

    def binds_at_once(self, claim: Claim) -> bool:
        """Return whether a claim is bound before any pod mounts it; raise ``NotKnownError`` when nobody can tell."""
        if claim.spec["volumeName"].exists:
            return True
        found = self.class_or_name(claim)
        if isinstance(found, Resource):
            return found.view["volumeBindingMode"].text() != storage.WAIT_FOR_FIRST_CONSUMER
        return found not in _CLASSES_ON_EBS

    def class_or_name(self, claim: Claim) -> Resource | str | None:
        """Return the class that a claim gets, by name where it is no resource; None for no class at all.

        Raises ``NotKnownError`` where the class is neither in the stack nor one that every cluster of EKS has.
        """
        name = attempt(lambda: claim.class_name)
        if name is None:
            return self.classes.default
        if name == "" or (name in _CLASSES_ON_EBS and not self._program.named(tokens.STORAGE_CLASS, str(name))):
            return str(name) or None
        return self.class_of(claim)

    def volumes_of(self, claim: Claim) -> tuple[Resource, ...]:
        """Return the PersistentVolumes that a claim names, or that name it; without a name, those of its class."""
        name = attempt(claim.spec["volumeName"].text)
        if isinstance(name, NotKnown):
            return self._program.computed_from(claim.resource, "spec", tokens.VOLUME)
        if name is not None:
            return self._program.named(tokens.VOLUME, name)
        return self.kept_for(claim) or self._volumes.of_class(attempt(lambda: claim.class_name))

    def kept_for(self, claim: Claim) -> tuple[Resource, ...]:
        """Return the PersistentVolumes that name a claim as the one they are for."""
        return () if claim.template else self._volumes.kept_for(claim.metadata)

    def file_systems_of(self, claim: Claim) -> tuple[Resource, ...]:
        """Return the EFS file systems of the stack that are known to be behind a claim."""
        if claim.template:
            return self._file_systems_of(claim)
        if claim.urn not in self._behind:
            self._behind[claim.urn] = self._file_systems_of(claim)
        return self._behind[claim.urn]

    def _file_systems_of(self, claim: Claim) -> tuple[Resource, ...]:
        storage_class = attempt(self.class_of, claim)
        through_class = () if isinstance(storage_class, NotKnown) else self._efs_behind(storage_class, "parameters")
        through_volumes = (item for volume in self.volumes_of(claim) for item in self._efs_behind(volume, "spec"))
        return _once(*through_class, *through_volumes)

    def _efs_behind(self, resource: Resource, prop: str) -> tuple[Resource, ...]:
        """Return the file systems that a property was computed from, directly or by way of an access point."""
        points = self._program.computed_from(resource, prop, tokens.ACCESS_POINT)
        behind = (self._program.computed_from(point, "fileSystemId", tokens.FILE_SYSTEM) for point in points)
        return _once(
            *self._program.computed_from(resource, prop, tokens.FILE_SYSTEM),
            *(item for items in behind for item in items),
        )


_CLASSES_ON_EBS: Final = frozenset({storage.EKS_CLASS, storage.EBS_DRIVER_CLASS})
"""Classes that are in a cluster without being resources of anybody's program. Both wait for the first consumer."""


def _claim(resource: Resource) -> Claim:
    return Claim(resource, resource.view["spec"], resource.view["metadata"], False)


def _templates(owner: Resource) -> Iterator[Claim]:
    places = attempt(owner.view.at("spec", "volumeClaimTemplates").items)
    for place in places if isinstance(places, tuple) else ():
        yield Claim(owner, place["spec"], place["metadata"], True)


def _volumes(pod: PodTemplate) -> tuple[PodVolume, ...]:
    volumes = attempt(need, pod.volumes)
    return volumes if isinstance(volumes, tuple) else ()


def _is_inline(volume: PodVolume) -> bool:
    """Return whether a pod mounts a file system by itself, without a claim."""
    driver = attempt(volume.place.at("csi", "driver").text)
    return driver == storage.EFS_DRIVER or isinstance(volume.place["nfs"].data, Mapping)


def _unknown(value: object) -> Iterator[NotKnown]:
    if isinstance(value, NotKnown):
        yield value


def _once(*resources: Resource) -> tuple[Resource, ...]:
    return tuple({resource.urn: resource for resource in resources}.values())


def same_namespace(one: Resource, other: Resource) -> bool:
    """Return whether nothing says that two objects are in different namespaces."""
    here, there = (attempt(item.view.at("metadata", "namespace").text) for item in (one, other))
    return not (isinstance(here, str) and isinstance(there, str)) or here == there
