"""The ``system_nodes`` block: CPU nodes for controllers."""

from __future__ import annotations

import re
from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from eks_gpu.facts import instances
from eks_gpu.settings.block import Block

_INSTANCE_TYPE: Final = re.compile(
    r"(?P<class>[a-z]+)(?P<generation>\d+)(?P<attributes>[a-z-]*\d*[a-z]*)\.(?P<size>[a-z0-9-]+)"
)
_ACCELERATED: Final = frozenset({"p", "g", "gr", "trn", "inf", "dl", "vt", "f"})
"""Instance classes with an accelerator, which controllers would leave idle (EC2 instance types guide, "Accelerated
computing", checked 2026-11-21)."""


class SystemSize(Block):
    """How many system nodes there are."""

    min: int = Field(default=2, ge=2, le=100)
    """Nodes, always; nothing scales this group, because Karpenter itself runs on it. Two, so that Karpenter's and
    CoreDNS's two replicas are on different nodes."""

    max: int = Field(default=4, ge=2, le=100)
    """How far the group may be raised by hand in an emergency without a deployment."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max < self.min:
            raise ValueError(f"max is {self.max}, less than min, {self.min}; give a max of at least {self.min}")
        return self


class SystemNodes(Block):
    """CPU nodes that run what must be there before any GPU node: Karpenter, CoreDNS, CSI and GPU controllers."""

    instance_types: tuple[str, ...] = Field(default=("m7i.xlarge", "m6i.xlarge"), min_length=1, max_length=20)
    """Instance types in order of preference, all of one architecture. 4 vCPUs and 16 GiB each by default: two of them
    hold Karpenter, the GPU operator, Prometheus and Grafana. A second type, because one is sometimes sold out."""

    size: SystemSize = SystemSize()
    """How many there are; two by default."""

    @field_validator("instance_types")
    @classmethod
    def _are_cpu_types_of_one_architecture(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        by_architecture: dict[str, list[str]] = {}
        for name in types:
            by_architecture.setdefault(_checked_architecture(name), []).append(name)
        if len(by_architecture) > 1:
            groups = " and ".join(f"{', '.join(names)} ({arch})" for arch, names in sorted(by_architecture.items()))
            raise ValueError(f"{groups} have different architectures, and one image cannot serve both; keep to one")
        return types

    @property
    def arch(self) -> str:
        """Architecture of the nodes, ``amd64`` or ``arm64``."""
        return architecture(self.instance_types[0])


def architecture(instance_type: str) -> str:
    """Return the architecture of a CPU instance type, ``amd64`` or ``arm64``.

    Graviton's types have a ``g`` after the generation (``m7g``, ``c7gn``); ``a1`` came before that rule.
    """
    match = _INSTANCE_TYPE.fullmatch(instance_type)
    if match is None:
        raise ValueError(f"{instance_type!r} is no instance type; write one such as m7i.xlarge")
    graviton = match["class"] == "a" or match["attributes"].startswith("g")
    return "arm64" if graviton else "amd64"


def _checked_architecture(name: str) -> str:
    arch = architecture(name)
    match = _INSTANCE_TYPE.fullmatch(name)
    if name in instances.CATALOGUE or (match is not None and match["class"] in _ACCELERATED):
        raise ValueError(
            f"{name} has an accelerator, which controllers would leave idle; use a general type such as m7i.xlarge"
        )
    return arch
