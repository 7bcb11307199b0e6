from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import versions
from eks_gpu.gpu.device_plugin import DevicePlugin, DevicePluginArgs, chart_values
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.recording import Recording, record
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.sharing import Sharing, TimeSlicing
from tests.support.clusters import cluster

RELEASE = "kubernetes:helm.sh/v3:Release"
RUNTIME_CLASS = "kubernetes:node.k8s.io/v1:RuntimeClass"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
NAMESPACE = "kubernetes:core/v1:Namespace"
SLICED = Sharing(time_slicing=TimeSlicing(replicas=4))


def node_group(instance_type: str, **sharing: object) -> NodeGroup:
    return NodeGroup.model_validate({"instance_types": [instance_type], "count": 1, "sharing": sharing})


def install(sharing: Sharing | None = None, *, outputs: bool = False) -> Recording:
    def program() -> None:
        pool = k8s.core.v1.ConfigMap("pool")
        ready = k8s.core.v1.ConfigMap("ready")
        chosen = settings.DevicePlugin(kind="device_plugin", sharing=sharing or Sharing())
        args = DevicePluginArgs(settings=chosen, cluster=cluster(outputs=outputs, ready=(ready,)), after=[pool])
        DevicePlugin("gpu", args)

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_g01_the_plugin_comes_after_its_runtime_class_and_sharing_by_dependency(*, outputs: bool) -> None:
    recording = install(outputs=outputs)
    release = recording.one(RELEASE)
    assert recording.reaches(release, recording.one(RUNTIME_CLASS))
    assert recording.reaches(release, recording.named("gpu-sharing"))
    assert recording.reaches(release, recording.one(NAMESPACE))


def test_g01_the_edge_is_the_releases_own_and_not_its_parents() -> None:
    recording = install()
    assert recording.one(RUNTIME_CLASS).urn in recording.one(RELEASE).dependencies


def test_g01_the_runtime_class_is_the_one_that_the_plugin_names() -> None:
    recording = install()
    runtime_class = recording.one(RUNTIME_CLASS)
    assert runtime_class["metadata"]["name"] == recording.one(RELEASE)["values"]["runtimeClassName"] == "nvidia"
    assert runtime_class["handler"] == "nvidia"


def test_g06_the_plugin_comes_after_the_nodes_and_whatever_the_cluster_waits_for() -> None:
    recording = install()
    release = recording.one(RELEASE)
    assert recording.reaches(release, recording.named("pool"))
    assert recording.reaches(release, recording.named("ready"))


def test_g03_a_changed_configuration_changes_what_the_plugin_is_given() -> None:
    exclusive, sliced = install(), install(SLICED)
    before, after = (recording.one(RELEASE)["values"]["config"] for recording in (exclusive, sliced))
    assert before["name"] != after["name"]
    assert before["default"] == after["default"] == "default"
    assert after["name"] == sliced.named("gpu-sharing")["metadata"]["name"]
    assert "replicas: 4" in sliced.named("gpu-sharing")["data"][after["default"]]


def test_g03_a_changed_configuration_renames_nothing() -> None:
    assert [resource.urn for resource in install().resources] == [
        resource.urn for resource in install(SLICED).resources
    ]


def test_g03_the_plain_path_has_no_mig_and_fails_where_people_look() -> None:
    values = chart_values("sharing")
    assert values["migStrategy"] == "none"
    assert values["failOnInitError"] is True


def test_a_pod_sees_the_gpus_that_it_asked_for_and_the_plugin_sees_all() -> None:
    # Told of volume mounts, the chart gives the plugin SYS_ADMIN: _helpers.tpl, requiresCapSysAdmin. Without it the
    # toolkit of the node, set as user data sets it, would hide the GPUs from the plugin itself.
    assert chart_values("sharing")["deviceListStrategy"] == "volume-mounts"


def test_n05_the_plugin_reaches_every_gpu_pool() -> None:
    assert chart_values("sharing")["tolerations"] == [{"operator": "Exists"}]


def test_g02_the_plugin_leaves_out_nodes_whose_image_brings_one() -> None:
    affinity: Any = chart_values("sharing")["affinity"]
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    # Terms are alternatives, so all must stand in one.
    [term] = required["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]},
        {"key": "nvidia.com/gpu.deploy.device-plugin", "operator": "NotIn", "values": ["false"]},
    ]


def test_g03_what_needs_the_operator_is_refused_by_the_pools_name() -> None:
    pools = {
        "slices": node_group("p4d.24xlarge", mig={"profile": "all-1g.5gb"}),
        "limited": node_group("g5.xlarge", mps={"replicas": 2}),
        "turns": node_group("g5.xlarge", time_slicing={"replicas": 2}),
    }

    def program() -> None:
        chosen = settings.DevicePlugin(kind="device_plugin")
        DevicePlugin("gpu", DevicePluginArgs(settings=chosen, cluster=cluster(), pools=pools))

    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(program)
    message = str(refused.value)
    assert "pools.slices.sharing: sharing mig is not kept with kind device_plugin" in message
    assert "pools.limited.sharing: sharing mps does not start with kind device_plugin" in message
    assert "pools.turns" not in message


def test_every_value_is_one_that_the_chart_knows() -> None:
    # NVIDIA/k8s-device-plugin v0.20.0 deployments/helm/nvidia-device-plugin/values.yaml. Helm ignores a misspelt key.
    known = {
        "config.name",
        "config.default",
        "migStrategy",
        "failOnInitError",
        "deviceListStrategy",
        "runtimeClassName",
        "affinity",
        "tolerations",
        "gfd.enabled",
    }
    values = chart_values("sharing")
    nested = {"config", "gfd"}
    paths = {
        f"{key}.{inner}" if key in nested else key
        for key, value in values.items()
        for inner in (value if isinstance(value, dict) else [""])
    }
    assert paths == known


def test_g07_the_chart_is_the_one_of_the_facts() -> None:
    release = install().one(RELEASE)
    assert (release["chart"], release["version"]) == ("nvidia-device-plugin", versions.NVIDIA_DEVICE_PLUGIN.version)


def test_the_namespace_lets_node_agents_see_the_host_and_nothing_else_is_made_there() -> None:
    recording = install()
    namespace = recording.one(NAMESPACE)
    assert namespace["metadata"]["name"] == recording.one(RELEASE)["namespace"] == "nvidia"
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


def test_others_learn_what_to_depend_on_and_how_to_ask() -> None:
    seen: list[GpuSoftware] = []

    def program() -> None:
        chosen = settings.DevicePlugin(kind="device_plugin", sharing=SLICED)
        software = DevicePlugin("gpu", DevicePluginArgs(settings=chosen, cluster=cluster())).software
        k8s.core.v1.Pod("user", opts=pulumi.ResourceOptions(depends_on=list(software.ready)))
        seen.append(software)

    recording = record(program)
    [software] = seen
    user = recording.named("user")
    assert recording.reaches(user, recording.one(RELEASE))
    assert recording.reaches(user, recording.one(RUNTIME_CLASS))
    assert software.runtime_class_name == "nvidia"
    assert software.gpu_resource == "nvidia.com/gpu"
    assert software.shared
    assert not software.owns_exporter
    assert software.namespace == "nvidia"


def test_a_mirror_holds_the_chart() -> None:
    def program() -> None:
        chosen = settings.DevicePlugin(kind="device_plugin", chart_source="oci://mirror.example/charts")
        DevicePlugin("gpu", DevicePluginArgs(settings=chosen, cluster=cluster()))

    assert record(program).one(RELEASE)["chart"] == "oci://mirror.example/charts/nvidia-device-plugin"


def test_names_and_parents_are_stable() -> None:
    recording = install()
    component = recording.one("eks-gpu:index:DevicePlugin")
    assert {child.name for child in recording.children(component)} == {
        "gpu-namespace",
        "gpu-runtime-class",
        "gpu-sharing",
        "gpu-chart",
    }
