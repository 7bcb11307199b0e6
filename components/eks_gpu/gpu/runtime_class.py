"""The RuntimeClass of GPU pods. Only for the plain path: the operator makes its own, and takes over any other."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import gpu_software


def nvidia_runtime_class(name: str, opts: pulumi.ResourceOptions) -> k8s.node.v1.RuntimeClass:
    """Return the RuntimeClass ``nvidia``, under the logical name ``name``.

    Without it a pod that names it is rejected, the device plugin's own first of all.
    """
    return k8s.node.v1.RuntimeClass(
        name,
        metadata={"name": gpu_software.RUNTIME_CLASS},
        handler=gpu_software.RUNTIME_HANDLER,
        opts=opts,
    )
