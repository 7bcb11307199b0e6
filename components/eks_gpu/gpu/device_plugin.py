"""The plain path of GPU software: NVIDIA's device plugin and what it needs.

Builds
    Namespace     of the plugin, and of whatever else watches GPUs on this path
    RuntimeClass  ``nvidia``, which nobody creates on EKS without the operator
    ConfigMap     how GPUs are shared
    Release       the device plugin, after all of them

Needs
    Nodes of an EKS NVIDIA image (driver, container toolkit and the ``nvidia`` runtime are on them) with the label
    ``nvidia.com/gpu.present=true``, and no other owner of their GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import gpu_software, labels, namespaces, taints, versions
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs
from eks_gpu.foundation.namespace import Namespace
from eks_gpu.gpu.gpu_owner import GpuOwner
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.runtime_class import nvidia_runtime_class
from eks_gpu.gpu.sharing import chosen_by, config_map, offered, sharing_files
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.sharing import refuse_without_operator

_RELEASE: Final = "nvidia-device-plugin"


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """What the plain path is built from."""

    settings: settings.DevicePlugin
    """Choices of the ``gpu_software`` block."""

    cluster: ClusterConnection
    """Where it is installed."""

    pools: Mapping[str, GpuPool] = field(default_factory=dict)
    """What groups and pools choose, by their names: how each shares its GPUs must be known here, too."""

    after: Sequence[pulumi.Resource] = ()
    """Node groups and pools: nodes go after the software when the stack is destroyed, and come before it."""


class DevicePlugin(GpuOwner):
    """NVIDIA's device plugin, which makes the GPUs of a node known to Kubernetes."""

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the RuntimeClass and the sharing configuration, then the plugin that needs both."""
        refuse(_problems(args), component=name)
        super().__init__(name, args.cluster, opts)
        namespace = self._namespace(namespaces.NVIDIA)
        runtime_class = self._runtime_class()
        files = sharing_files(args.settings.sharing, chosen_by(args.pools))
        config = config_map(self.child_name("sharing"), files, namespace.namespace, self._options(namespace))
        values = chart_values(files.name)
        release = self._release(args, namespace, values, after=(runtime_class, config, *args.after))
        self.software = GpuSoftware(
            ready=(runtime_class, release),
            runtime_class_name=gpu_software.RUNTIME_CLASS,
            owns_exporter=False,
            namespace=namespace.namespace,
            **offered(args.settings.sharing, args.pools),
        )
        self.register_outputs({"gpu_resource": self.software.gpu_resource})

    def _runtime_class(self) -> k8s.node.v1.RuntimeClass:
        return nvidia_runtime_class(self.child_name("runtime-class"), self._options(*self._cluster.ready))

    def _release(
        self,
        args: DevicePluginArgs,
        namespace: Namespace,
        values: dict[str, object],
        after: Sequence[pulumi.Resource],
    ) -> HelmChart:
        return HelmChart(
            self.child_name("chart"),
            HelmChartArgs(
                chart=versions.NVIDIA_DEVICE_PLUGIN,
                chart_source=args.settings.chart_source,
                namespace=namespace.namespace,
                release_name=_RELEASE,
                values=values,
            ),
            self._options(namespace, *after),
        )


def _problems(args: DevicePluginArgs) -> Iterator[Problem]:
    for name, pool in args.pools.items():
        if pool.sharing is not None:
            try:
                refuse_without_operator(pool.sharing)
            except ValueError as error:
                yield Problem(f"pools.{name}.sharing", str(error))


def _nodes_without_a_plugin() -> dict[str, object]:
    wanted = [
        {"key": labels.GPU_PRESENT, "operator": "In", "values": ["true"]},
        {"key": labels.DEPLOY_DEVICE_PLUGIN, "operator": "NotIn", "values": [labels.NOT_DEPLOYED]},
    ]
    return {"nodeSelectorTerms": [{"matchExpressions": wanted}]}


def chart_values(sharing_config: str) -> dict[str, object]:
    """Return the values of the device plugin's chart. ``sharing_config`` names the ConfigMap with the sharing files.

    Flags stand here and not in the sharing file, because the chart reads off its values that GPUs are handed over by
    volume mounts and gives the plugin the SYS_ADMIN capability: only to such a container does the toolkit show GPUs
    that were not asked for.
    """
    return {
        "runtimeClassName": gpu_software.RUNTIME_CLASS,
        "migStrategy": "none",
        # A plugin that finds no GPU must fail where people look, rather than idle and advertise nothing.
        "failOnInitError": True,
        "deviceListStrategy": gpu_software.DEVICE_LIST_BY_VOLUME_MOUNTS,
        "config": {"name": sharing_config, "default": gpu_software.DEVICE_PLUGIN_DEFAULT_CONFIG},
        # Every GPU pool carries the label from launch, whatever the Kubernetes version; in place of the chart's own
        # affinity, which also takes nodes whose image brings a plugin of its own.
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _nodes_without_a_plugin()}},
        # Whatever taint a pool has, its own or one of the start: without the plugin the node has no GPU.
        "tolerations": [taints.TOLERATE_EVERYTHING],
        "gfd": {"enabled": False},
    }
