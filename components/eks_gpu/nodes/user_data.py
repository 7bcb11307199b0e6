"""User data of GPU nodes: what a node is told when it boots.

One text serves both ways to get nodes. EKS adds its own to that of a managed node group, and Karpenter to that of an
EC2NodeClass; both hold the cluster, the labels and the taints, and where they say something that is said here, they win
(on Bottlerocket, EKS lets ours win).
"""

from __future__ import annotations

import base64

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.nodes import user_data_al2023, user_data_bottlerocket
from eks_gpu.settings.gpu_pool import GpuPool


def render(pool: GpuPool) -> str:
    """Return the user data of a pool's nodes, in the form of their operating system."""
    if pool.image.ami_family is AmiFamily.BOTTLEROCKET:
        return user_data_bottlerocket.render(pool)
    return user_data_al2023.render(pool)


def encoded(text: str) -> str:
    """Return user data as an EC2 launch template takes it: base64."""
    return base64.b64encode(text.encode()).decode("ascii")
