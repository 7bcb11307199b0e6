"""User data of GPU nodes: what ``nodeadm`` is told when a node of the AL2023 NVIDIA image boots.

One text serves both ways to get nodes. EKS appends its own NodeConfig to that of a managed node group, and Karpenter
appends its own to that of an EC2NodeClass; both hold the cluster, the labels and the taints, and where they
say something that is said here, they win.
"""

from __future__ import annotations

import base64
from typing import Final

import yaml

from eks_gpu.settings.gpu_pool import GpuPool

IMAGE_GC_HIGH_PERCENT: Final = 80
"""Fullness of the image volume at which kubelet starts to remove unused images. Below the eviction threshold of 90 %,
so that images go before pods do; kubelet's own default is 85."""

IMAGE_GC_LOW_PERCENT: Final = 60
"""Fullness at which it stops: room for two of the largest images on a volume of 100 GiB."""

IMAGE_MAXIMUM_AGE: Final = "168h"
"""Age at which an unused image is removed however empty the volume is: a week."""

_BOUNDARY: Final = "NODECONFIG"
_NODE_CONFIG_TYPE: Final = "application/node.eks.aws"
"""Content type by which nodeadm finds its parts (awslabs/amazon-eks-ami v20260724, nodeadm/doc/examples.md)."""

_API_VERSION: Final = "node.eks.aws/v1alpha1"


def node_config(pool: GpuPool) -> dict[str, object]:
    """Return the NodeConfig of a pool's nodes (amazon-eks-ami v20260724, nodeadm/api/v1alpha1).

    Where every type has NVMe disks, nodeadm joins them (RAID0) and puts containerd, kubelet and the pods' logs
    there: images then unpack at gigabytes a second.
    """
    spec: dict[str, object] = {
        "kubelet": {
            "config": {
                "imageGCHighThresholdPercent": IMAGE_GC_HIGH_PERCENT,
                "imageGCLowThresholdPercent": IMAGE_GC_LOW_PERCENT,
                "imageMaximumGCAge": IMAGE_MAXIMUM_AGE,
            }
        }
    }
    if pool.has_local_nvme:
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return {"apiVersion": _API_VERSION, "kind": "NodeConfig", "spec": spec}


def render(pool: GpuPool) -> str:
    """Return the user data of a pool's nodes: a MIME multipart text with the NodeConfig as its only part."""
    document = yaml.safe_dump(node_config(pool), sort_keys=False)
    return (
        "MIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"\n'
        "\n"
        f"--{_BOUNDARY}\n"
        f"Content-Type: {_NODE_CONFIG_TYPE}\n"
        "\n"
        "---\n"
        f"{document}\n"
        f"--{_BOUNDARY}--\n"
    )


def encoded(text: str) -> str:
    """Return user data as an EC2 launch template takes it: base64."""
    return base64.b64encode(text.encode()).decode("ascii")
