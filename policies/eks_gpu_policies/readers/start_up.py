"""How fast a model server gets at its model, and a node at its image, read off what a stack says of storage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import declarations, images, storage
from eks_gpu.planning.images.image_volume import image_volume, mib_per_second, nvme_gb
from eks_gpu.planning.model_source import Kind, cache_of, fetches_from_hub, model_of, mount_over, repository_of
from eks_gpu.planning.pod_template import Container, Mount, PodTemplate
from eks_gpu.planning.pool import Pool, family_of
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.start_up import StartUpProbe, efs_bytes_per_second, volume_bytes_per_second
from eks_gpu_policies.readers.claims import Claim, Storage
from eks_gpu_policies.resource import Resource


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast bytes come."""

    bytes_per_second: float
    place: str
    """From where, in words: ``the elastic file system models``."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is around a model server."""

    storage: Storage
    pools: tuple[Pool, ...]
    """Where it may land."""
    hub_bytes_per_second: float


def startup_probe(container: Container) -> StartUpProbe:
    """Return the timing of a container's startup probe; raise ``NotKnownError`` when it is not known."""
    place, usual = container.place["startupProbe"], StartUpProbe()
    return StartUpProbe(
        initial_delay_seconds=_seconds(place["initialDelaySeconds"], usual.initial_delay_seconds),
        period_seconds=_seconds(place["periodSeconds"], usual.period_seconds),
        failure_threshold=_seconds(place["failureThreshold"], usual.failure_threshold),
    )


def _seconds(place: View, usual: int) -> int:
    number = place.integer()
    return usual if number is None else number


def image_bytes(pod: PodTemplate, container: Container) -> int | None:
    """Return how much a node pulls for a container: as declared, else as measured for exactly this image; None untold.

    Raises ``NotKnownError`` where the declaration or the image is not known.
    """
    declared = quantity(need(pod.annotations).get(declarations.IMAGE_BYTES, ""))
    if declared is not None and declared > 0:
        return int(declared)
    name = need(container.image)
    return next((image.size_bytes for image in _MEASURED if name in {image.reference, _short(image.reference)}), None)


_MEASURED: Final = (images.VLLM, images.TRITON_FULL)
_REGISTRY: Final = "docker.io/"


def _short(reference: str) -> str:
    return reference.removeprefix(_REGISTRY)


def model_speed(pod: PodTemplate, container: Container, size: int, around: Surroundings) -> Speed:
    """Return how fast a container reads a model of ``size`` bytes; raise ``NotKnownError`` when nobody can tell."""
    model = model_of(container)
    told = repository_of(container) if model is None or model.kind is Kind.OTHER else model
    if fetches_from_hub(container) or (told is not None and told.kind is Kind.HUB):
        return _through_cache(pod, container, size, around)
    if told is not None and told.kind is Kind.STORE:
        raise NotKnownError(container.place["args"].not_known("how fast an object store is, nobody says"))
    if told is not None and told.kind is Kind.FOLDER:
        return _from_folder(pod, mount_over(container, told.name), size, around)
    return _from_only_claim(pod, container, size, around)


def _through_cache(pod: PodTemplate, container: Container, size: int, around: Surroundings) -> Speed:
    mount = mount_over(container, cache_of(container).path)
    if mount is not None and _is_claim(pod, mount):
        return _claimed(pod, mount, size, around)
    if mount is not None and not pod_only(pod, mount):
        raise NotKnownError(container.place["volumeMounts"].not_known(f"how fast the volume {mount.volume} is"))
    if not fetches_from_hub(container):
        return image_volume_speed(pod, around.pools)
    return Speed(around.hub_bytes_per_second, "the hub")


def _from_folder(pod: PodTemplate, mount: Mount | None, size: int, around: Surroundings) -> Speed:
    if mount is None:
        return image_volume_speed(pod, around.pools)
    if _is_claim(pod, mount):
        return _claimed(pod, mount, size, around)
    volume = pod.volume(mount.volume)
    if volume is not None and volume.place["emptyDir"].exists and not volume.in_memory:
        return image_volume_speed(pod, around.pools)
    raise NotKnownError(pod.spec["volumes"].not_known(f"how fast the volume {mount.volume} is"))


def _from_only_claim(pod: PodTemplate, container: Container, size: int, around: Surroundings) -> Speed:
    claimed = {mount.volume: mount for mount in need(container.mounts) if _is_claim(pod, mount)}
    if len(claimed) != 1:
        raise NotKnownError(container.place["args"].not_known("where the model is, nothing says"))
    return _claimed(pod, next(iter(claimed.values())), size, around)


def _is_claim(pod: PodTemplate, mount: Mount) -> bool:
    volume = pod.volume(mount.volume)
    return volume is None or volume.place["persistentVolumeClaim"].exists


def pod_only(pod: PodTemplate, mount: Mount) -> bool:
    """Return whether what is written to a mount goes with the pod. What is no volume is the template of a claim."""
    volume = pod.volume(mount.volume)
    return volume is not None and any(volume.place[kind].exists for kind in GO_WITH_THE_POD)


GO_WITH_THE_POD: Final = ("emptyDir", "ephemeral", "configMap", "secret", "projected", "downwardAPI")
"""Volumes that keep nothing for the next pod. Claims, CSI drivers, host paths and network file systems do."""


def _claimed(pod: PodTemplate, mount: Mount, size: int, around: Surroundings) -> Speed:
    claim = around.storage.claim_of(pod, mount.volume)
    file_systems = around.storage.file_systems_of(claim)
    if file_systems:
        speeds = [file_system_speed(item, size) for item in file_systems]
        return min(speeds, key=lambda speed: speed.bytes_per_second)
    return _of_volume(claim, around.storage)


def file_system_speed(file_system: Resource, stored: int) -> Speed:
    """Return how fast one client reads from an EFS file system that holds ``stored`` bytes."""
    mode = file_system.view["throughputMode"].text() or storage.EFS_THROUGHPUT_BURSTING
    place = file_system.view["provisionedThroughputInMibps"]
    provisioned = place.number() if mode == storage.EFS_THROUGHPUT_PROVISIONED else None
    if mode == storage.EFS_THROUGHPUT_PROVISIONED and not (provisioned and provisioned > 0):
        raise NotKnownError(place.not_known("how much is provisioned, nothing says"))
    speed = efs_bytes_per_second(mode, stored_bytes=stored, provisioned_mib_per_second=provisioned)
    return Speed(speed, f"the {mode} file system {file_system.name}")


def _of_volume(claim: Claim, behind: Storage) -> Speed:
    """Return the speed of a volume on EBS, by the parameters of its class."""
    found = behind.class_of(claim)
    parameters = found.view["parameters"]
    on_ebs = found.view["provisioner"].text() in storage.EBS_DRIVERS
    if not on_ebs or (parameters["type"].text() or storage.GP3) != storage.GP3:
        raise NotKnownError(parameters.not_known("how fast its volumes are"))
    speed = parameters["throughput"].number() or storage.GP3_MIB_PER_SECOND
    return Speed(volume_bytes_per_second(speed), f"a volume of the class {found.name}")


def image_volume_speed(pod: PodTemplate, pools: tuple[Pool, ...]) -> Speed:
    """Return how fast the slowest of ``pools`` writes images; raise ``NotKnownError`` when nobody can tell."""
    if not pools:
        raise NotKnownError(pod.spec["nodeSelector"].not_known("no pool of the stack is known to let the pod on"))
    speeds = [Speed(_image_volume(pool), f"the image volume of {pool.name}") for pool in pools]
    return min(speeds, key=lambda speed: speed.bytes_per_second)


def _image_volume(pool: Pool) -> float:
    if nvme_gb(pool) > 0:
        return math.inf
    family = family_of(pool)
    if family is None:
        raise NotKnownError(NotKnown(pool.urn, "image", "on which device somebody's own image keeps images"))
    volume = image_volume(pool, family)
    size = None if volume.of_snapshot else attempt(lambda: volume.gib)
    speed = mib_per_second(volume.mapped, size)
    if speed is None or speed <= 0:
        raise NotKnownError(NotKnown(pool.urn, "volumeType", "its speed follows its IOPS"))
    return volume_bytes_per_second(speed)
