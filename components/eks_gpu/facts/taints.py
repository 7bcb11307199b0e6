"""Taints that keep pods off nodes, and the tolerations that let pods on.

A taint is written once here; node groups, node pools, charts, workloads and rules derive their own spelling of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from eks_gpu.facts import labels

SOURCE = (
    "NVIDIA/gpu-operator v26.7.0 and NVIDIA/k8s-device-plugin v0.20.0 values.yaml (operands tolerate nvidia.com/gpu "
    "Exists NoSchedule; the plugin chart's NFD worker tolerates exactly nvidia.com/gpu=present); "
    "kubernetes-sigs/aws-efs-csi-driver v3.4.1 and aws-ebs-csi-driver docs (agent-not-ready); "
    "aws/karpenter-provider-aws v1.14.1 NodePool CRD (startupTaints, effects)"
)
CHECKED = "2026-11-21"


class Effect(StrEnum):
    """What a taint does to a pod that does not tolerate it, in Kubernetes' spelling."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"

    @property
    def eks(self) -> str:
        """The same effect in the spelling of the EKS API: ``NO_SCHEDULE``."""
        return self.name


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint: ``key=value:effect``."""

    key: str
    value: str
    effect: Effect

    def kubernetes(self) -> dict[str, str]:
        """Return the taint as nodes, NodePools and KubeletConfiguration spell it."""
        return {"key": self.key, "value": self.value, "effect": self.effect.value}

    def eks(self) -> dict[str, str]:
        """Return the taint as the EKS node group API spells it."""
        return {"key": self.key, "value": self.value, "effect": self.effect.eks}

    def toleration(self) -> dict[str, str]:
        """Return the toleration that admits a pod past exactly this taint."""
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect.value}

    def __str__(self) -> str:
        """Return the taint as ``kubectl taint`` writes it."""
        return f"{self.key}={self.value}:{self.effect.value}"


GPU = Taint("nvidia.com/gpu", "present", Effect.NO_SCHEDULE)
"""On every GPU pool. The value is ``present`` because the device plugin chart's NFD worker tolerates only that one."""


def dedicated(gpu_type: str) -> Taint:
    """Return the second taint of a pool that only its own workloads may use; ``gpu_type`` is as in the pool's label.

    The value of the GPU taint cannot do this: EKS adds to each pod that asks for a GPU a toleration of that key with
    any value (admission plugin ExtendedResourceToleration).
    """
    return Taint(labels.GPU_TYPE, gpu_type, Effect.NO_SCHEDULE)


NOT_VALIDATED = Taint(labels.NOT_VALIDATED, "true", Effect.NO_SCHEDULE)
"""A startup taint: on a new node of a pool that asks for validation, until its GPUs have been proved. What makes the
GPUs visible must tolerate it, and so must the validation itself; workloads never do."""

TOLERATE_EVERYTHING: dict[str, str] = {"operator": "Exists"}
"""For node agents that must run everywhere (monitoring, logging). A workload never carries it."""
