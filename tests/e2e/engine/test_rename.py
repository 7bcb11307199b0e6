"""Components under new names: what is in the cluster stays, says the real provider."""

from __future__ import annotations

import json

from sandbox.kubernetes import inventory
from sandbox.kubernetes.api import Api
from tests.support.cluster import Cluster
from tests.support.cluster_bench import ClusterBench
from tests.support.definitions import define
from tests.support.engine import Result

PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import versions
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.observability.gpu_monitoring import GpuMonitoring, GpuMonitoringArgs
from eks_gpu.settings.gpu_software import DevicePlugin as Plugin
from eks_gpu.settings.monitoring import ExistingPrometheus, Monitoring
from eks_gpu.settings.node_pool import NodePool

names = pulumi.Config().require_object("names")
cluster = ClusterConnection(
    version="1.35",
    private_subnets={"us-east-1a": "subnet-0a", "us-east-1b": "subnet-0b"},
    name="prod",
    arn="arn:aws:eks:us-east-1:123456789012:cluster/prod",
    endpoint="https://prod.example",
    certificate_authority="Q0E=",
    security_group_id="sg-0cluster",
    vpc_id="vpc-0",
    provider=k8s.Provider("kubernetes"),
)


def formerly(part):
    return pulumi.ResourceOptions(aliases=[pulumi.Alias(name=name) for name in names[part][:-1]])


*former, name = names["pool"]
pool = GpuNodePool(
    name,
    GpuNodePoolArgs(
        settings=NodePool(instance_types=["g5.xlarge"], max_gpus=8, previously=former),
        cluster=cluster,
        karpenter=KarpenterConnection(node_role_name="node"),
    ),
)
gpus = DevicePlugin(
    names["gpus"][-1],
    DevicePluginArgs(settings=Plugin(kind="device_plugin"), cluster=cluster, after=[pool]),
    formerly("gpus"),
)
monitoring = GpuMonitoringArgs(
    settings=Monitoring(prometheus=ExistingPrometheus()), cluster=cluster, gpu_software=gpus.software
)
GpuMonitoring(names["monitoring"][-1], monitoring, formerly("monitoring"))
"""

FIRST = {"pool": ["g5"], "gpus": ["gpus"], "monitoring": ["monitoring"]}
SECOND = {"pool": ["g5", "a10g"], "gpus": ["gpus", "nvidia"], "monitoring": ["monitoring", "watching"]}

MADE = (
    "cluster EC2NodeClass g5",
    "cluster NodePool g5",
    "cluster RuntimeClass nvidia",
    "cluster Namespace nvidia",
    "nvidia DaemonSet nvidia-device-plugin",
    "nvidia DaemonSet dcgm-exporter",
    "nvidia ConfigMap gpu-runbooks",
)


def test_renamed_components_replace_nothing_in_the_cluster(bench: ClusterBench, cluster: Cluster, kube: Api) -> None:
    define(kube)
    program = bench.program(PROGRAM, name="renaming")
    built = bench.up(program, config=_config(FIRST))
    assert built.returncode == 0, built.output
    before = _ids(cluster)
    assert set(MADE) <= set(before)

    renamed = bench.up(program, config=_config(SECOND))

    assert _operations(renamed) == {"same"}
    assert {step.name for step in renamed.steps} >= {"a10g-node-pool", "nvidia-chart", "watching-rules"}
    assert _ids(cluster) == before


def _config(names: dict[str, list[str]]) -> dict[str, object]:
    return {"renaming:names": json.dumps(names)}


def _operations(result: Result) -> set[str]:
    assert result.returncode == 0, result.output
    return {step.operation for step in result.steps}


def _ids(cluster: Cluster) -> dict[str, str]:
    """Return the id of each object but those that Helm keeps its records in: an upgrade adds one."""
    found = inventory.beyond_bare(inventory.items(cluster.plane))
    return {str(item): item.uid for item in found if not item.name.startswith("sh.helm.release.")}
