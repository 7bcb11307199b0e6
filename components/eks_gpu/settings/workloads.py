"""Settings of the servers that run on the platform."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Self

from pydantic import Field, field_validator, model_validator

from eks_gpu.facts import images, model_names
from eks_gpu.settings.block import Block
from eks_gpu.settings.model_server import Server

_MODEL: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_FOLDER: Final = re.compile(r"(?:\w[\w.-]*)(?:/\w[\w.-]*)*", re.ASCII)
_SECRET: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")

GPU_MEMORY_SHARE: Final = 0.9
"""Part of a GPU's memory that vLLM takes, its own default: weights first, then the cache of keys and values."""


class Vllm(Server):
    """A server of one language model, with vLLM's OpenAI-compatible API."""

    _public_image: ClassVar[images.Image] = images.VLLM

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

    @model_validator(mode="after")
    def _size_is_known(self) -> Self:
        if self.model_size_gb is None and model_names.model_bytes(self.model) is None:
            raise ValueError(f"the name {self.model} does not tell the model's size; state model_size_gb")
        return self

    @model_validator(mode="after")
    def _fits_the_gpus(self) -> Self:
        room = GPU_MEMORY_SHARE * self.gpu_memory_bytes
        if self.weights_bytes > room:
            gpus = f"{self.gpus} x {self.mig_profile or ' or '.join(self.gpu_types)}"
            larger = "more gpus, larger gpu_types" if self.mig_profile is None else "a larger mig_profile"
            raise ValueError(
                f"{self.model} has {self.weights_bytes / images.GB:.0f} GB of weights, but a server may fill "
                f"{room / images.GB:.0f} GB of {gpus}; take {larger} or a quantised model"
            )
        return self

    @property
    def weights_bytes(self) -> int:
        """Size of the weights in bytes: as stated, else as the model's name says."""
        if self.model_size_gb is not None:
            return round(self.model_size_gb * images.GB)
        return model_names.model_bytes(self.model) or 0


class Triton(Server):
    """A server of whatever models a Triton repository on the model cache holds."""

    _public_image: ClassVar[images.Image] = images.TRITON_FULL

    model_repository: str = "triton"
    """Folder of the repository on the cache. It is read only; somebody else brings the models."""

    model_size_gb: float = Field(gt=0)
    """Size of all models together in GB. No default: the start-up probe waits as long as reading them takes."""

    full_image_reason: str | None = Field(default=None, min_length=1)
    """Why the public image with every backend runs, 16 GB of it. Without a reason give an ``image`` of your own: the
    slim ``py3-min`` variant and the backends that you need."""

    @field_validator("model_repository")
    @classmethod
    def _stays_on_the_cache(cls, folder: str) -> str:
        if not _FOLDER.fullmatch(folder):
            raise ValueError(
                f"{folder!r} is no folder on the cache; give a relative path such as triton or teams/search"
            )
        return folder

    @model_validator(mode="after")
    def _image_is_a_decision(self) -> Self:
        if (self.image is None) == (self.full_image_reason is None):
            raise ValueError(
                "give either image, made of the py3-min variant and the backends needed, or full_image_reason, why the "
                "public image with every backend runs"
            )
        return self


class Workloads(Block):
    """The ``workloads`` block: what runs on the platform from the first day. Only what is named is built."""

    vllm: Vllm | None = None
    """A server of one language model."""

    triton: Triton | None = None
    """A server of a repository of models."""
