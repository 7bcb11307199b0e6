"""SOFT004: every GPU DaemonSet reaches every GPU pool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.taints import GPU, Effect, Taint
from eks_gpu.facts.versions import (
    DCGM_EXPORTER,
    EFA_DEVICE_PLUGIN,
    GPU_OPERATOR,
    KUBE_PROMETHEUS_STACK,
    NVIDIA_DEVICE_PLUGIN,
)
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

RULE = "SOFT004"
PRESENT = {labels.GPU_PRESENT: "true"}
ANOTHER_VALUE = Taint(GPU.key, "true", Effect.NO_SCHEDULE)
DEDICATED = Taint("team", "research", Effect.NO_SCHEDULE)
ANY_GPU_TAINT = [{"key": GPU.key, "operator": "Exists", "effect": "NoSchedule"}]
EVERYTHING = [{"operator": "Exists"}]


def cluster(version: object = "1.34") -> Resource:
    return examples.resource("aws:eks/cluster:Cluster", "ml", {"version": version})


def pool(*taints: Taint, carries: Mapping[str, str] = PRESENT, **props: object) -> Resource:
    return examples.node_group(None, "gpu", labels=dict(carries), taints=[taint.eks() for taint in taints], **props)


def chart(name: str, version: str | None = None, **values: object) -> Resource:
    return examples.release(name, name, version, values=values)


def plugin(**values: object) -> Resource:
    return chart(NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, **values)


def operator(**values: object) -> Resource:
    off = {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
    return chart(GPU_OPERATOR.name, GPU_OPERATOR.version, **{**off, **values})


def daemon_set(name: str, image: str, **spec: object) -> Resource:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": name, "image": image}], **spec}}
    return examples.resource(tokens.DAEMON_SET, name, {"metadata": {"name": name}, "spec": {"template": template}})


# --- the worked example ----------------------------------------------------------------------------------------------


def test_n05_the_plugins_discovery_tolerates_one_value_of_the_taint_only() -> None:
    told = complaint(judge(RULE, cluster(), plugin(gfd={"enabled": True}), pool(ANOTHER_VALUE, carries={})))
    assert told == (
        "node-feature-discovery-worker of nvidia-device-plugin never reaches gpu, because it does not tolerate the "
        "taint nvidia.com/gpu=true:NoSchedule, and without its labels nvidia-device-plugin, "
        "gpu-feature-discovery stay away as well: no GPU of it is ever offered to a pod"
    )


def test_n05_with_the_value_present_it_comes_and_the_plugin_after_it() -> None:
    assert passes(judge(RULE, cluster(), plugin(gfd={"enabled": True}), pool(GPU, carries={})))


def test_n05_discovery_that_tolerates_every_value_comes_as_well() -> None:
    tolerant = {"worker": {"tolerations": ANY_GPU_TAINT}}
    assert passes(judge(RULE, cluster(), plugin(gfd={"enabled": True}, nfd=tolerant), pool(ANOTHER_VALUE, carries={})))


def test_n05_the_remedy_says_which_toleration_to_add_and_where() -> None:
    (finding,) = judge(RULE, cluster(), plugin(gfd={"enabled": True}), pool(ANOTHER_VALUE, carries={})).findings
    assert finding.fix == f"add {json.dumps(ANY_GPU_TAINT)} to values.nfd.worker.tolerations of nvidia-device-plugin"


# --- labels ----------------------------------------------------------------------------------------------------------


def test_g02_without_label_and_discovery_the_plugin_has_no_pods() -> None:
    told = complaint(judge(RULE, cluster("1.34"), plugin(), pool(GPU, carries={})))
    assert "it requires feature.node.kubernetes.io/pci-10de.present=true or" in told
    assert "nvidia.com/gpu.present=true, which no node there has: no GPU of it is ever offered to a pod" in told


@pytest.mark.parametrize("version", ["1.35", "1.36"])
def test_g02_from_1_35_on_nodes_label_themselves(version: str) -> None:
    assert passes(judge(RULE, cluster(version), plugin(), pool(GPU, carries={})))


def test_g02_bottlerocket_does_not_label_itself_but_brings_its_plugin() -> None:
    assert passes(judge(RULE, cluster("1.35"), plugin(), pool(GPU, carries={}, amiType="BOTTLEROCKET_x86_64_NVIDIA")))


def test_g02_a_cluster_elsewhere_may_have_discovery_or_label_its_nodes() -> None:
    assert left_open(judge(RULE, plugin(), pool(GPU, carries={})))
    assert left_open(judge(RULE, cluster(UNKNOWN), plugin(), pool(GPU, carries={}))) == ["version"]


def test_g02_discovery_of_its_own_chart_names_devices_otherwise_than_the_plugin_looks_for_them() -> None:
    discovery = chart("node-feature-discovery", worker={"tolerations": EVERYTHING})
    assert "which no node there has" in complaint(judge(RULE, cluster(), discovery, plugin(), pool(GPU, carries={})))
    by_vendor = {"sources": {"pci": {"deviceLabelFields": ["vendor"]}}}
    fitting = chart("node-feature-discovery", worker={"tolerations": EVERYTHING, "config": by_vendor})
    assert passes(judge(RULE, cluster(), fitting, plugin(), pool(GPU, carries={})))


@pytest.mark.parametrize("key", ["nvidia.com/gpu.family", labels.GFD_PRODUCT, labels.MIG_CAPABLE])
def test_g02_what_discovery_says_of_a_gpu_may_be_selected(key: str) -> None:
    exporter = chart(DCGM_EXPORTER.name, DCGM_EXPORTER.version, tolerations=EVERYTHING, nodeSelector={key: "x"})
    assert passes(judge(RULE, cluster(), plugin(gfd={"enabled": True}), exporter, pool(GPU)))
    assert "which no node there has" in complaint(judge(RULE, cluster(), plugin(), exporter, pool(GPU)))


def test_g02_a_selector_that_no_pool_meets_fails() -> None:
    told = complaint(judge(RULE, cluster(), plugin(nodeSelector={"role": "gpu"}), pool(GPU)))
    assert "because it requires role=gpu, which no node there has" in told


def test_g02_an_affinity_that_is_null_is_taken_away_where_nulls_count() -> None:
    away = plugin(affinity=None)
    assert "which no node there has" in complaint(judge(RULE, cluster(), away, pool(GPU, carries={})))
    counting = changed(away, "allowNullValues", value=True)
    assert passes(judge(RULE, cluster(), counting, pool(GPU, carries={})))


def test_g02_an_empty_affinity_does_not_take_the_charts_own_away() -> None:
    assert "which no node there has" in complaint(judge(RULE, cluster(), plugin(affinity={}), pool(GPU, carries={})))


# --- the operator ----------------------------------------------------------------------------------------------------


def test_g02_the_operators_operands_come_by_labels_that_it_sets_after_discovery() -> None:
    assert passes(judge(RULE, cluster(), operator(), pool(ANOTHER_VALUE, carries={})))


def test_g02_a_second_taint_needs_two_lists_of_tolerations() -> None:
    told = messages(judge(RULE, cluster(), operator(), pool(GPU, DEDICATED, carries={})))["gpu"]
    assert len(told) == 2
    assert any(text.startswith("nvidia-operator-validator, nvidia-device-plugin-daemonset,") for text in told)
    assert any(text.startswith("node-feature-discovery-worker of gpu-operator never") for text in told)
    both = operator(
        daemonsets={"tolerations": EVERYTHING}, **{"node-feature-discovery": {"worker": {"tolerations": EVERYTHING}}}
    )
    assert passes(judge(RULE, cluster(), both, pool(GPU, DEDICATED, carries={})))


def test_g02_a_list_of_tolerations_replaces_the_charts_own() -> None:
    own = operator(daemonsets={"tolerations": [{"key": "team", "operator": "Exists"}]})
    assert "does not tolerate the taint nvidia.com/gpu=present:NoSchedule" in complaint(
        judge(RULE, cluster(), own, pool(GPU))
    )


def test_g02_a_pool_may_want_none_of_the_operator() -> None:
    out = pool(DEDICATED, carries={"nvidia.com/gpu.deploy.operands": "false", **PRESENT})
    tolerant = {"worker": {"tolerations": EVERYTHING}}
    assert passes(judge(RULE, cluster(), operator(**{"node-feature-discovery": tolerant}), out))


def test_g02_an_operator_that_looks_for_discovery_elsewhere_is_left_open() -> None:
    elsewhere = operator(nfd={"enabled": False})
    assert left_open(judge(RULE, elsewhere, pool(GPU))) == ["labels"]


def test_g02_the_mig_manager_is_missed_only_where_a_layout_is_asked_for() -> None:
    on = operator(dcgm={"enabled": True})
    whole, sliced = (
        " ".join(messages(judge(RULE, cluster(), on, pool(DEDICATED, carries=carries)))["gpu"])
        for carries in (PRESENT, {**PRESENT, labels.MIG_CONFIG: "all-1g.5gb"})
    )
    assert "nvidia-mig-manager" not in whole
    assert "nvidia-mig-manager" in sliced
    assert "nvidia-dcgm," in whole


def test_discovery_that_nobody_waits_for_may_go_where_it_likes() -> None:
    assert passes(judge(RULE, cluster(), chart("node-feature-discovery"), pool(GPU)))
    bottlerocket = pool(ANOTHER_VALUE, carries={}, amiType="BOTTLEROCKET_x86_64_NVIDIA")
    assert passes(judge(RULE, cluster(), plugin(gfd={"enabled": True}), bottlerocket))


def test_what_the_agent_of_eks_does_not_reach_is_another_rules() -> None:
    agent = examples.resource("aws:eks/addon:Addon", "agent", {"addonName": "eks-node-monitoring-agent"})
    assert passes(judge(RULE, cluster(), agent, pool(GPU)))


# --- the other DaemonSets --------------------------------------------------------------------------------------------


def test_n05_the_exporters_chart_tolerates_no_gpu_taint() -> None:
    exporter = chart(DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    assert complaint(judge(RULE, cluster(), exporter, pool(GPU))) == (
        "dcgm-exporter never reaches gpu, because it does not tolerate the taint nvidia.com/gpu=present:NoSchedule: "
        "its GPUs are measured by nobody"
    )
    assert passes(judge(RULE, cluster(), changed(exporter, "values.tolerations", ANY_GPU_TAINT), pool(GPU)))


@pytest.mark.parametrize("name", ["fluent-bit", "aws-for-fluent-bit", "promtail"])
def test_n05_a_log_shipper_that_tolerates_nothing_loses_the_logs(name: str) -> None:
    assert "the logs of its pods are lost with them" in complaint(judge(RULE, cluster(), chart(name), pool(GPU)))
    assert passes(judge(RULE, cluster(), chart(name, tolerations=EVERYTHING), pool(GPU)))


def test_n05_a_log_shipper_that_is_meant_for_other_nodes_may_be() -> None:
    aimed = chart("fluent-bit", nodeSelector={"role": "system"})
    assert passes(judge(RULE, cluster(), aimed, pool(GPU)))


def test_n05_node_exporters_come_past_every_taint_but_those_that_evict() -> None:
    bundle = chart(KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version)
    assert passes(judge(RULE, cluster(), bundle, pool(GPU, DEDICATED)))
    evicting = Taint(GPU.key, GPU.value, Effect.NO_EXECUTE)
    assert "its nodes are measured by nobody" in complaint(judge(RULE, cluster(), bundle, pool(evicting)))
    off = changed(bundle, "values", {"nodeExporter": {"enabled": False}})
    assert not judge(RULE, cluster(), off, pool(evicting)).findings


def test_storage_drivers_tolerate_everything_unless_told_otherwise() -> None:
    add_on = examples.resource("aws:eks/addon:Addon", "ebs", {"addonName": "aws-ebs-csi-driver"})
    assert passes(judge(RULE, cluster(), add_on, pool(GPU)))
    strict = changed(add_on, "configurationValues", json.dumps({"node": {"tolerateAllTaints": False}}))
    assert "its pods wait for their volumes for ever" in complaint(judge(RULE, cluster(), strict, pool(GPU)))
    in_yaml = changed(add_on, "configurationValues", "node:\n  tolerateAllTaints: false\n")
    assert messages(judge(RULE, cluster(), in_yaml, pool(GPU))).keys() == {"gpu"}


def test_g09_the_adapters_plugin_must_come_where_there_are_adapters() -> None:
    adapters = chart(EFA_DEVICE_PLUGIN.name, EFA_DEVICE_PLUGIN.version)
    assert passes(judge(RULE, cluster(), adapters, pool(GPU)))
    template = examples.launch_template(networkInterfaces=[{"deviceIndex": 0, "interfaceType": "efa"}])
    with_them = examples.node_group(template, "gpu", None, instanceTypes=["p4d.24xlarge"])
    assert "no adapter of it is ever offered" in complaint(judge(RULE, cluster(), adapters, template, with_them))
    tolerant = changed(adapters, "values.tolerations", ANY_GPU_TAINT)
    assert passes(judge(RULE, cluster(), tolerant, template, with_them))
    manifest = daemon_set("efa", "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.7")
    assert "no adapter of it is ever offered" in complaint(judge(RULE, cluster(), manifest, template, with_them))
    asking = examples.deployment(examples.container(resources={"limits": {resources.EFA: "4", resources.GPU: "8"}}))
    assert "no adapter of it is ever offered" in complaint(judge(RULE, cluster(), adapters, pool(GPU), asking))


def test_somebodys_own_daemon_set_may_go_where_it_likes() -> None:
    own = daemon_set("ntp", "registry.example/ntp:1.0")
    assert not_concerned(judge(RULE, cluster(), own, pool(GPU)))


@pytest.mark.parametrize(
    ("image", "loss"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v0.17.1", "no GPU of it is ever offered"),
        ("nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04", "its GPUs are measured by nobody"),
        ("cr.fluentbit.io/fluent/fluent-bit:3.2", "the logs of its pods are lost"),
        ("quay.io/prometheus/node-exporter:v1.9.0", "its nodes are measured by nobody"),
    ],
)
def test_n05_manifests_are_known_by_their_images(image: str, loss: str) -> None:
    assert loss in complaint(judge(RULE, cluster(), daemon_set("agent", image), pool(GPU)))
    tolerant = daemon_set("agent", image, tolerations=ANY_GPU_TAINT)
    assert passes(judge(RULE, cluster(), tolerant, pool(GPU)))


# --- several of a kind, several types --------------------------------------------------------------------------------


def test_one_of_a_kind_is_enough_for_a_pool() -> None:
    strict = examples.release("strict", "fluent-bit", "0.50.0")
    assert passes(judge(RULE, cluster(), strict, chart("fluent-bit", tolerations=EVERYTHING), pool(GPU)))


def test_each_that_stays_away_is_told_with_its_own_reason() -> None:
    exporter = chart(DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    told = messages(judge(RULE, cluster(), plugin(nodeSelector={"role": "gpu"}), exporter, pool(GPU)))["gpu"]
    assert [("requires role=gpu" in text, "does not tolerate" in text) for text in sorted(told)] == [
        (False, True),
        (True, False),
    ]


def test_two_installations_may_share_the_pools() -> None:
    first, second = (
        examples.release(half, NVIDIA_DEVICE_PLUGIN.name, "0.17.1", values={"nodeSelector": {"half": half}})
        for half in ("a", "b")
    )
    pools = [examples.node_group(None, half, labels={**PRESENT, "half": half}) for half in ("a", "b")]
    assert passes(judge(RULE, cluster(), first, second, *pools))
    assert messages(judge(RULE, cluster(), first, *pools)).keys() == {"b"}


def test_a_dra_driver_serves_as_well_as_a_plugin() -> None:
    driver = chart("nvidia-dra-driver-gpu", "25.8.0", kubeletPlugin={"tolerations": EVERYTHING})
    assert passes(judge(RULE, cluster(), driver, pool(GPU)))
    assert "does not tolerate" in complaint(judge(RULE, cluster(), chart("nvidia-dra-driver-gpu", "25.8.0"), pool(GPU)))


def test_types_that_a_daemon_set_tells_apart_are_judged_one_by_one() -> None:
    aimed = plugin(nodeSelector={labels.INSTANCE_TYPE: "g5.xlarge"})
    both = pool(GPU, instanceTypes=["g5.xlarge", "g5.2xlarge"])
    assert "never reaches gpu (g5.2xlarge), because" in complaint(judge(RULE, cluster(), aimed, both))
    assert passes(judge(RULE, cluster(), aimed, pool(GPU, instanceTypes=["g5.xlarge"])))


def test_node_pools_are_judged_like_node_groups() -> None:
    exporter = chart(DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    parts: Sequence[Resource] = (cluster(), examples.node_class(), examples.node_pool(), exporter)
    assert messages(judge(RULE, *parts)).keys() == {"g5"}


# --- what is not known -----------------------------------------------------------------------------------------------


def test_unknown_values_are_left_open_by_their_name() -> None:
    hidden = operator(daemonsets={"tolerations": UNKNOWN})
    assert left_open(judge(RULE, cluster(), hidden, pool(GPU))) == ["values.daemonsets.tolerations"]
    assert left_open(judge(RULE, cluster(), unknown(plugin(), "values"), pool(GPU)))


def test_values_from_files_are_left_open() -> None:
    assert left_open(judge(RULE, cluster(), changed(plugin(), "valueYamlFiles", ["values.yaml"]), pool(GPU)))


def test_what_is_said_beside_files_of_values_goes_before_them() -> None:
    exporter = chart(DCGM_EXPORTER.name, DCGM_EXPORTER.version, tolerations=[], nodeSelector={}, affinity={})
    beside = changed(exporter, "valueYamlFiles", ["values.yaml"])
    assert "its GPUs are measured by nobody" in complaint(judge(RULE, cluster(), beside, pool(GPU)))


def test_what_a_daemon_set_asks_for_may_be_what_the_taint_lets_on() -> None:
    box = {"name": "x", "image": "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3", "resources": {"requests": UNKNOWN}}
    agent = daemon_set("agent", "x:1", containers=[box])
    path = "spec.template.spec.containers[0].resources.requests"
    assert left_open(judge(RULE, cluster(), agent, pool(GPU))) == [path]
    assert passes(judge(RULE, cluster(), agent, pool()))
    assert "does not tolerate the taint team" in complaint(judge(RULE, cluster(), agent, pool(DEDICATED)))


def test_a_version_after_those_that_were_read_is_left_open() -> None:
    later = examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, "0.21.0")
    assert left_open(judge(RULE, cluster(), later, pool(GPU)))


def test_unknown_pools_and_releases_are_left_open() -> None:
    assert left_open(judge(RULE, cluster(), plugin(), unknown(pool(GPU), "taints"))) == ["taints"]
    assert left_open(judge(RULE, cluster(), unknown(plugin(), "chart"), pool(GPU))) == ["chart"]


def test_a_stack_without_software_for_nodes_is_not_concerned() -> None:
    assert not_concerned(judge(RULE, cluster(), pool(GPU), chart("external-dns", "1.19.0")))
    assert not_concerned(judge(RULE, cluster(), plugin(), examples.node_group(instanceTypes=["m7i.xlarge"])))


# --- how others do it ------------------------------------------------------------------------------------------------


def test_sound_a_blueprint_with_untainted_labelled_nodes_and_two_plugins() -> None:
    """A node group with EFA whose nodes carry the labels that both charts look for."""
    nodes = {**PRESENT, "vpc.amazonaws.com/efa.present": "true"}
    template = examples.launch_template(networkInterfaces=[{"deviceIndex": 0, "interfaceType": "efa"}])
    group = examples.node_group(
        template, "cbr", None, labels=nodes, taints=[ANOTHER_VALUE.eks()], instanceTypes=["p5.48xlarge"]
    )
    adapters = chart(
        EFA_DEVICE_PLUGIN.name,
        "v0.5.7",
        nodeSelector={"vpc.amazonaws.com/efa.present": "true"},
        tolerations=ANY_GPU_TAINT,
    )
    first = examples.release("nvidia-device-plugin", NVIDIA_DEVICE_PLUGIN.name, "0.17.1", skipAwait=True)
    assert passes(judge(RULE, cluster("1.33"), first, adapters, template, group))


def test_sound_the_operator_on_nodes_of_karpenter_with_add_ons() -> None:
    add_ons = [
        examples.resource("aws:eks/addon:Addon", name, {"addonName": name})
        for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "aws-ebs-csi-driver", "aws-efs-csi-driver")
    ]
    monitoring = chart(KUBE_PROMETHEUS_STACK.name, "75.0.0")
    nodes = (examples.node_class(), examples.node_pool())
    assert passes(judge(RULE, cluster(), operator(), monitoring, *add_ons, *nodes))


def test_sound_discovery_with_the_default_taint_on_several_pools() -> None:
    pools = [examples.node_group(None, name, labels={}) for name in ("a", "b")]
    assert passes(judge(RULE, cluster("1.33"), plugin(gfd={"enabled": True}), *pools))
