"""Settings of the servers that run on the platform."""

from __future__ import annotations

import re
from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from eks_gpu.facts import images, instances, model_names
from eks_gpu.settings.block import Block

_MODEL: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_SECRET: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_PINNED_TAG: Final = re.compile(r".+:(?!latest$|main$|nightly)[\w][\w.-]*", re.ASCII)
_DIGEST: Final = re.compile(r".+@sha256:[0-9a-f]{64}")

GPU_MEMORY_SHARE: Final = 0.9
"""Part of a GPU's memory that vLLM takes, its own default: weights first, then the cache of keys and values."""

GPU_NAMES: Final = frozenset(kind.gpu_name for kind in instances.CATALOGUE.values() if kind.gpu_count)
"""Every GPU model that a pool can have, as pools label it."""


class _Server(Block):
    """What every model server has in common."""

    replicas: int = Field(default=1, ge=1)
    """Pods that serve. Two or more get a PodDisruptionBudget."""

    gpus: int = Field(default=1, ge=1, le=8)
    """Whole GPUs of one pod, on one node."""

    gpu_types: tuple[str, ...] = Field(min_length=1)
    """GPU models the server may run on, first choice first: ``a10g``. No others. No default: this is the bill."""

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

    @model_validator(mode="after")
    def _shared_memory_leaves_room(self) -> Self:
        if self.shared_memory_gib * 2 > self.memory_gib:
            raise ValueError(
                f"shared_memory_gib {self.shared_memory_gib} is more than half of the pod's {self.memory_gib} GiB of "
                "memory, which it counts against; raise memory_gib_per_gpu or lower it"
            )
        return self

    @model_validator(mode="after")
    def _some_node_has_the_gpus(self) -> Self:
        most = max(kind.gpu_count for kind in _types(self.gpu_types))
        if self.gpus > most:
            raise ValueError(
                f"no instance type has {self.gpus} GPUs of {' or '.join(self.gpu_types)}; "
                f"the most on one node are {most}"
            )
        return self

    @property
    def memory_gib(self) -> int:
        """Memory of one pod in GiB, shared memory included."""
        return self.memory_gib_per_gpu * self.gpus

    @property
    def may_surge(self) -> bool:
        """Whether a rolling update can start a new pod before an old one goes."""
        return self.spare_gpus >= self.gpus


class Vllm(_Server):
    """A server of one language model, with vLLM's OpenAI-compatible API."""

    model: str
    """Model on the hub: ``organisation/name``."""

    model_size_gb: float | None = Field(default=None, gt=0)
    """Size of the weights in GB. Read from the model's name where that tells (``70B``), else to be stated: the start-up
    probe waits as long as reading them takes."""

    max_model_len: int | None = Field(default=None, ge=1)
    """Longest context in tokens. The model's own by default, which a small GPU may have no memory for."""

    offline: bool = False
    """Read the model from the cache only and mount that read-only. Off by default, because somebody has to fill the
    cache first: until it is mirrored, the first server to start does."""

    hf_token_secret: str | None = None
    """Name of an existing Secret in the namespace, with the hub's token under ``token``, for models behind a licence.
    The token itself never stands in settings."""

    image: str | None = None
    """Image in place of the pinned public one, for mirrors and own builds: with an exact tag or a digest."""

    image_size_gb: float | None = Field(default=None, gt=0)
    """Unpacked size of ``image`` in GB: a rollout waits for its pull. The public image's size by default."""

    @field_validator("model")
    @classmethod
    def _names_organisation_and_model(cls, model: str) -> str:
        if not _MODEL.fullmatch(model):
            raise ValueError(
                f"{model!r} names no model; write organisation/name, such as mistralai/Mistral-7B-Instruct-v0.3"
            )
        return model

    @field_validator("hf_token_secret")
    @classmethod
    def _names_a_secret(cls, name: str | None) -> str | None:
        if name is not None and not _SECRET.fullmatch(name):
            # The text is not repeated: it may be the token itself.
            raise ValueError(
                "is no name of a Secret; give the name of an existing one (lowercase letters, digits, hyphens, dots), "
                "never the token"
            )
        return name

    @field_validator("image")
    @classmethod
    def _is_pinned(cls, image: str | None) -> str | None:
        if image is not None and not (_PINNED_TAG.fullmatch(image) or _DIGEST.fullmatch(image)):
            raise ValueError(f"{image!r} is not pinned; give an exact tag or a digest, such as {images.VLLM.reference}")
        return image

    @model_validator(mode="after")
    def _size_is_known(self) -> Self:
        if self.model_size_gb is None and model_names.model_bytes(self.model) is None:
            raise ValueError(f"the name {self.model} does not tell the model's size; state model_size_gb")
        return self

    @model_validator(mode="after")
    def _fits_the_gpus(self) -> Self:
        largest = max(kind.gpu_memory_mib for kind in _types(self.gpu_types))
        room = GPU_MEMORY_SHARE * self.gpus * largest * 2**20
        if self.weights_bytes > room:
            raise ValueError(
                f"{self.model} has {self.weights_bytes / images.GB:.0f} GB of weights, but a server may fill "
                f"{room / images.GB:.0f} GB of {self.gpus} x {' or '.join(self.gpu_types)}; take more gpus, larger "
                "gpu_types or a quantised model"
            )
        return self

    @property
    def weights_bytes(self) -> int:
        """Size of the weights in bytes: as stated, else as the model's name says."""
        if self.model_size_gb is not None:
            return round(self.model_size_gb * images.GB)
        return model_names.model_bytes(self.model) or 0

    @property
    def image_reference(self) -> str:
        """The image that runs."""
        return self.image or images.VLLM.reference

    @property
    def image_bytes(self) -> int:
        """Unpacked size of the image in bytes."""
        return images.VLLM.size_bytes if self.image_size_gb is None else round(self.image_size_gb * images.GB)


class Workloads(Block):
    """The ``workloads`` block: what runs on the platform from the first day. Only what is named is built."""

    vllm: Vllm | None = None
    """A server of one language model."""


def _types(gpu_names: tuple[str, ...]) -> list[instances.InstanceType]:
    return [kind for kind in instances.CATALOGUE.values() if kind.gpu_name in gpu_names and kind.gpu_count]
