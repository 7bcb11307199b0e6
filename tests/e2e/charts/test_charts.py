"""The stand-in charts, installed by the real provider's Helm from the addresses that facts name."""

from __future__ import annotations

import pytest

from eks_gpu.facts import dcgm_exporter, labels, resources, taints
from eks_gpu.facts.versions import CHARTS
from tests.e2e.charts.installing import (
    ELSEWHERE,
    OPERATOR,
    PLAIN,
    UNKNOWN_VERSION,
    WATCHED,
    Manifest,
    Seen,
    Story,
)

SECRET_BYTES = 1024 * 1024
"""More does not go into a Secret, in which Helm records a release."""

SERVED_BY = {"Deployment": "readyReplicas", "StatefulSet": "readyReplicas", "DaemonSet": "numberReady"}
WANTED_BY = {"Deployment": "replicas", "StatefulSet": "replicas", "DaemonSet": "desiredNumberScheduled"}


def workloads(seen: Seen) -> list[Manifest]:
    return [each for kind in SERVED_BY for each in seen.objects[kind]]


def environment(workload: Manifest) -> dict[str, str]:
    containers = workload["spec"]["template"]["spec"]["containers"]
    return {each["name"]: each.get("value", "") for container in containers for each in container.get("env", ())}


def nodes_of(pods: list[Manifest]) -> list[str]:
    return [pod["spec"]["nodeName"] for pod in pods]


def advertised(seen: Seen) -> dict[str, dict[str, str]]:
    """Return what GPU nodes have of GPUs, by instance type."""
    return {
        node["metadata"]["labels"][labels.INSTANCE_TYPE]: {
            name: count
            for name, count in node["status"]["allocatable"].items()
            if resources.is_gpu(name) and count != "0"
        }
        for node in (seen.named("Node", name) for name in seen.gpu_nodes())
    }


def test_every_chart_of_facts_is_installed_here() -> None:
    assert {release["chart"] for release in (*PLAIN, *OPERATOR)} == set(CHARTS)


def test_helm_pulls_every_chart_from_its_public_address(story: Story) -> None:
    assert story.up.returncode == 0, story.up.output
    assert story.switched.returncode == 0, story.switched.output
    for chart in CHARTS.values():
        place = chart.repository.replace("oci://public.ecr.aws/", "https://public.ecr.aws/v2/")
        what = f"{chart.name}/manifests/{chart.version}" if chart.is_oci else f"{chart.name}-{chart.version}.tgz"
        assert f"GET {place}/{what} 200" in story.asked


@pytest.mark.parametrize("moment", ["plain", "operator"])
def test_every_workload_becomes_ready(story: Story, moment: str) -> None:
    found = workloads(getattr(story, moment))
    assert found
    late = [
        each["metadata"]["name"]
        for each in found
        if each["status"].get(SERVED_BY[each["kind"]], 0) != each["status"].get(WANTED_BY[each["kind"]], 0)
    ]
    assert late == []


def test_the_definitions_are_established_before_helm_is_done(story: Story) -> None:
    groups = {each["spec"]["group"]: each for each in story.plain.objects["CustomResourceDefinition"]}
    assert {"karpenter.sh", "karpenter.k8s.aws", "monitoring.coreos.com"} <= set(groups)
    assert "nvidia.com" in {each["spec"]["group"] for each in story.operator.objects["CustomResourceDefinition"]}
    for each in story.plain.objects["CustomResourceDefinition"]:
        assert {"type": "Established", "status": "True"}.items() <= {
            key: condition[key]
            for condition in each["status"]["conditions"]
            if condition["type"] == "Established"
            for key in ("type", "status")
        }.items()


def test_karpenter_runs_twice_on_different_nodes_and_none_of_them_has_gpus(story: Story) -> None:
    pods = story.plain.pods_of("karpenter")
    assert len(set(nodes_of(pods))) == len(pods) == 2
    assert story.plain.gpu_nodes().isdisjoint(nodes_of(pods))
    told = environment(story.plain.named("Deployment", "karpenter"))
    assert told["CLUSTER_NAME"] == "here"
    assert told["INTERRUPTION_QUEUE"] == "interruptions"
    assert told["AWS_REGION"] == "us-east-1"


@pytest.mark.parametrize("name", ["nvidia-device-plugin", "dcgm-exporter"])
def test_gpu_agents_run_on_gpu_nodes_past_their_taint_and_nowhere_else(story: Story, name: str) -> None:
    agent = story.plain.named("DaemonSet", name)["spec"]["template"]["spec"]
    assert taints.TOLERATE_EVERYTHING in agent["tolerations"]
    assert agent["runtimeClassName"] == "nvidia"
    assert set(nodes_of(story.plain.pods_of(name))) == story.plain.gpu_nodes()


def test_the_device_plugin_makes_the_nodes_gpus_known(story: Story) -> None:
    assert advertised(story.plain) == {"g5.xlarge": {resources.GPU: "1"}, "p4d.24xlarge": {resources.GPU: "8"}}


def test_g04_a_static_group_advertises_the_partitions_that_its_label_asks_for(story: Story) -> None:
    assert advertised(story.operator) == {
        "g5.xlarge": {resources.GPU: "1"},
        "p4d.24xlarge": {resources.mig("1g.5gb"): "56"},
    }


def test_g09_adapters_are_known_on_nodes_of_the_types_that_have_them(story: Story) -> None:
    nodes = story.plain.objects["Node"]
    known = {
        node["metadata"]["labels"][labels.INSTANCE_TYPE]: int(node["status"]["allocatable"].get(resources.EFA, "0"))
        for node in nodes
    }
    assert {name: count for name, count in known.items() if count} == {"p4d.24xlarge": 4}


def test_the_exporter_is_told_of_shared_gpus(story: Story) -> None:
    told = environment(story.plain.named("DaemonSet", dcgm_exporter.JOB))
    assert dcgm_exporter.ENVIRONMENT.items() <= told.items()


def test_the_nodes_exporter_reaches_every_node(story: Story) -> None:
    pods = story.plain.pods_of("kube-prometheus-stack-prometheus-node-exporter")
    assert set(nodes_of(pods)) == {node["metadata"]["name"] for node in story.plain.objects["Node"]}


def test_grafana_and_alertmanager_read_the_secrets_they_are_told_of(story: Story) -> None:
    grafana = story.plain.named("Deployment", "kube-prometheus-stack-grafana")
    (container,) = grafana["spec"]["template"]["spec"]["containers"]
    read = {each["valueFrom"]["secretKeyRef"]["name"] for each in container["env"]}
    assert read == {WATCHED["grafana_admin_secret"]}
    alertmanager = story.plain.named("StatefulSet", "alertmanager-kube-prometheus-stack-alertmanager")
    (volume,) = alertmanager["spec"]["template"]["spec"]["volumes"]
    assert volume["secret"]["secretName"] == WATCHED["alertmanager_config_secret"]


def test_what_is_there_stays_as_it_is(story: Story) -> None:
    for result in (story.again, story.refresh):
        assert result.returncode == 0, result.output
        assert set(result.changes) == {"same"}


def test_the_record_of_a_release_fits_into_a_secret(story: Story) -> None:
    records = [each for each in story.plain.objects["Secret"] if each.get("type") == "helm.sh/release.v1"]
    assert len(records) == len(PLAIN)
    assert all(len(each["data"]["release"]) < SECRET_BYTES for each in records)


def test_the_operators_operands_reach_the_gpu_nodes_and_its_policy_is_ready(story: Story) -> None:
    for name in ("nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter", "gpu-feature-discovery"):
        assert set(nodes_of(story.operator.pods_of(name))) == story.operator.gpu_nodes()
    everywhere = story.operator.pods_of("gpu-operator-node-feature-discovery-worker")
    assert set(nodes_of(everywhere)) == {node["metadata"]["name"] for node in story.operator.objects["Node"]}
    (policy,) = story.operator.objects["ClusterPolicy"]
    assert policy["status"]["state"] == "ready"
    assert policy["spec"]["driver"]["enabled"] is policy["spec"]["toolkit"]["enabled"] is False


def test_nothing_is_left_but_definitions_which_helm_never_removes(story: Story) -> None:
    assert story.destroyed.returncode == 0, story.destroyed.output
    assert all("CustomResourceDefinition" in line for line in story.left)
    # A chart of their own takes these with it.
    assert not any("karpenter" in line for line in story.left)


def test_a_version_that_does_not_exist_is_named(story: Story) -> None:
    for chart, result in story.unknown.items():
        assert result.returncode != 0
        assert chart in result.output
        assert UNKNOWN_VERSION in result.output
        assert "not found" in result.output


def test_an_address_outside_of_the_sandbox_is_out_of_reach_and_the_error_says_why(story: Story) -> None:
    assert story.elsewhere.returncode != 0
    assert ELSEWHERE in story.elsewhere.output
    assert "the sandbox has no network" in story.elsewhere.output


def test_a_misspelt_value_is_refused_by_name(story: Story) -> None:
    assert story.misspelt.returncode != 0
    assert "'tolerationz' not allowed" in story.misspelt.output
