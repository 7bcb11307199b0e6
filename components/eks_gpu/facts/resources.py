"""Names of the extended resources that pods request and nodes advertise."""

from __future__ import annotations

SOURCE = (
    "NVIDIA/k8s-device-plugin v0.20.0 README and api/config/v1 (gpu, gpu.shared, mig-<profile>); "
    "aws/eks-charts aws-efa-k8s-device-plugin; Kubernetes pkg/quota/v1/evaluator/core/pods.go (requests.<name>)"
)
CHECKED = "2026-11-21"

GPU = "nvidia.com/gpu"
SHARED_SUFFIX = ".shared"
"""What ends the name of a GPU's or a slice's shares when the sharing configuration says ``renameByDefault``."""
GPU_SHARED = GPU + SHARED_SUFFIX

MIG_PREFIX = "nvidia.com/mig-"
EFA = "vpc.amazonaws.com/efa"

CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
EPHEMERAL_STORAGE = "ephemeral-storage"
HUGE_PAGES_PREFIX = "hugepages-"
"""Followed by the size of a page: ``hugepages-2Mi``. Karpenter knows of none on any instance type."""
NODES = "nodes"
"""Of a NodePool's limits only: how many nodes it may have."""

NOT_COUNTED = frozenset({"vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address"})
"""Extended resources of nodes that Karpenter knows and the catalogue does not: addresses and interfaces of pods
(karpenter-provider-aws v1.14.1 pkg/providers/instancetype/types.go, ``computeCapacity``)."""

_QUOTA_PREFIX = "requests."


def mig(profile: str) -> str:
    """Return the resource of one MIG profile under the mixed strategy: ``1g.5gb`` is ``nvidia.com/mig-1g.5gb``.

    A profile with media extensions, ``1g.5gb+me``, is advertised as ``nvidia.com/mig-1g.5gb.me``.
    """
    return MIG_PREFIX + profile.replace("+", ".")


def is_gpu(name: str) -> bool:
    """Return whether a resource is a GPU or a part of one."""
    return name in {GPU, GPU_SHARED} or name.startswith(MIG_PREFIX)


def quota(name: str) -> str:
    """Return the key a ResourceQuota enforces for an extended resource; ``limits.<name>`` is accepted and ignored."""
    return _QUOTA_PREFIX + name
