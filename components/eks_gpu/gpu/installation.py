"""Choosing the one owner of the GPUs, and what comes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pulumi

from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from eks_gpu.gpu.efa_device_plugin import EfaDevicePlugin, EfaDevicePluginArgs, efa_types
from eks_gpu.gpu.gpu_operator import GpuOperator, GpuOperatorArgs
from eks_gpu.gpu.gpu_owner import GpuOwner
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.gpu_pool import GpuPool


def install_gpu_software(  # noqa: PLR0913 - what an owner needs, keyword-only
    name: str,
    chosen: settings.GpuSoftware,
    cluster: ClusterConnection,
    *,
    pools: Mapping[str, GpuPool] | None = None,
    after: Sequence[pulumi.Resource] = (),
    opts: pulumi.ResourceOptions | None = None,
) -> GpuSoftware:
    """Install the owner that the settings chose, under the logical name ``name``, and return what to depend on.

    ``pools`` are the settings of the node groups and pools whose GPUs it is to own, by name, and ``after`` the
    components made of them. Where one has Elastic Fabric Adapters, AWS's plugin for them comes along. Changing the
    owner of a running cluster replaces one component by the other; drain GPU nodes first, because for a while nobody
    serves them.
    """
    known = pools or {}
    software = _owner(name, chosen, cluster, known, after, opts).software
    types = efa_types(known.values())
    if not types:
        return software
    args = EfaDevicePluginArgs(
        cluster=cluster,
        namespace=software.namespace,
        instance_types=types,
        chart_source=chosen.chart_source,
        after=(*software.ready, *after),
    )
    fabric = EfaDevicePlugin(f"{name}-efa", args, opts)
    return replace(software, ready=(*software.ready, *fabric.ready))


def _owner(  # noqa: PLR0913, PLR0917 - those of its one caller
    name: str,
    chosen: settings.GpuSoftware,
    cluster: ClusterConnection,
    pools: Mapping[str, GpuPool],
    after: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions | None,
) -> GpuOwner:
    match chosen:
        case settings.Operator():
            return GpuOperator(name, GpuOperatorArgs(settings=chosen, cluster=cluster, pools=pools, after=after), opts)
        case settings.DevicePlugin():
            args = DevicePluginArgs(settings=chosen, cluster=cluster, pools=pools, after=after)
            return DevicePlugin(name, args, opts)
