"""What node groups and node pools have in common: which GPUs, for whom, on which disk."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from eks_gpu.facts import instances, labels
from eks_gpu.settings.block import Block
from eks_gpu.settings.instance_types import GpuInstanceTypes
from eks_gpu.settings.node_image import NodeImage
from eks_gpu.settings.sharing import Sharing, refuse_beside_own_plugin, refuse_misfit

GP3_IOPS_PER_GIB: Final = 500
"""Most IOPS of a gp3 volume for each GiB of it (EBS user guide, "General Purpose SSD volumes", checked 2026-11-21)."""

GP3_IOPS_PER_MIBPS: Final = 4
"""Fewest IOPS of a gp3 volume for each MiB/s of throughput (same source)."""

LARGEST_VOLUME_GIB: Final = 59_000
"""Largest volume of an EC2NodeClass (its CRD in Karpenter 1.14.1, checked 2026-11-21); EBS itself goes to 65536."""

LONGEST_NAME: Final = 40
"""Characters that the name of a pool may have, so that what AWS calls its parts by, which adds a suffix, stays within
63 for a node group and 64 for a role (EKS and IAM API references, checked 2026-11-21)."""


class Purpose(StrEnum):
    """What a pool is for. It decides how its nodes may be disrupted, and is the value of their ``workload`` label."""

    INFERENCE = "inference"
    TRAINING = "training"
    DEVELOPMENT = "development"


class Capacity(StrEnum):
    """How instances are paid for, in Karpenter's spelling."""

    RESERVED = "reserved"
    SPOT = "spot"
    ON_DEMAND = "on-demand"


class RootVolume(Block):
    """The volume that holds container images and ephemeral storage: gp3, always encrypted."""

    size_gib: int = Field(default=100, ge=100, le=LARGEST_VOLUME_GIB)
    """Size in GiB. At least 100: an image of 15 GB fills Karpenter's default of 20 GiB. Give 200 for TensorRT-LLM."""

    throughput_mibps: int = Field(default=500, ge=250, le=2000)
    """Throughput in MiB/s. EBS's own default of 125 needs two minutes to write a 15 GB image, 500 needs half a minute;
    small instance types have less bandwidth to EBS than that and take what they have."""

    iops: int = Field(default=3000, ge=3000, le=80000)
    """Operations a second. 3000 are included in the price."""

    @model_validator(mode="after")
    def _ratios(self) -> Self:
        if self.iops < self.throughput_mibps * GP3_IOPS_PER_MIBPS:
            needed = self.throughput_mibps * GP3_IOPS_PER_MIBPS
            raise ValueError(
                f"{self.iops} iops carry at most {self.iops // GP3_IOPS_PER_MIBPS} MiB/s on gp3, but throughput_mibps "
                f"is {self.throughput_mibps}; give at least {needed} iops or less throughput"
            )
        if self.iops > self.size_gib * GP3_IOPS_PER_GIB:
            raise ValueError(
                f"a gp3 volume of {self.size_gib} GiB has at most {self.size_gib * GP3_IOPS_PER_GIB} iops, "
                f"not {self.iops}; give fewer iops or a larger size_gib"
            )
        return self


def _several(value: object) -> object:
    """Let one former name be written without brackets."""
    return (value,) if isinstance(value, str) else value


FormerNames = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""One former name or several."""


class GpuPool(Block):
    """What a node group and a node pool have in common."""

    instance_types: GpuInstanceTypes
    """EC2 instance types with NVIDIA GPUs, by name or by need: ``[g5.xlarge, g5.2xlarge]`` or ``{gpus: 1, gpu: a10g}``.
    All of one GPU model: make one pool for each model."""

    purpose: Purpose = Purpose.INFERENCE
    """What the pool is for."""

    resumable: bool = False
    """Whether every training job of the pool saves checkpoints and resumes from them. Needed for training on spot."""

    root_volume: RootVolume = RootVolume()
    """The volume that holds container images and ephemeral storage."""

    image: NodeImage = NodeImage()
    """Which operating system the nodes boot, and what it is told: mirrors, proxy, files, reservations of kubelet."""

    sharing: Sharing | None = None
    """How its GPUs are shared between pods; as ``gpu_software`` says when left out, exclusive for ``{}``."""

    efa: bool = False
    """Attach every Elastic Fabric Adapter that the instance type has, for training across nodes. EFA does not reach
    from one zone into another: give one zone, or let the pods of a job ask for nodes of one."""

    zones: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Availability zones to use; all of the cluster's when left out."""

    previously: FormerNames = ()
    """Former keys of this pool, oldest first. They keep a renamed pool from being replaced."""

    @model_validator(mode="after")
    def _gpus_can_be_shared_so(self) -> Self:
        sharing = self.sharing or Sharing()
        if self._brings_device_plugin:
            refuse_beside_own_plugin(sharing)
        refuse_misfit(sharing, self.types)
        return self

    @model_validator(mode="after")
    def _kubelet_leaves_room(self) -> Self:
        self.image.kubelet_reserved.refuse_no_room(self.types)
        return self

    @property
    def types(self) -> tuple[instances.InstanceType, ...]:
        """What the catalogue says of the instance types, in the order given."""
        return tuple(instances.CATALOGUE[name] for name in self.instance_types)

    @property
    def gpu_name(self) -> str:
        """The one GPU model, as Karpenter names it: ``a10g``."""
        return self.types[0].gpu_name

    @property
    def gpu_type(self) -> str:
        """The value of the nodes' label ``gpu-type``: the GPU model, with ``-mig`` where it is partitioned."""
        return labels.gpu_type(self.gpu_name, partitioned=self.sharing is not None and self.sharing.mig is not None)

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels of its nodes: those of every GPU pool, and those that tell device plugins what is there."""
        return {
            **labels.pool_labels(self.gpu_type, self.purpose.value),
            **(labels.WITH_ADAPTERS if self.efa else {}),
            **(labels.OWN_DEVICE_PLUGIN if self._brings_device_plugin else {}),
            **(self.sharing.node_labels() if self.sharing is not None else {}),
        }

    def shared_as(self, default: Sharing) -> Sharing:
        """Return how its GPUs are shared where ``default`` is how those of pools are that do not say.

        Without a word of its own a pool is exclusive if its image brings the device plugin, which knows no default.
        """
        return self.sharing or (Sharing() if self._brings_device_plugin else default)

    @property
    def _brings_device_plugin(self) -> bool:
        return self.image.ami_family.brings_device_plugin

    @property
    def arch(self) -> str:
        """The one architecture, as Kubernetes labels nodes: ``amd64``."""
        return self.types[0].arch

    @property
    def has_local_nvme(self) -> bool:
        """Whether every type has NVMe disks of its own, so that images and scratch space can live there."""
        return all(kind.local_nvme_gb > 0 for kind in self.types)


def lost_work(purpose: Purpose, capacities: Iterable[Capacity], *, resumable: bool) -> None:
    """Refuse training on spot that could not resume."""
    if purpose is Purpose.TRAINING and Capacity.SPOT in set(capacities) and not resumable:
        raise ValueError(
            "capacity spot with purpose training loses the work of a job whenever EC2 takes the instance back, with "
            "two minutes' notice; use on-demand or reserved, or set resumable: true when every job of the pool saves "
            "checkpoints and resumes from them"
        )
