"""Settings that every model server has."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Self

from pydantic import Field, field_validator, model_validator

from eks_gpu.facts import images, instances, labels, mig
from eks_gpu.settings.block import Block

_PINNED_TAG: Final = re.compile(r".+:(?!latest$|main$|nightly)[\w][\w.-]*", re.ASCII)
_DIGEST: Final = re.compile(r".+@sha256:[0-9a-f]{64}")

GPU_NAMES: Final = frozenset(kind.gpu_name for kind in instances.CATALOGUE.values() if kind.gpu_count)
"""Every GPU model that a pool can have, as pools label it."""


class Server(Block):
    """What every model server has in common."""

    replicas: int = Field(default=1, ge=1)
    """Pods that serve. Two or more get a PodDisruptionBudget."""

    gpus: int = Field(default=1, ge=1, le=8)
    """Whole GPUs of one pod, on one node."""

    gpu_types: tuple[str, ...] = Field(min_length=1)
    """GPU models the server may run on, first choice first: ``a10g``. No others. No default: this is the bill."""

    mig_profile: str | None = None
    """A MIG partition in place of a whole GPU: ``3g.20gb``. The server then runs on the partitioned nodes of its
    ``gpu_types``, and nowhere else. One to a pod: partitions cannot talk to each other."""

    spare_gpus: int = Field(default=0, ge=0)
    """GPUs that stand by for a rolling update. With enough of them for one pod, the new pod starts before an old one
    goes; with none it would wait for ever for a GPU that the old pod holds, so an old one goes first."""

    cpu_per_gpu: float = Field(default=4, ge=1, le=32)
    """CPU cores for each GPU. Four to eight keep it fed; a g5.xlarge has 3.9, so there ask for three."""

    memory_gib_per_gpu: int = Field(default=16, ge=4, le=256)
    """Memory for each GPU in GiB, shared memory included. Eight to sixteen suit inference."""

    shared_memory_gib: int = Field(default=8, ge=1)
    """Size of ``/dev/shm`` in GiB. It is memory and counts against the pod's limit; Kubernetes' own 64 MiB end in a bus
    error as soon as processes exchange tensors."""

    image: str | None = None
    """Image in place of the pinned public one, for mirrors and own builds: with an exact tag or a digest."""

    image_size_gb: float | None = Field(default=None, gt=0)
    """Unpacked size of ``image`` in GB: a rollout waits for its pull. The public image's size by default."""

    prefetch: bool = False
    """Have every node that the server may run on pull its image as soon as it joins, by a DaemonSet. For nodes that are
    there before the pod is: groups, warm nodes, nodes of other work. Off by default, because the image takes the room
    on every one of them. The image must have ``/bin/true``."""

    _public_image: ClassVar[images.Image]

    @field_validator("gpu_types")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = sorted(set(names) - GPU_NAMES)
        if unknown:
            raise ValueError(f"unknown GPU models {', '.join(unknown)}; known are {', '.join(sorted(GPU_NAMES))}")
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{', '.join(repeated)} stands there twice; the order is the order of preference")
        return names

    @field_validator("image")
    @classmethod
    def _is_pinned(cls, image: str | None) -> str | None:
        if image is not None and not (_PINNED_TAG.fullmatch(image) or _DIGEST.fullmatch(image)):
            raise ValueError(
                f"{image!r} is not pinned; give an exact tag or a digest, such as {cls._public_image.reference}"
            )
        return image

    @model_validator(mode="after")
    def _shared_memory_leaves_room(self) -> Self:
        if self.shared_memory_gib * 2 > self.memory_gib:
            raise ValueError(
                f"shared_memory_gib {self.shared_memory_gib} is more than half of the pod's {self.memory_gib} GiB of "
                "memory, which it counts against; raise memory_gib_per_gpu or lower it"
            )
        return self

    @model_validator(mode="after")
    def _the_gpus_have_the_partition(self) -> Self:
        if self.mig_profile is None:
            return self
        models = {kind.gpu_model for kind in types_with(self.gpu_types)}
        known = {profile.name for model in models if model in mig.MODELS for profile in mig.MODELS[model].profiles}
        if not known:
            raise ValueError(
                f"{' and '.join(self.gpu_types)} has no MIG, so mig_profile {self.mig_profile} is nowhere; remove it, "
                "or use gpu_types with MIG, such as a100 or h100"
            )
        if self.mig_profile not in known:
            raise ValueError(
                f"mig_profile {self.mig_profile} is none of {' or '.join(self.gpu_types)}; profiles are "
                f"{', '.join(sorted(known))}"
            )
        if self.gpus > 1:
            raise ValueError(
                f"{self.gpus} partitions cannot work together, because MIG lets none reach another's memory; set "
                "gpus: 1, or remove mig_profile for whole GPUs"
            )
        return self

    @model_validator(mode="after")
    def _some_node_has_the_gpus(self) -> Self:
        most = max(kind.gpu_count for kind in types_with(self.gpu_types))
        if self.gpus > most:
            raise ValueError(
                f"no instance type has {self.gpus} GPUs of {' or '.join(self.gpu_types)}; "
                f"the most on one node are {most}"
            )
        return self

    @property
    def node_gpu_types(self) -> tuple[str, ...]:
        """The values of the label ``gpu-type`` of nodes it may run on: the models, or those models partitioned."""
        return tuple(labels.gpu_type(name, partitioned=self.mig_profile is not None) for name in self.gpu_types)

    @property
    def gpu_memory_bytes(self) -> int:
        """Memory of all GPUs of one pod, or of its partition, on the largest model it may run on."""
        profile = next(
            (found for gpu in mig.MODELS.values() if (found := gpu.profile(self.mig_profile or ""))),
            None,
        )
        if profile is not None:
            return profile.memory_gb * images.GB
        return self.gpus * max(kind.gpu_memory_mib for kind in types_with(self.gpu_types)) * 2**20

    @property
    def memory_gib(self) -> int:
        """Memory of one pod in GiB, shared memory included."""
        return self.memory_gib_per_gpu * self.gpus

    @property
    def may_surge(self) -> bool:
        """Whether a rolling update can start a new pod before an old one goes."""
        return self.spare_gpus >= self.gpus

    @property
    def image_reference(self) -> str:
        """The image that runs."""
        return self.image or self._public_image.reference

    @property
    def image_bytes(self) -> int:
        """Unpacked size of the image in bytes."""
        if self.image_size_gb is None:
            return self._public_image.size_bytes
        return round(self.image_size_gb * images.GB)


def types_with(gpu_names: tuple[str, ...]) -> list[instances.InstanceType]:
    """Return the instance types with one of these GPU models."""
    return [kind for kind in instances.CATALOGUE.values() if kind.gpu_name in gpu_names and kind.gpu_count]
