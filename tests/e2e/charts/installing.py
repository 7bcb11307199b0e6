"""The releases that our components make, installed by themselves: charts, namespaces and values as the components'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypedDict

from eks_gpu.facts import ami, gpu_software, labels, namespaces, taints, versions
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.gpu import device_plugin, efa_device_plugin, gpu_operator
from eks_gpu.gpu.sharing import mig_strategy
from eks_gpu.nodes import karpenter
from eks_gpu.observability import exporter, prometheus
from eks_gpu.settings.monitoring import BundledPrometheus
from eks_gpu.settings.node_group import NodeGroup
from sandbox.kubernetes import nodes
from sandbox.kubernetes.api import connect
from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet
from tests.support.cluster import eventually
from tests.support.cluster_bench import ClusterBench
from tests.support.engine import Result

Release = Mapping[str, Any]
Manifest = dict[str, Any]

WATCHED: Final = {"grafana_admin_secret": "grafana-admin", "alertmanager_config_secret": "alertmanager-config"}
"""More than the local stack has: with Grafana, and with an Alertmanager that is told where to send alerts."""

PARTITIONED: Final = NodeGroup.model_validate(
    {
        "instance_types": ["p4d.24xlarge"],
        "count": 1,
        "efa": True,
        "sharing": {"mig": {"profile": "all-1g.5gb"}},
    }
)
"""A group with adapters, whose GPUs the operator's MIG manager partitions."""

SHARING: Final = "sharing"
LAYOUTS: Final = "layouts"
COUNTERS: Final = "counters"

PLAIN: Final[Sequence[Release]] = (
    {"chart": versions.KARPENTER_CRD.name, "namespace": namespaces.KARPENTER, "values": {}},
    {
        "chart": versions.KARPENTER.name,
        "namespace": namespaces.KARPENTER,
        "values": karpenter.chart_values(cluster_name="here", queue_name="interruptions", region="us-east-1"),
        "skip_crds": True,
    },
    {
        "chart": versions.KUBE_PROMETHEUS_STACK.name,
        "namespace": namespaces.MONITORING,
        "values": prometheus.chart_values(BundledPrometheus.model_validate(WATCHED)),
    },
    {
        "chart": versions.NVIDIA_DEVICE_PLUGIN.name,
        "namespace": namespaces.NVIDIA,
        "values": device_plugin.chart_values(SHARING),
    },
    {
        "chart": versions.DCGM_EXPORTER.name,
        "namespace": namespaces.NVIDIA,
        "values": exporter.chart_values(gpu_software.RUNTIME_CLASS),
    },
    {
        "chart": versions.EFA_DEVICE_PLUGIN.name,
        "namespace": namespaces.NVIDIA,
        "values": efa_device_plugin.chart_values(PARTITIONED.instance_types, ["us-east-1a"]),
    },
)
"""What a stack without the GPU Operator installs."""

OPERATOR: Final[Sequence[Release]] = (
    {
        "chart": versions.GPU_OPERATOR.name,
        "namespace": namespaces.GPU_OPERATOR,
        "values": gpu_operator.chart_values(
            SHARING, COUNTERS, mig_layouts=LAYOUTS, mig_strategy=mig_strategy([PARTITIONED])
        ),
    },
)
"""What stands in its place for the GPUs where the GPU Operator owns them."""

MISSPELT: Final[Release] = {
    "chart": versions.NVIDIA_DEVICE_PLUGIN.name,
    "namespace": namespaces.NVIDIA,
    "values": {"tolerationz": [taints.TOLERATE_EVERYTHING]},
}
UNKNOWN_VERSION: Final = "9.9.9"
ELSEWHERE: Final = "https://charts.example.com/stable"
KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "StatefulSet"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("v1", "Node"),
    ("v1", "Pod"),
    ("v1", "Secret"),
)

_SUBNETS = (Subnet("us-east-1a", "10.0.0.0/20"), Subnet("us-east-1b", "10.0.16.0/20"))


@dataclass(frozen=True)
class Seen:
    """What was in the cluster at one moment, by kind."""

    objects: Mapping[str, Sequence[Manifest]]

    def named(self, kind: str, name: str) -> Manifest:
        """Return the one object of that name."""
        found = [each for each in self.objects[kind] if each["metadata"]["name"] == name]
        assert len(found) == 1, f"{kind} {name}: there are {[each['metadata']['name'] for each in self.objects[kind]]}"
        return found[0]

    def pods_of(self, name: str) -> list[Manifest]:
        """Return the pods whose names begin with that of their workload."""
        return [pod for pod in self.objects["Pod"] if pod["metadata"]["name"].startswith(f"{name}-")]

    def gpu_nodes(self) -> set[str]:
        """Return the names of the nodes that have GPUs."""
        nodes = self.objects["Node"]
        return {node["metadata"]["name"] for node in nodes if labels.GPU_PRESENT in node["metadata"]["labels"]}


@dataclass(frozen=True)
class Story:
    """What was tried, and what came of it."""

    unknown: Mapping[str, Result]
    """Previews of a version that does not exist, by the chart's name."""
    elsewhere: Result
    misspelt: Result
    up: Result
    plain: Seen
    """What was there then."""
    switched: Result
    operator: Seen
    """What was there when the GPU Operator had taken the place of everything else."""
    again: Result
    refresh: Result
    destroyed: Result
    left: Sequence[str]
    """What a bare cluster does not have, after all was destroyed."""
    asked: str
    """The log of the chart mirror."""


def tell(bench: ClusterBench) -> Story:
    """Try everything once, in a row."""
    installer = Installer(bench)
    device_plugin_only = PLAIN[3]
    return Story(
        unknown={
            release["chart"]: installer.run("preview", [{**release, "version": UNKNOWN_VERSION}])
            for release in (PLAIN[0], device_plugin_only)
        },
        elsewhere=installer.run("preview", [{**device_plugin_only, "source": ELSEWHERE}]),
        misspelt=installer.run("up", [MISSPELT]),
        **installer.live(),
        asked=(bench.cluster.checkout.logs / "charts.log").read_text(encoding="utf-8"),
    )


class Living(TypedDict):
    """The part of the story in which charts are installed."""

    up: Result
    plain: Seen
    switched: Result
    operator: Seen
    again: Result
    refresh: Result
    destroyed: Result
    left: Sequence[str]


class Installer:
    """Runs the program that installs releases, on a cluster that has two plain nodes and two tainted GPU nodes."""

    def __init__(self, bench: ClusterBench) -> None:
        self._bench = bench
        self._plane = bench.cluster.plane
        self._program = bench.program(Path(__file__).with_name("program.py").read_text(encoding="utf-8"), name="charts")

    def live(self) -> Living:
        """Install and remove everything, on a cluster that has nodes meanwhile."""
        whole, partitioned = {labels.GPU_PRESENT: "true"}, PARTITIONED.node_labels
        groups = (
            _group("system", "m7i.xlarge", 2),
            _group("gpu", "g5.xlarge", 1, gpu=whole),
            _group("slices", PARTITIONED.instance_types[0], PARTITIONED.count, gpu=partitioned),
        )
        for group in groups:
            nodes.apply(self._plane, group)
        up = self.run("up", PLAIN)
        assert up.returncode == 0, up.output
        plain = self._look()
        switched = self.run("up", OPERATOR)
        assert switched.returncode == 0, switched.output
        operator = self._look(wait_for_policy=True)
        # The local stack proves the same of the other charts.
        again, refresh = self.run("up", OPERATOR), self.run("refresh", OPERATOR)
        destroyed = self.run("destroy", OPERATOR)
        for group in groups:
            nodes.leave(self._plane, group.cluster, group.name)
        return Living(
            up=up,
            plain=plain,
            switched=switched,
            operator=operator,
            again=again,
            refresh=refresh,
            destroyed=destroyed,
            left=self._bench.cluster.contents(),
        )

    def _look(self, *, wait_for_policy: bool = False) -> Seen:
        kinds = KINDS
        with connect(self._plane) as api:
            if wait_for_policy:
                kinds = (*KINDS, (gpu_software.CLUSTER_POLICY_API, gpu_software.CLUSTER_POLICY_KIND))
                eventually(
                    lambda: api.list(*kinds[-1])[0].get("status", {}).get("state") == "ready", "a ready ClusterPolicy"
                )
            return Seen({kind: api.list(version, kind) for version, kind in kinds})

    def run(self, verb: str, releases: Sequence[Release]) -> Result:
        """Run ``pulumi <verb>`` on the stack with these releases."""
        own = {release["namespace"] for release in releases} - {namespaces.KUBE_SYSTEM}
        # The operator brings the RuntimeClass itself.
        runtime_class = any(release["chart"] == versions.NVIDIA_DEVICE_PLUGIN.name for release in releases)
        config = {
            "charts:releases": list(releases),
            "charts:namespaces": sorted(own),
            "charts:runtime_class": runtime_class,
        }
        confirmed = [] if verb == "preview" else ["--yes", "--skip-preview"]
        return self._bench.run(verb, self._program, "dev", options=confirmed, config=config)


def _group(
    name: str, instance_type: str, size: int, *, gpu: Mapping[str, str] = MappingProxyType({})
) -> NodeGroupShape:
    """Return a group; ``gpu`` are the labels of one with GPUs."""
    return NodeGroupShape(
        cluster="here",
        name=name,
        region="us-east-1",
        subnets=_SUBNETS,
        instance_types=(instance_type,),
        size=size,
        ami_type=ami.ami_type(AmiFamily.AL2023, "amd64", nvidia=bool(gpu)).name,
        labels=dict(gpu),
        taints=(taints.GPU.eks(),) if gpu else (),
    )
