"""What both owners of GPUs have in common: the cluster they are installed into, and a namespace of their own."""

from __future__ import annotations

import pulumi

from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.gpu.gpu_software import GpuSoftware


class GpuOwner(Component):
    """The owner of the GPUs of a cluster. There is one; which one, its subclasses say."""

    software: GpuSoftware
    """What others depend on."""

    def __init__(self, name: str, cluster: ClusterConnection, opts: pulumi.ResourceOptions | None) -> None:
        """Register the owner that is installed into ``cluster``."""
        super().__init__(name, opts)
        self._cluster = cluster

    def _options(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return self.child_opts(provider=self._cluster.provider, depends_on=depends_on)

    def _namespace(self, namespace: str) -> Namespace:
        return Namespace(
            self.child_name("namespace"),
            NamespaceArgs(namespace=namespace, pod_security=PodSecurity.PRIVILEGED),
            self._options(*self._cluster.ready),
        )
