"""User data of GPU nodes: what a node of the AL2023 NVIDIA image is told when it boots.

One text serves both ways to get nodes. EKS appends its own NodeConfig to that of a managed node group, and Karpenter
appends its own to that of an EC2NodeClass; both hold the cluster, the labels and the taints, and where they
say something that is said here, they win.
"""

from __future__ import annotations

import base64
from typing import Final

import yaml

from eks_gpu.facts import gpu_software
from eks_gpu.settings.gpu_pool import GpuPool

IMAGE_GC_HIGH_PERCENT: Final = 80
"""Fullness of the image volume at which kubelet starts to remove unused images. Below the eviction threshold of 90 %,
so that images go before pods do; kubelet's own default is 85."""

IMAGE_GC_LOW_PERCENT: Final = 60
"""Fullness at which it stops: room for two of the largest images on a volume of 100 GiB."""

IMAGE_MAXIMUM_AGE: Final = "168h"
"""Age at which an unused image is removed however empty the volume is: a week."""

_BOUNDARY: Final = "GPU-NODE"
_SCRIPT_TYPE: Final = 'text/x-shellscript; charset="us-ascii"'
_NODE_CONFIG_TYPE: Final = "application/node.eks.aws"
"""Content types by which cloud-init and nodeadm find their parts (awslabs/amazon-eks-ami v20260724,
nodeadm/doc/examples.md)."""

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


def toolkit_script() -> str:
    """Return the script by which a pod sees the GPUs that it asked for and no other.

    Cloud-init runs it before ``nodeadm-run`` starts containerd and kubelet (amazon-eks-ami v20260724,
    nodeadm-run.service is after cloud-final.service), so that no container ever starts under the image's own setting.
    """
    options = (f"--set {key}={value}" for key, value in gpu_software.TOOLKIT_OPTIONS.items())
    command = " \\\n  ".join(("nvidia-ctk config --in-place", *options))
    return f"#!/bin/bash\nset -euo pipefail\n{command}\n"


def render(pool: GpuPool) -> str:
    """Return the user data of a pool's nodes: a MIME multipart text with a script and the NodeConfig."""
    document = "---\n" + yaml.safe_dump(node_config(pool), sort_keys=False)
    parts = ((_SCRIPT_TYPE, toolkit_script()), (_NODE_CONFIG_TYPE, document))
    listed = "".join(f"--{_BOUNDARY}\nContent-Type: {kind}\n\n{content}\n" for kind, content in parts)
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{_BOUNDARY}"\n\n{listed}--{_BOUNDARY}--\n'


def encoded(text: str) -> str:
    """Return user data as an EC2 launch template takes it: base64."""
    return base64.b64encode(text.encode()).decode("ascii")
