"""Charts and add-ons that run on every node: storage drivers, monitoring, logs, network, EKS's own agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.chart_defaults.daemon_set import (
    CONTROL_PLANE,
    CRITICAL,
    MASTER,
    ChartDaemons,
    DaemonSet,
    Path,
    Role,
    exists,
    requires,
    resources,
)
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import TOLERATE_EVERYTHING, Effect
from eks_gpu.facts.versions import EBS_CSI as EBS_CSI_ADD_ON
from eks_gpu.facts.versions import (
    EFA_DEVICE_PLUGIN,
    KUBE_PROMETHEUS_STACK,
    KUBERNETES_VERSIONS,
)
from eks_gpu.facts.versions import EFS_CSI as EFS_CSI_ADD_ON
from eks_gpu.facts.versions import KUBE_PROXY as KUBE_PROXY_ADD_ON
from eks_gpu.facts.versions import NODE_MONITORING_AGENT as MONITORING_AGENT_ADD_ON
from eks_gpu.facts.versions import POD_IDENTITY_AGENT as POD_IDENTITY_ADD_ON
from eks_gpu.facts.versions import VPC_CNI as VPC_CNI_ADD_ON

SOURCE = (
    "values.yaml and templates of aws/eks-charts @bfe91c4 (aws-efa-k8s-device-plugin, aws-for-fluent-bit), "
    "prometheus-community/helm-charts @0193199 (prometheus-node-exporter), kubernetes-sigs/aws-ebs-csi-driver "
    "@01db425, kubernetes-sigs/aws-efs-csi-driver @00a24b4, aws/eks-node-monitoring-agent v1.7.0, "
    "fluent/helm-charts @011820b, grafana/helm-charts @01708a3 (promtail); kube-proxy and "
    "eks-pod-identity-agent as their add-ons run"
)
CHECKED = "2026-11-21"

_NEWEST: Final = KUBERNETES_VERSIONS[-1]
_COMPUTE_TYPE: Final = (labels.EKS_AUTO_COMPUTE_TYPE, "NotIn")

DCGM_SERVER: Final = "dcgm-server"
"""The node monitoring agent's DaemonSet that asks the GPUs how they are; the agent asks it, and nothing else."""
DCGM_TOLERATIONS: Final = ("dcgmAgent", "tolerations")
DCGM_PORT: Final = 5555
"""The port of the host that DCGM's engine listens on, the agent's as well as the operator's."""


def _on_every_node(name: str, role: Role, prefix: Path = ()) -> DaemonSet:
    return DaemonSet(
        name=name,
        role=role,
        tolerations=((*prefix, "tolerations"),),
        selectors=((*prefix, "nodeSelector"),),
        affinity=(*prefix, "affinity"),
        resources=((*prefix, "resources"),),
    )


MONITORING_AGENT: Final = ChartDaemons(
    chart=MONITORING_AGENT_ADD_ON[_NEWEST].name,
    read_until=(1, 7),
    defaults={
        "nodeAgent": {
            "tolerations": [TOLERATE_EVERYTHING],
            "nodeSelector": {},
            "affinity": requires([(*_COMPUTE_TYPE, ["fargate", "auto", "hybrid"])]),
            "resources": resources("10m", "30Mi"),
        },
        "dcgmAgent": {
            "tolerations": [],
            "nodeSelector": {},
            "affinity": requires(
                [
                    (labels.INSTANCE_TYPE, "In", sorted(CATALOGUE)),
                    (*_COMPUTE_TYPE, ["fargate", "auto", "hybrid"]),
                    (labels.ARCH, "In", ["amd64"]),
                ]
            ),
            "resources": {},
        },
    },
    daemon_sets=(
        _on_every_node("eks-node-monitoring-agent", Role.NODE_AGENT, ("nodeAgent",)),
        _on_every_node(DCGM_SERVER, Role.DCGM, ("dcgmAgent",)),
    ),
)
"""Its list of GPU instance types is longer than the catalogue here and holds all of it."""

EBS_CSI: Final = ChartDaemons(
    chart=EBS_CSI_ADD_ON[_NEWEST].name,
    defaults={
        "node": {
            "tolerateAllTaints": True,
            "tolerations": [{"operator": "Exists", "effect": Effect.NO_EXECUTE.value}],
            "nodeSelector": {},
            "affinity": requires([(*_COMPUTE_TYPE, ["fargate"])]),
            "resources": resources("10m", "40Mi"),
        }
    },
    daemon_sets=(
        DaemonSet(
            name="ebs-csi-node",
            role=Role.STORAGE,
            tolerations=(("node", "tolerations"),),
            tolerates_all=("node", "tolerateAllTaints"),
            selectors=(("node", "nodeSelector"),),
            affinity=("node", "affinity"),
            resources=(("node", "resources"),) * 3,
        ),
    ),
)
"""Its sidecars request what the driver does."""

EFS_CSI: Final = ChartDaemons(
    chart=EFS_CSI_ADD_ON[_NEWEST].name,
    defaults={
        "node": {
            "tolerations": [TOLERATE_EVERYTHING],
            "nodeSelector": {},
            "affinity": requires([(*_COMPUTE_TYPE, ["fargate"])]),
            "resources": {},
        }
    },
    daemon_sets=(_on_every_node("efs-csi-node", Role.STORAGE, ("node",)),),
)

EFA_PLUGIN: Final = ChartDaemons(
    chart=EFA_DEVICE_PLUGIN.name,
    defaults={
        "tolerations": [],
        "nodeSelector": {},
        "resources": resources("10m", "20Mi"),
    },
    daemon_sets=(
        DaemonSet(
            name="aws-efa-k8s-device-plugin",
            role=Role.EFA_PLUGIN,
            tolerations=(("tolerations",),),
            always_tolerates=(CRITICAL,),
            selectors=(("nodeSelector",),),
            resources=(("resources",),),
        ),
    ),
)
"""It requires a list of instance types that grows with each version of the chart; that is not judged here."""

_NODE_EXPORTER_DEFAULTS: Final[dict[str, object]] = {
    "tolerations": [{"operator": "Exists", "effect": Effect.NO_SCHEDULE.value}],
    "nodeSelector": {labels.OS: "linux"},
    "affinity": {},
    "resources": {},
}
NODE_EXPORTERS: Final = (
    ChartDaemons(
        chart="prometheus-node-exporter",
        defaults=_NODE_EXPORTER_DEFAULTS,
        daemon_sets=(_on_every_node("prometheus-node-exporter", Role.NODE_EXPORTER),),
    ),
    *(
        ChartDaemons(
            chart=chart,
            defaults={
                switch[0]: {"enabled": True},
                "prometheus-node-exporter": {"enabled": True, **_NODE_EXPORTER_DEFAULTS},
            },
            daemon_sets=(
                DaemonSet(
                    name="prometheus-node-exporter",
                    role=Role.NODE_EXPORTER,
                    switches=((switch,),),
                    tolerations=(("prometheus-node-exporter", "tolerations"),),
                    selectors=(("prometheus-node-exporter", "nodeSelector"),),
                    affinity=("prometheus-node-exporter", "affinity"),
                    resources=(("prometheus-node-exporter", "resources"),),
                ),
            ),
        )
        for chart, switch in (
            (KUBE_PROMETHEUS_STACK.name, ("nodeExporter", "enabled")),
            ("prometheus", ("prometheus-node-exporter", "enabled")),
        )
    ),
)
"""By itself it tolerates every taint but those with the effect NoExecute."""

LOG_SHIPPERS: Final = (
    ChartDaemons(
        chart="fluent-bit",
        defaults={"tolerations": [], "nodeSelector": {}, "affinity": {}, "resources": {}},
        daemon_sets=(_on_every_node("fluent-bit", Role.LOGS),),
    ),
    ChartDaemons(
        chart="aws-for-fluent-bit",
        defaults={"tolerations": [], "nodeSelector": {}, "affinity": {}, "resources": resources("50m", "50Mi")},
        daemon_sets=(_on_every_node("aws-for-fluent-bit", Role.LOGS),),
    ),
    ChartDaemons(
        chart="promtail",
        defaults={
            "daemonset": {"enabled": True},
            "tolerations": [exists(MASTER), exists(CONTROL_PLANE)],
            "nodeSelector": {},
            "affinity": {},
            "resources": {},
        },
        daemon_sets=(replace(_on_every_node("promtail", Role.LOGS), switches=((("daemonset", "enabled"),),)),),
    ),
)
"""By themselves they tolerate nothing that a GPU pool is tainted with: the logs of its nodes go nowhere."""

_EKS_AGENTS: Final = (
    (VPC_CNI_ADD_ON[_NEWEST].name, "aws-node", ("25m", "25m")),
    (KUBE_PROXY_ADD_ON[_NEWEST].name, "kube-proxy", ("100m",)),
    (POD_IDENTITY_ADD_ON[_NEWEST].name, "eks-pod-identity-agent", ()),
)
"""Add-ons that every node runs whatever its taints, and the CPU that each container requests."""

EKS_AGENTS: Final = tuple(
    ChartDaemons(
        chart=chart,
        defaults={"requests": {str(n): {"requests": {"cpu": cpu}} for n, cpu in enumerate(cpus)}},
        daemon_sets=(
            DaemonSet(
                name=name,
                role=Role.NODE_AGENT,
                always_tolerates=(TOLERATE_EVERYTHING,),
                resources=tuple(("requests", str(n)) for n in range(len(cpus))),
            ),
        ),
    )
    for chart, name, cpus in _EKS_AGENTS
)

CHARTS: Final = (MONITORING_AGENT, EBS_CSI, EFS_CSI, EFA_PLUGIN, *NODE_EXPORTERS, *LOG_SHIPPERS, *EKS_AGENTS)
