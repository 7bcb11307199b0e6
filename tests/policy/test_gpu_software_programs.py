"""GPU software as others install it: whole programs, judged by the rules on software and repair together.

They are shaped after the EKS user guide, NVIDIA's install pages, EKS blueprints and the ai-on-eks and data-on-eks
collections; none of it uses our components, labels or annotations.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY

IDS = ("SOFT001", "SOFT002", "SOFT003", "SOFT004", "SOFT005", "SOFT006", "SOFT007", "OBS005")
GPU_TOLERATION = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


def report_on(*resources: Resource) -> Report:
    rules = tuple(BY_ID[each] for each in IDS)
    return evaluate(resources, environment=Environment.PROD, rules=rules, today=TODAY)


def cluster(version: str = "1.34") -> Resource:
    return examples.resource("aws:eks/cluster:Cluster", "ai", {"version": version})


def group(name: str = "gpu", **props: object) -> Resource:
    own = {
        "instanceTypes": ["g5.8xlarge"],
        "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
        "labels": {"nvidia.com/gpu.present": "true"},
    }
    return examples.node_group(None, name, None, **{**own, **props})


def system() -> Resource:
    return group("core", instanceTypes=["m7i.xlarge"], taints=[], labels={}, amiType="AL2023_x86_64_STANDARD")


def release(chart: str, version: str, *after: Resource, **values: object) -> Resource:
    return examples.release(chart, chart, version, after=after, timeout=1200, values=values)


def add_on(name: str, version: str, configuration: object = None) -> Resource:
    given = {} if configuration is None else {"configurationValues": json.dumps(configuration)}
    return examples.resource("aws:eks/addon:Addon", name, {"addonName": name, "addonVersion": version, **given})


def daemon_set(name: str, image: str, **pod: object) -> Resource:
    spec = {"containers": [{"name": name, "image": image}], **pod}
    return examples.resource(tokens.DAEMON_SET, name, {"spec": {"template": {"metadata": {}, "spec": spec}}})


OFF = {"enabled": False}
CORE = system()
ADD_ONS = (
    add_on("vpc-cni", "v1.20.4-eksbuild.2"),
    add_on("kube-proxy", "v1.34.0-eksbuild.4"),
    add_on("eks-pod-identity-agent", "v1.3.9-eksbuild.3"),
    add_on("aws-ebs-csi-driver", "v1.50.1-eksbuild.1"),
)

SOUND: dict[str, Sequence[Resource]] = {
    "the plugin on a tainted group whose nodes carry its label": (
        cluster(),
        CORE,
        group(),
        *ADD_ONS,
        release("nvidia-device-plugin", "0.17.4", CORE),
    ),
    "the plugin with GPU feature discovery that tolerates any value": (
        cluster("1.33"),
        CORE,
        group(labels={}),
        release(
            "nvidia-device-plugin",
            "0.18.0",
            CORE,
            gfd={"enabled": True},
            nfd={"worker": {"tolerations": GPU_TOLERATION}},
        ),
    ),
    "the operator on AL2023 with driver and toolkit off": (
        cluster(),
        CORE,
        group(labels={}),
        release("gpu-operator", "v25.10.1", CORE, driver=OFF, toolkit=OFF, mig={"strategy": "single"}),
    ),
    "the operator for MIG on a p4d with everything that guide sets": (
        cluster(),
        CORE,
        group(labels={"nvidia.com/mig.config": "all-balanced"}, instanceTypes=["p4d.24xlarge"]),
        release(
            "gpu-operator",
            "v26.7.0",
            CORE,
            driver=OFF,
            toolkit=OFF,
            mig={"strategy": "mixed"},
            migManager={"env": [{"name": "WITH_REBOOT", "value": "true"}]},
        ),
    ),
    "Karpenter's pools, the plugin by selector, an exporter that tolerates them": (
        cluster(),
        CORE,
        release("karpenter", "1.8.6", CORE),
        examples.node_class(),
        examples.node_pool(),
        release("nvidia-device-plugin", "0.17.4", CORE, nodeSelector={"accelerator": "nvidia"}),
        release("dcgm-exporter", "4.5.2", CORE, tolerations=GPU_TOLERATION, nodeSelector={"accelerator": "nvidia"}),
    ),
    "monitoring, logs and storage that know of the taint": (
        cluster(),
        CORE,
        group(),
        *ADD_ONS,
        release("nvidia-device-plugin", "0.17.4", CORE),
        release("kube-prometheus-stack", "75.15.1", CORE),
        release("aws-for-fluent-bit", "0.1.35", CORE, tolerations=[{"operator": "Exists"}]),
        add_on("aws-efs-csi-driver", "v2.1.13-eksbuild.1"),
        add_on(
            "eks-node-monitoring-agent", "v1.4.1-eksbuild.1", {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
        ),
    ),
    "manifests: the plugin's DaemonSet and somebody's own agent": (
        cluster(),
        CORE,
        group(),
        daemon_set(
            "nvidia-device-plugin-daemonset", "nvcr.io/nvidia/k8s-device-plugin:v0.17.1", tolerations=GPU_TOLERATION
        ),
        daemon_set("node-tuner", "registry.example/tuner:2.1", nodeSelector={"role": "core"}),
    ),
    "Bottlerocket with nothing installed but the exporter": (
        cluster(),
        CORE,
        group(amiType="BOTTLEROCKET_x86_64_NVIDIA", releaseVersion="1.50.0-16a2dd1b"),
        release("dcgm-exporter", "4.5.2", CORE, tolerations=GPU_TOLERATION),
    ),
    "the DRA driver in the place of the plugin": (
        cluster(),
        CORE,
        group(),
        release("nvidia-dra-driver-gpu", "25.8.0", CORE, kubeletPlugin={"tolerations": GPU_TOLERATION}),
    ),
    "the plugin on whole GPUs, the operator on slices": (
        cluster(),
        CORE,
        group("whole", labels={"nvidia.com/gpu.present": "true", "nvidia.com/gpu.deploy.operands": "false"}),
        group(
            "slices",
            labels={"nvidia.com/gpu.present": "true", "nvidia.com/mig.config": "all-1g.5gb"},
            instanceTypes=["p4d.24xlarge"],
        ),
        release("gpu-operator", "v25.10.1", CORE, driver=OFF, toolkit=OFF),
        release(
            "nvidia-device-plugin",
            "0.17.4",
            CORE,
            nodeSelector={"nvidia.com/gpu.deploy.operands": "false"},
        ),
    ),
    "a cluster of CPUs with all the usual agents": (
        cluster(),
        CORE,
        *ADD_ONS,
        release("kube-prometheus-stack", "75.15.1", CORE),
        release("fluent-bit", "0.50.0", CORE),
        add_on("eks-node-monitoring-agent", "v1.4.1-eksbuild.1"),
    ),
}


@pytest.mark.parametrize("program", SOUND.values(), ids=SOUND.keys())
def test_what_is_right_passes_without_a_word(program: Sequence[Resource]) -> None:
    report = report_on(*program)
    assert list(report.lines())[:-1] == []
    assert report.not_evaluated == ()


WRONG: dict[str, tuple[Sequence[Resource], set[tuple[str, str]]]] = {
    "the operator with its defaults on an NVIDIA image": (
        (cluster(), CORE, group(), release("gpu-operator", "v25.10.1", CORE)),
        {("SOFT003", "gpu")},
    ),
    "the plugin beside the operator": (
        (
            cluster(),
            CORE,
            group(),
            release("gpu-operator", "v25.10.1", CORE, driver=OFF, toolkit=OFF),
            release("nvidia-device-plugin", "0.17.4", CORE),
        ),
        {("SOFT002", "gpu")},
    ),
    "discovery bound to one value of the taint": (
        (cluster(), CORE, group(labels={}), release("nvidia-device-plugin", "0.17.4", CORE, gfd={"enabled": True})),
        {("SOFT004", "gpu")},
    ),
    "a team's own taint that no operand tolerates": (
        (
            cluster(),
            CORE,
            group(taints=[{"key": "dedicated", "value": "ml", "effect": "NO_SCHEDULE"}]),
            release("gpu-operator", "v25.10.1", CORE, driver=OFF, toolkit=OFF),
        ),
        {("SOFT004", "gpu")},
    ),
    "a plugin that nobody waits for and nothing orders": (
        (
            cluster(),
            CORE,
            group(),
            examples.release("plugin", "nvidia-device-plugin", "0.17.4", skipAwait=True),
        ),
        {("SOFT007", "plugin")},
    ),
    "repair with an agent that sees no GPU": (
        (
            cluster(),
            CORE,
            group(nodeRepairConfig={"enabled": True}),
            release("nvidia-device-plugin", "0.17.4", CORE),
            add_on("eks-node-monitoring-agent", "v1.4.1-eksbuild.1"),
        ),
        {("OBS005", "gpu")},
    ),
    "an old cluster with an old scaler and a broken plugin": (
        (
            cluster("1.34"),
            CORE,
            release("karpenter", "1.5.0", CORE),
            release("nvidia-device-plugin", "0.19.1", CORE),
            group(),
        ),
        {("SOFT006", "karpenter"), ("SOFT006", "nvidia-device-plugin")},
    ),
}


@pytest.mark.parametrize(("program", "refused"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_refused_for_its_reason(program: Sequence[Resource], refused: set[tuple[str, str]]) -> None:
    report = report_on(*program)
    assert {(finding.rule, finding.resource) for finding in report.findings} == refused
