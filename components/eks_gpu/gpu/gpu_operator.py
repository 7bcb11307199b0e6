"""The operator path of GPU software: NVIDIA's GPU Operator and its operands.

Builds
    Namespace      of operator and operands
    ConfigMaps     how GPUs are shared; how they are partitioned; which metrics the DCGM exporter exports
    Release        operator, device plugin, DCGM exporter, GPU and node feature discovery, MIG manager
    ClusterPolicy  is awaited: the release is done when the operator runs, the policy when its operands do

Needs
    Nodes of an EKS NVIDIA image: driver and container toolkit are on them, so the operator installs neither. Where the
    image brings device plugin and MIG manager as well (Bottlerocket), labels of the pool keep the operator's off.
    Untainted system nodes for the operator and for the job that upgrades its CRDs. No other owner of the GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import dcgm_exporter, gpu_software, labels, metrics, mig, namespaces, taints, versions
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.helm_chart import INSTALL_TIMEOUT_SECONDS, HelmChart, HelmChartArgs
from eks_gpu.foundation.namespace import Namespace
from eks_gpu.gpu.gpu_owner import GpuOwner
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.sharing import (
    NamedFiles,
    chosen_by,
    config_map,
    mig_files,
    mig_strategy,
    offered,
    sharing_files,
)
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.sharing import refuse_disagreement

_RELEASE: Final = "gpu-operator"
_METRICS: Final = "dcgm-metrics"


@dataclass(frozen=True, kw_only=True)
class GpuOperatorArgs:
    """What the operator path is built from."""

    settings: settings.Operator
    """Choices of the ``gpu_software`` block."""

    cluster: ClusterConnection
    """Where it is installed."""

    pools: Mapping[str, GpuPool] = field(default_factory=dict)
    """What groups and pools choose, by their names: how each shares its GPUs must be known here, too."""

    after: Sequence[pulumi.Resource] = ()
    """Node groups and pools: nodes go after the software when the stack is destroyed, and come before it."""


class GpuOperator(GpuOwner):
    """NVIDIA's GPU Operator, which owns everything between the driver and the pod."""

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the configurations, then the operator, then the wait for its operands."""
        refuse(_problems(args), component=name)
        super().__init__(name, args.cluster, opts)
        namespace = self._namespace(namespaces.GPU_OPERATOR)
        sharing, counters = sharing_files(args.settings.sharing, chosen_by(args.pools)), counter_files()
        layouts = mig_files(args.pools.values())
        configs = [self._config("sharing", sharing, namespace), self._config("metrics", counters, namespace)]
        if layouts is not None:
            configs.append(self._config("mig-layouts", layouts, namespace))
        values = chart_values(
            sharing.name,
            counters.name,
            mig_layouts=None if layouts is None else layouts.name,
            mig_strategy=mig_strategy(args.pools.values()),
        )
        release = self._release(args, namespace, values, after=(*configs, *args.after))
        policy = self._cluster_policy_ready(release)
        self.software = GpuSoftware(
            ready=(release, policy),
            runtime_class_name=None,
            owns_exporter=True,
            namespace=namespace.namespace,
            **offered(args.settings.sharing, args.pools),
        )
        self.register_outputs({"gpu_resource": self.software.gpu_resource})

    def _config(self, suffix: str, files: NamedFiles, namespace: Namespace) -> k8s.core.v1.ConfigMap:
        return config_map(self.child_name(suffix), files, namespace.namespace, self._options(namespace))

    def _release(
        self,
        args: GpuOperatorArgs,
        namespace: Namespace,
        values: dict[str, object],
        after: Sequence[pulumi.Resource],
    ) -> HelmChart:
        return HelmChart(
            self.child_name("chart"),
            HelmChartArgs(
                chart=versions.GPU_OPERATOR,
                chart_source=args.settings.chart_source,
                namespace=namespace.namespace,
                release_name=_RELEASE,
                values=values,
                # The hook that upgrades the CRDs runs before them, so new fields are unknown to the API server.
                disable_openapi_validation=True,
            ),
            self._options(namespace, *after),
        )

    def _cluster_policy_ready(self, release: HelmChart) -> k8s.apiextensions.CustomResourcePatch:
        return k8s.apiextensions.CustomResourcePatch(
            self.child_name("ready"),
            api_version=gpu_software.CLUSTER_POLICY_API,
            kind=gpu_software.CLUSTER_POLICY_KIND,
            metadata={
                "name": gpu_software.CLUSTER_POLICY,
                "annotations": {labels.WAIT_FOR: gpu_software.CLUSTER_POLICY_READY},
            },
            opts=self.child_opts(
                provider=self._cluster.provider,
                depends_on=[release],
                custom_timeouts=pulumi.CustomTimeouts(
                    create=f"{INSTALL_TIMEOUT_SECONDS}s", update=f"{INSTALL_TIMEOUT_SECONDS}s"
                ),
            ),
        )


def counter_files() -> NamedFiles:
    """Return the exporter's counter list as the operator hands it on: one list, for exporter and alerts alike."""
    return NamedFiles(stem=_METRICS, files={gpu_software.METRICS_FILE: metrics.counter_file()})


def _problems(args: GpuOperatorArgs) -> Iterator[Problem]:
    try:
        refuse_disagreement(args.settings.sharing, args.pools)
    except ValueError as error:
        yield Problem("pools", str(error))


def chart_values(
    sharing_config: str, counters: str, *, mig_layouts: str | None = None, mig_strategy: str = mig.SINGLE
) -> dict[str, object]:
    """Return the values of the operator's chart.

    ``sharing_config``, ``counters`` and ``mig_layouts`` name the ConfigMaps with the sharing files, with the exporter's
    counter list and with the MIG manager's layouts; without the last, the manager makes its own on each node.
    """
    layouts = {"config": {"create": False, "name": mig_layouts, "default": mig.ALL_DISABLED}} if mig_layouts else {}
    return {
        "operator": {
            "runtimeClass": gpu_software.RUNTIME_CLASS,
            # By a hook, because Helm itself never upgrades the CRDs of a chart. Removing them would remove the policy.
            "upgradeCRD": True,
            "cleanupCRD": False,
        },
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        # The device plugin names a pod's GPUs to containerd itself (CDI), which the EKS NVIDIA images are set up for.
        # The other way, an environment variable, would let any image that sets it see every GPU.
        "cdi": {"enabled": True},
        "devicePlugin": {
            "enabled": True,
            # Without the default, a node that names no configuration gets an empty one.
            "config": {
                "create": False,
                "name": sharing_config,
                "default": gpu_software.DEVICE_PLUGIN_DEFAULT_CONFIG,
            },
        },
        "nfd": {"enabled": True},
        "gfd": {"enabled": True},
        "dcgm": {"enabled": False},
        "dcgmExporter": {
            "enabled": True,
            "config": {"create": False, "name": counters},
            "env": [{"name": name, "value": value} for name, value in dcgm_exporter.ENVIRONMENT.items()],
            # Monitoring scrapes it by a ServiceMonitor of its own, with the node's name and the labels that the
            # Prometheus selects by. Two would count every GPU twice.
            "serviceMonitor": {"enabled": False},
        },
        # Device plugin and feature discovery take it from here alone: it is in their environment, which wins over a
        # configuration file.
        "mig": {"strategy": mig_strategy},
        "migManager": {
            "enabled": True,
            # A GPU that cannot be reset, as in most virtual machines, takes its new mode with a reboot.
            "env": [{"name": gpu_software.MIG_MANAGER_WITH_REBOOT, "value": "true"}],
            **layouts,
        },
        # Feature discovery decides whether a node is a GPU node at all, so it must reach what the operands must reach:
        # every pool, whatever its taints.
        "daemonsets": {"tolerations": [taints.TOLERATE_EVERYTHING]},
        "node-feature-discovery": {"worker": {"tolerations": [taints.TOLERATE_EVERYTHING]}},
    }
