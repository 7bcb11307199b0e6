from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import versions
from eks_gpu.gpu.efa_device_plugin import chart_values
from eks_gpu.gpu.installation import install_gpu_software
from eks_gpu.recording import record
from eks_gpu.settings.gpu_software import DevicePlugin, Operator
from eks_gpu.settings.node_pool import NodePool
from tests.support.clusters import cluster


@pytest.mark.parametrize(
    ("chosen", "component", "chart"),
    [
        (Operator(kind="operator"), "eks-gpu:index:GpuOperator", "gpu-operator"),
        (DevicePlugin(kind="device_plugin"), "eks-gpu:index:DevicePlugin", "nvidia-device-plugin"),
    ],
)
def test_g02_there_is_exactly_one_owner_whatever_is_chosen(
    chosen: Operator | DevicePlugin, component: str, chart: str
) -> None:
    recording = record(lambda: install_gpu_software("gpu", chosen, cluster()))
    assert recording.one(component).name == "gpu"
    assert recording.one("kubernetes:helm.sh/v3:Release")["chart"] == chart


def pool(**choices: object) -> NodePool:
    wanted = {"instance_types": ["p4d.24xlarge"], "max_gpus": 16, "purpose": "training"}
    return NodePool.model_validate({**wanted, **choices})


@pytest.mark.parametrize("chosen", [Operator(kind="operator"), DevicePlugin(kind="device_plugin")])
def test_g09_adapters_come_with_the_plugin_that_makes_them_known(chosen: Operator | DevicePlugin) -> None:
    def program() -> None:
        software = install_gpu_software("gpu", chosen, cluster(), pools={"p4d": pool(efa=True), "other": pool()})
        k8s.core.v1.Pod("job", opts=pulumi.ResourceOptions(depends_on=list(software.ready)))

    recording = record(program)
    release = recording.named("gpu-efa-chart")
    assert (release["chart"], release["version"]) == ("aws-efa-k8s-device-plugin", versions.EFA_DEVICE_PLUGIN.version)
    assert release["name"] == "aws-efa-k8s-device-plugin"
    assert recording.reaches(recording.named("job"), release)
    assert recording.reaches(release, recording.named("gpu-namespace"))


def test_g09_without_adapters_nobody_installs_their_plugin() -> None:
    recording = record(lambda: install_gpu_software("gpu", Operator(kind="operator"), cluster(), pools={"p4d": pool()}))
    assert recording.of_type("eks-gpu:index:EfaDevicePlugin") == ()


def test_g09_the_plugin_reaches_the_pools_nodes_whatever_their_taints_and_pulls_from_their_region() -> None:
    values = chart_values(["p4d.24xlarge"], ["eu-west-1a"])
    assert values["tolerations"] == [{"operator": "Exists"}]
    assert values["supportedInstanceLabels"] == {
        "keys": ["node.kubernetes.io/instance-type"],
        "values": ["p4d.24xlarge"],
    }
    # Other pools of the same type have no adapters.
    assert values["nodeSelector"].items() <= pool(efa=True).node_labels.items()
    assert not values["nodeSelector"].items() <= pool().node_labels.items()
    assert values["image"]["repository"] == (
        "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/aws-efa-k8s-device-plugin"
    )


def test_a_region_whose_registry_is_not_known_keeps_the_charts_image() -> None:
    assert "image" not in chart_values(["p4d.24xlarge"], ["af-south-1a"])
