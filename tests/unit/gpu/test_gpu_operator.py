from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import metrics, versions
from eks_gpu.gpu.gpu_operator import GpuOperator, GpuOperatorArgs, chart_values
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.recording import Recording, record
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.sharing import Sharing, TimeSlicing
from tests.support.clusters import cluster

RELEASE = "kubernetes:helm.sh/v3:Release"
RUNTIME_CLASS = "kubernetes:node.k8s.io/v1:RuntimeClass"
CLUSTER_POLICY = "kubernetes:nvidia.com/v1:ClusterPolicyPatch"
SLICED = Sharing(time_slicing=TimeSlicing(replicas=4, rename=True))


def install(sharing: Sharing | None = None, *, outputs: bool = False) -> Recording:
    def program() -> None:
        pool = k8s.core.v1.ConfigMap("pool")
        ready = k8s.core.v1.ConfigMap("ready")
        chosen = settings.Operator(kind="operator", sharing=sharing or Sharing())
        args = GpuOperatorArgs(settings=chosen, cluster=cluster(outputs=outputs, ready=(ready,)), after=[pool])
        GpuOperator("gpu", args)

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_g01_the_operator_owns_the_runtime_class_so_none_is_made(*, outputs: bool) -> None:
    recording = install(outputs=outputs)
    assert recording.of_type(RUNTIME_CLASS) == ()
    assert recording.one(RELEASE)["values"]["operator"]["runtimeClass"] == "nvidia"


def test_g02_driver_and_toolkit_are_the_images_business() -> None:
    values = install().one(RELEASE)["values"]
    assert values["driver"] == {"enabled": False}
    assert values["toolkit"] == {"enabled": False}


def test_g02_everything_else_is_the_operators() -> None:
    values = install().one(RELEASE)["values"]
    for operand in ("devicePlugin", "dcgmExporter", "gfd", "nfd", "migManager"):
        assert values[operand]["enabled"] is True
    assert values["dcgm"] == {"enabled": False}


def test_g02_crds_are_upgraded_by_the_charts_hook_and_never_removed() -> None:
    release = install().one(RELEASE)
    assert release["values"]["operator"]["upgradeCRD"] is True
    assert release["values"]["operator"]["cleanupCRD"] is False
    assert release["disableOpenapiValidation"] is True
    assert release["skipCrds"] is False


def test_g02_the_cluster_policy_is_awaited_after_the_release() -> None:
    recording = install()
    policy = recording.one(CLUSTER_POLICY)
    assert policy["apiVersion"] == "nvidia.com/v1"
    assert policy["metadata"] == {
        "name": "cluster-policy",
        "annotations": {"pulumi.com/waitFor": "jsonpath={.status.state}=ready"},
    }
    assert policy.options.custom_timeouts["create"] == "1800s"
    assert recording.one(RELEASE).urn in policy.dependencies


def test_g03_sharing_and_counters_come_before_the_operator_by_dependency() -> None:
    recording = install(SLICED)
    release = recording.one(RELEASE)
    for name in ("gpu-sharing", "gpu-metrics"):
        assert recording.named(name).urn in release.dependencies
    config = release["values"]["devicePlugin"]["config"]
    assert config == {
        "create": False,
        "name": recording.named("gpu-sharing")["metadata"]["name"],
        "default": "default",
    }


def test_g03_a_changed_configuration_rolls_the_plugin_and_renames_nothing() -> None:
    exclusive, sliced = install(), install(SLICED)
    names = {recording.one(RELEASE)["values"]["devicePlugin"]["config"]["name"] for recording in (exclusive, sliced)}
    assert len(names) == 2
    assert [resource.urn for resource in exclusive.resources] == [resource.urn for resource in sliced.resources]


def test_m07_the_exporter_exports_the_one_list_of_metrics() -> None:
    recording = install()
    counters = recording.named("gpu-metrics")
    assert counters["data"] == {"dcgm-metrics.csv": metrics.counter_file()}
    exporter = recording.one(RELEASE)["values"]["dcgmExporter"]
    assert exporter["config"] == {"create": False, "name": counters["metadata"]["name"]}


def test_m07_the_exporter_is_scraped_once_by_the_monitor_of_monitoring() -> None:
    assert install().one(RELEASE)["values"]["dcgmExporter"]["serviceMonitor"] == {"enabled": False}


def test_n05_operands_and_feature_discovery_reach_every_pool() -> None:
    values = install().one(RELEASE)["values"]
    everything = [{"operator": "Exists"}]
    assert values["daemonsets"]["tolerations"] == everything
    assert values["node-feature-discovery"]["worker"]["tolerations"] == everything


def partitioned(**mig: object) -> NodeGroup:
    choices = {"instance_types": ["p4d.24xlarge"], "count": 1, "sharing": {"mig": mig}}
    return NodeGroup.model_validate(choices)


def with_pools(**pools: GpuPool) -> Recording:
    def program() -> None:
        chosen = settings.Operator(kind="operator")
        GpuOperator("gpu", GpuOperatorArgs(settings=chosen, cluster=cluster(), pools=pools))

    return record(program)


def test_g05_layouts_are_there_before_the_manager_that_applies_them_at_each_boot() -> None:
    recording = with_pools(slices=partitioned(profile="all-1g.5gb"))
    release, layouts = recording.one(RELEASE), recording.named("gpu-mig-layouts")
    assert layouts.urn in release.dependencies
    assert layouts["immutable"] is True
    assert release["values"]["migManager"]["config"] == {
        "create": False,
        "name": layouts["metadata"]["name"],
        "default": "all-disabled",
    }
    assert "all-1g.5gb" in layouts["data"]["config.yaml"]


def test_g05_another_layout_rolls_the_manager() -> None:
    before, after = (
        with_pools(slices=partitioned(profile=f"all-{profile}")).one(RELEASE)["values"]["migManager"]["config"]["name"]
        for profile in ("1g.5gb", "3g.20gb")
    )
    assert before != after


@pytest.mark.parametrize("strategy", ["single", "mixed"])
def test_g04_the_strategy_of_the_partitioned_pools_is_the_operators(strategy: str) -> None:
    recording = with_pools(slices=partitioned(profile="all-1g.5gb", strategy=strategy))
    assert recording.one(RELEASE)["values"]["mig"] == {"strategy": strategy}


def test_g04_pools_that_one_operator_cannot_serve_are_refused() -> None:
    one, other = partitioned(profile="all-1g.5gb"), partitioned(profile="all-2g.10gb", strategy="single")
    with pytest.raises(pulumi.InputPropertiesError, match="give the same strategy"):
        with_pools(one=one, other=other)


def test_g05_a_node_whose_gpu_cannot_be_reset_reboots() -> None:
    assert install().one(RELEASE)["values"]["migManager"]["env"] == [{"name": "WITH_REBOOT", "value": "true"}]


def test_a_pods_gpus_are_named_to_containerd_and_not_by_an_environment_variable() -> None:
    assert install().one(RELEASE)["values"]["cdi"] == {"enabled": True}


def test_every_block_of_values_is_one_that_the_chart_knows() -> None:
    # NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml. Helm ignores a misspelt key.
    assert set(chart_values("sharing", "counters")) <= {
        "operator",
        "driver",
        "toolkit",
        "devicePlugin",
        "nfd",
        "gfd",
        "dcgm",
        "dcgmExporter",
        "migManager",
        "daemonsets",
        "node-feature-discovery",
        "mig",
        "cdi",
    }


def test_g06_the_operator_comes_after_the_nodes_and_whatever_the_cluster_waits_for() -> None:
    recording = install()
    release = recording.one(RELEASE)
    assert recording.reaches(release, recording.named("pool"))
    assert recording.reaches(release, recording.named("ready"))


def test_g07_the_chart_is_the_one_of_the_facts() -> None:
    release = install().one(RELEASE)
    assert (release["chart"], release["version"]) == ("gpu-operator", versions.GPU_OPERATOR.version)


def test_others_learn_what_to_depend_on_and_how_to_ask() -> None:
    seen: list[GpuSoftware] = []

    def program() -> None:
        chosen = settings.Operator(kind="operator", sharing=SLICED)
        software = GpuOperator("gpu", GpuOperatorArgs(settings=chosen, cluster=cluster())).software
        k8s.core.v1.Pod("user", opts=pulumi.ResourceOptions(depends_on=list(software.ready)))
        seen.append(software)

    recording = record(program)
    [software] = seen
    assert recording.reaches(recording.named("user"), recording.one(CLUSTER_POLICY))
    assert software.runtime_class_name is None
    assert software.gpu_resource == "nvidia.com/gpu.shared"
    assert software.owns_exporter
    assert software.namespace == "gpu-operator"


def test_names_and_parents_are_stable() -> None:
    recording = install()
    component = recording.one("eks-gpu:index:GpuOperator")
    assert {child.name for child in recording.children(component)} == {
        "gpu-namespace",
        "gpu-sharing",
        "gpu-metrics",
        "gpu-chart",
        "gpu-ready",
    }
