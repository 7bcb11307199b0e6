"""AWS's device plugin for Elastic Fabric Adapters: without it no pod that asks for one ever starts.

Builds
    Release  the plugin, on nodes of pools that attach adapters

Needs
    Nodes with adapters: a pool with ``efa``. A namespace for node agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from eks_gpu.facts import gpu_software, labels, taints, versions
from eks_gpu.facts.network import region_of
from eks_gpu.foundation.arguments import missing, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs
from eks_gpu.settings.gpu_pool import GpuPool

_RELEASE: Final = gpu_software.EFA_DEVICE_PLUGIN
"""The chart labels its pods with the release's name."""


@dataclass(frozen=True, kw_only=True)
class EfaDevicePluginArgs:
    """What AWS's plugin for Elastic Fabric Adapters is built from."""

    cluster: ClusterConnection
    """Where it is installed."""

    namespace: str
    """Namespace that exists already and lets node agents see the host."""

    instance_types: Sequence[str]
    """Instance types on whose nodes it runs, where the nodes carry the label of pools with adapters."""

    chart_source: str | None = None
    """Mirror that holds the chart: an ``https://`` repository or an ``oci://`` prefix. The public one by default."""

    after: Sequence[pulumi.Resource] = ()
    """What it comes after: the namespace, the nodes."""


class EfaDevicePlugin(Component):
    """The plugin that makes the Elastic Fabric Adapters of a node known to Kubernetes."""

    ready: tuple[pulumi.Resource, ...]
    """What a pod that asks for an adapter must come after."""

    def __init__(self, name: str, args: EfaDevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the plugin's release."""
        refuse(missing(args, "namespace", "instance_types"), component=name)
        super().__init__(name, opts)
        release = HelmChart(
            self.child_name("chart"),
            HelmChartArgs(
                chart=versions.EFA_DEVICE_PLUGIN,
                chart_source=args.chart_source,
                namespace=args.namespace,
                release_name=_RELEASE,
                values=chart_values(args.instance_types, args.cluster.zones),
            ),
            self.child_opts(provider=args.cluster.provider, depends_on=(*args.cluster.ready, *args.after)),
        )
        self.ready = (release,)
        self.register_outputs({})


def chart_values(instance_types: Sequence[str], zones: Sequence[str]) -> dict[str, Any]:
    """Return the values of the plugin's chart for nodes of these types in these zones."""
    repository = image_repository(region_of(zones[0])) if zones else None
    return {
        "supportedInstanceLabels": {"keys": [labels.INSTANCE_TYPE], "values": sorted(instance_types)},
        # Nodes of such a type have adapters only where their pool attaches them.
        "nodeSelector": dict(labels.WITH_ADAPTERS),
        # Whatever taint a pool has, its own or one of the start: the chart itself tolerates none of them.
        "tolerations": [taints.TOLERATE_EVERYTHING],
        **({"image": {"repository": repository}} if repository is not None else {}),
    }


def image_repository(region: str) -> str | None:
    """Return where nodes of a region pull the plugin's image from; None where that is not known here.

    EKS keeps a registry in each region. The chart names that of us-west-2, which a network without a way to the
    internet reaches from us-west-2 only.
    """
    if region not in gpu_software.EKS_REGISTRY_REGIONS:
        return None
    return f"{gpu_software.EKS_REGISTRY_ACCOUNT}.dkr.ecr.{region}.amazonaws.com/{gpu_software.EFA_DEVICE_PLUGIN_IMAGE}"


def efa_types(pools: Iterable[GpuPool]) -> tuple[str, ...]:
    """Return the instance types of the pools that attach adapters, each once, in alphabetical order."""
    return tuple(sorted({name for pool in pools if pool.efa for name in pool.instance_types}))
