"""DaemonSets read from resources: charts, add-ons, manifests."""

from __future__ import annotations

import json

import pytest

from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.versions import GPU_OPERATOR, KUBE_PROMETHEUS_STACK, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.daemon import Daemon
from eks_gpu.planning.pod_template import Toleration
from eks_gpu.planning.reading import NotKnown, NotKnownError, need
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.cluster import kubernetes_version
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed

STATIC = (
    "https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.0/deployments/static/nvidia-device-plugin.yml"
)


def daemons(*resources: Resource) -> dict[str, Daemon]:
    stack = Stack(resources)
    found = {daemon.name: daemon for daemon in stack.daemons}
    assert not stack.unreadable
    return found


def chart(name: str, version: str | None = None, **values: object) -> Resource:
    return examples.release("release", name, version, values=values)


def add_on(name: str, configuration: object = None) -> Resource:
    given = {} if configuration is None else {"configurationValues": configuration}
    return examples.resource("aws:eks/addon:Addon", name, {"addonName": name, **given})


def manifest(**pod: object) -> Resource:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": pod}
    return examples.resource(tokens.DAEMON_SET, "agent", {"spec": {"template": template}})


def requests(daemon: Daemon) -> list[object]:
    return [dict(need(container.requests)) for container in need(daemon.template.containers)]


# --- which are there -------------------------------------------------------------------------------------------------


def test_a_chart_brings_what_its_switches_leave_on() -> None:
    assert daemons(chart(NVIDIA_DEVICE_PLUGIN.name)).keys() == {"nvidia-device-plugin", "mps-control-daemon"}
    assert "gpu-feature-discovery" in daemons(chart(NVIDIA_DEVICE_PLUGIN.name, gfd={"enabled": True}))
    assert daemons(chart(NVIDIA_DEVICE_PLUGIN.name, devicePlugin={"enabled": False})) == {}


def test_discovery_comes_with_gpu_discovery_unless_it_is_told_otherwise() -> None:
    name = "node-feature-discovery-worker"
    assert name in daemons(chart(NVIDIA_DEVICE_PLUGIN.name, gfd={"enabled": True}))
    assert name not in daemons(chart(NVIDIA_DEVICE_PLUGIN.name, gfd={"enabled": True}, nfd={"enabled": False}))
    assert name in daemons(chart(NVIDIA_DEVICE_PLUGIN.name, nfd={"enabled": True}))


def test_the_operator_with_the_dra_driver_has_no_operands() -> None:
    modern = chart(GPU_OPERATOR.name, clusterPolicy={"deployCR": False}, gpuCluster={"deployCR": True})
    assert {daemon.role for daemon in daemons(modern).values()} == {Role.DRA_DRIVER, Role.NFD}


def test_a_chart_that_the_engine_has_expanded_is_read_from_its_objects() -> None:
    component = examples.resource(tokens.HELM_CHART, "chart", {"chart": NVIDIA_DEVICE_PLUGIN.name})
    image = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
    child = manifest(containers=[{"name": "plugin", "image": image}])
    inside = Resource(urn=child.urn, type=child.type, name=child.name, props=child.props, parent=component.urn)
    assert daemons(component, inside).keys() == {"agent"}
    operator = changed(component, "chart", GPU_OPERATOR.name)
    assert "nvidia-device-plugin-daemonset" in daemons(operator, inside)


def test_charts_that_nobody_has_read_bring_nothing_that_is_known() -> None:
    assert daemons(chart("external-dns"), chart("gpu-dashboard")) == {}


def test_an_unknown_switch_is_a_doubt() -> None:
    hidden = daemons(chart(GPU_OPERATOR.name, dcgm={"enabled": UNKNOWN}))["nvidia-dcgm"]
    assert isinstance(hidden.doubt, NotKnown)
    assert hidden.doubt.path == "values.dcgm.enabled"


# --- how they are scheduled ------------------------------------------------------------------------------------------


def test_a_list_replaces_the_charts_own() -> None:
    own = [{"key": "team", "operator": "Exists"}]
    found = daemons(chart(NVIDIA_DEVICE_PLUGIN.name, tolerations=own))["nvidia-device-plugin"]
    assert found.template.tolerations == (Toleration("team", "Exists", "", None),)
    assert found.tolerations_at == "values.tolerations"


def test_a_selector_of_ones_own_is_an_aim() -> None:
    assert not daemons(chart("fluent-bit"))["fluent-bit"].aimed
    assert daemons(chart("fluent-bit", nodeSelector={"a": "b"}))["fluent-bit"].aimed
    assert daemons(chart("fluent-bit", affinity={}))["fluent-bit"].aimed


def test_requests_are_the_charts_unless_they_are_given() -> None:
    assert requests(daemons(chart("dcgm-exporter", "4.8.2"))["dcgm-exporter"]) == [{"cpu": "100m", "memory": "128Mi"}]
    more = {"requests": {"cpu": "1"}}
    given = daemons(chart("dcgm-exporter", "4.8.2", resources=more))["dcgm-exporter"]
    assert requests(given) == [{"cpu": "1", "memory": "128Mi"}]


def test_each_container_of_a_storage_driver_requests_its_part() -> None:
    assert requests(daemons(add_on("aws-ebs-csi-driver"))["ebs-csi-node"]) == [{"cpu": "10m", "memory": "40Mi"}] * 3


@pytest.mark.parametrize("name", ["aws-node", "kube-proxy", "eks-pod-identity-agent"])
def test_eks_own_add_ons_run_everywhere(name: str) -> None:
    charts = {"aws-node": "vpc-cni"}
    found = daemons(add_on(charts.get(name, name)))[name]
    assert found.template.tolerations == (Toleration(None, "Exists", "", None),)


def test_a_switch_for_all_taints_replaces_the_list() -> None:
    everything = daemons(add_on("aws-ebs-csi-driver"))["ebs-csi-node"].template.tolerations
    assert everything == (Toleration(None, "Exists", "", None),)
    strict = add_on("aws-ebs-csi-driver", json.dumps({"node": {"tolerateAllTaints": False}}))
    assert daemons(strict)["ebs-csi-node"].template.tolerations == (Toleration(None, "Exists", "", "NoExecute"),)


def test_configuration_that_is_no_text_of_either_kind_gives_nothing() -> None:
    assert daemons(add_on("aws-efs-csi-driver", "{[")).keys() == {"efs-csi-node"}
    assert daemons(add_on("aws-efs-csi-driver", "just words")).keys() == {"efs-csi-node"}


def test_values_of_a_subchart_are_under_its_name() -> None:
    given = changed(chart(KUBE_PROMETHEUS_STACK.name), "values", {"prometheus-node-exporter": {"tolerations": []}})
    (found,) = daemons(given).values()
    assert found.template.tolerations == ()


def test_of_a_later_version_only_what_is_given_is_known() -> None:
    later = daemons(chart(NVIDIA_DEVICE_PLUGIN.name, "0.21.0", tolerations=[]))["nvidia-device-plugin"]
    assert later.template.tolerations == ()
    assert isinstance(later.template.affinity, NotKnown)
    assert later.template.affinity.path == "values.affinity"
    assert isinstance(later.doubt, NotKnown)


@pytest.mark.parametrize("version", ["0.20.9", "v0.17.1", None])
def test_of_versions_that_were_read_and_of_none_the_defaults_are_known(version: str | None) -> None:
    assert daemons(chart(NVIDIA_DEVICE_PLUGIN.name, version))["nvidia-device-plugin"].doubt is None


# --- manifests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("container", "role"),
    [
        ({"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}, Role.DEVICE_PLUGIN),
        ({"image": "nvcr.io/nvidia/k8s-device-plugin@sha256:abc", "command": ["gpu-feature-discovery"]}, Role.GFD),
        ({"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1", "command": ["/usr/bin/mps-control-daemon"]}, Role.MPS),
        ({"image": "registry.k8s.io/nfd/node-feature-discovery:v0.17.3", "command": ["nfd-worker"]}, Role.NFD),
        ({"image": "registry.k8s.io/nfd/node-feature-discovery:v0.17.3", "command": ["nfd-topology-updater"]}, None),
        ({"image": "localhost:5000/mirror/dcgm-exporter:4"}, Role.EXPORTER),
        ({"image": "public.ecr.aws/aws-observability/aws-for-fluent-bit:2.32"}, Role.LOGS),
        ({"image": "registry.example/anything:1"}, None),
        ({"image": UNKNOWN}, None),
    ],
)
def test_manifests_are_known_by_image_and_command(container: dict[str, object], role: Role | None) -> None:
    assert daemons(manifest(containers=[{"name": "a", **container}]))["agent"].role is role


def test_the_static_manifest_is_known_by_its_address() -> None:
    for props in ({"file": STATIC}, {"files": ["other.yaml", STATIC]}):
        resource = examples.resource("kubernetes:yaml/v2:ConfigGroup", "static", props)
        (found,) = daemons(resource).values()
        assert found.role is Role.DEVICE_PLUGIN
        assert found.template.tolerations == (Toleration("nvidia.com/gpu", "Exists", "", "NoSchedule"),)
    elsewhere = examples.resource("kubernetes:yaml/v2:ConfigFile", "other", {"file": "https://example.com/crds.yaml"})
    assert daemons(elsewhere) == {}
    assert daemons(changed(elsewhere, "file", UNKNOWN)) == {}


# --- the cluster -----------------------------------------------------------------------------------------------------


def cluster(version: object, name: str = "ml") -> Resource:
    return examples.resource("aws:eks/cluster:Cluster", name, {"version": version})


def test_the_version_is_the_clusters_else_the_node_groups() -> None:
    group = examples.node_group(version="1.34")
    assert kubernetes_version(Stack([cluster("1.35"), group])) == (1, 35)
    assert kubernetes_version(Stack([cluster(UNKNOWN), group])) == (1, 34)
    assert kubernetes_version(Stack([cluster("v1.36.2")])) == (1, 36)


@pytest.mark.parametrize("resources", [(), (cluster(UNKNOWN),), (cluster("1.35"), cluster("1.34", "other"))])
def test_no_version_or_several_are_not_known(resources: tuple[Resource, ...]) -> None:
    around = Stack(resources).daemon_reach.circumstances
    assert isinstance(around.kubernetes, NotKnown)
    assert around.complete is bool(resources)


@pytest.mark.parametrize(
    "bringer",
    [
        examples.resource("kubernetes:yaml/v2:ConfigGroup", "manifests", {"files": ["*.yaml"]}),
        examples.release("mine", "../platform", None),
        examples.release("flux", "flux2", "2.17.0"),
        examples.resource("kubernetes:helm.toolkit.fluxcd.io/v2:HelmRelease", "gpu", {"spec": {}}),
    ],
)
def test_what_is_put_into_a_cluster_unseen_leaves_it_incomplete(bringer: Resource) -> None:
    assert not Stack((cluster("1.35"), bringer)).daemon_reach.circumstances.complete
    assert Stack(
        (cluster("1.35"), examples.release("dns", "external-dns", "1.19.0"))
    ).daemon_reach.circumstances.complete


# --- what is asked for all that are alike ----------------------------------------------------------------------------


def test_daemon_sets_that_differ_in_nothing_are_judged_once_and_counted_all() -> None:
    twins = [examples.release(name, "fluent-bit", "0.50.0") for name in ("a", "b")]
    reach = Stack(twins).daemon_reach
    (one,) = reach.distinct
    assert [each.owner for each in reach.twins(one)] == ["a", "b"]
    assert reach.of_role(Role.LOGS) == (one,)


def test_pools_that_are_alike_share_an_answer() -> None:
    stack = Stack([chart("fluent-bit"), *(examples.node_group(None, name) for name in ("a", "b"))])
    first, second = stack.pools
    assert stack.daemon_reach.reaches(first) is stack.daemon_reach.reaches(second)


def own(name: str, **pod: object) -> Resource:
    return changed(
        manifest(containers=[{"name": "a", "image": "registry.example/own:1"}], **pod), "metadata", {"name": name}
    )


def test_somebodys_own_come_after_those_that_label_the_nodes() -> None:
    plugin = chart(NVIDIA_DEVICE_PLUGIN.name, gfd={"enabled": True})
    waiting = own(
        "a", nodeSelector={"feature.node.kubernetes.io/pci-10de.present": "true"}, tolerations=[{"operator": "Exists"}]
    )
    group = examples.node_group(None, "gpu", labels={})
    for resources, comes in (
        ((cluster("1.34"), plugin, waiting, group), True),
        ((cluster("1.34"), waiting, group), False),
    ):
        stack = Stack(resources)
        assert ("agent" in {each.name for each in stack.daemon_reach.reaching(stack.pools[0])}) is comes


def test_somebodys_own_for_one_instance_type_are_not_on_every_node() -> None:
    selective = own(
        "a", nodeSelector={"node.kubernetes.io/instance-type": "g5.xlarge"}, tolerations=[{"operator": "Exists"}]
    )
    for types, comes in ((["g5.xlarge"], True), (["g5.xlarge", "g5.2xlarge"], False)):
        stack = Stack([selective, examples.node_group(None, "gpu", instanceTypes=types)])
        assert bool(stack.daemon_reach.reaching(stack.pools[0])) is comes


def test_of_a_pool_of_types_that_nobody_knows_nothing_can_be_told() -> None:
    stack = Stack([chart("fluent-bit"), examples.node_group(None, "gpu", instanceTypes=["p9.48xlarge"])])
    with pytest.raises(NotKnownError):
        stack.daemon_reach.reaches(stack.pools[0])
    cpus = Stack([chart("fluent-bit"), examples.node_group(None, "cpu", instanceTypes=["m7i.large"])])
    assert cpus.daemon_reach.reaching(cpus.pools[0]) == ()
