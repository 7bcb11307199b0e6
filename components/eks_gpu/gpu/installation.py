"""Choosing the one owner of the GPUs."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from eks_gpu.gpu.gpu_operator import GpuOperator, GpuOperatorArgs
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.settings import gpu_software as settings


def install_gpu_software(
    name: str,
    chosen: settings.GpuSoftware,
    cluster: ClusterConnection,
    *,
    after: Sequence[pulumi.Resource] = (),
    opts: pulumi.ResourceOptions | None = None,
) -> GpuSoftware:
    """Install the owner that the settings chose, under the logical name ``name``, and return what to depend on.

    ``after`` are the node groups and pools whose GPUs it is to own. Changing the owner of a running cluster replaces
    one component by the other; drain GPU nodes first, because for a while nobody serves them.
    """
    match chosen:
        case settings.Operator():
            return GpuOperator(name, GpuOperatorArgs(settings=chosen, cluster=cluster, after=after), opts).software
        case settings.DevicePlugin():
            return DevicePlugin(name, DevicePluginArgs(settings=chosen, cluster=cluster, after=after), opts).software
