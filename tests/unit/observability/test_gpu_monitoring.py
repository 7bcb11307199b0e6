from __future__ import annotations

from fractions import Fraction

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import dcgm_exporter, labels, metrics, taints, versions
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.nodes import karpenter
from eks_gpu.observability import exporter, prometheus
from eks_gpu.observability.gpu_monitoring import GpuMonitoring, GpuMonitoringArgs
from eks_gpu.observability.rules import ALERTS
from eks_gpu.planning.quantity import quantity
from eks_gpu.recording import Recording, record
from eks_gpu.settings.monitoring import BundledPrometheus, ExistingPrometheus, Monitoring, PrometheusVolume
from tests.support.clusters import cluster
from tests.support.prometheus_crds import schema_problems

SERVICE_MONITOR = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
PROMETHEUS_RULE = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
RELEASE = "kubernetes:helm.sh/v3:Release"
EXISTING = Monitoring(prometheus=ExistingPrometheus(selector_labels={"release": "prom"}))


def monitored(settings: Monitoring | None = None, *, operator: bool = False, outputs: bool = False) -> Recording:
    def program() -> None:
        system_nodes = k8s.core.v1.ConfigMap("system-nodes")
        connection = cluster(outputs=outputs, ready=(system_nodes,))
        software = GpuSoftware(
            ready=(k8s.core.v1.ConfigMap("gpu-software", opts=pulumi.ResourceOptions(provider=connection.provider)),),
            gpu_resource="nvidia.com/gpu",
            shared=False,
            runtime_class_name=None if operator else "nvidia",
            owns_exporter=operator,
            namespace="gpu-operator" if operator else "nvidia",
        )
        args = GpuMonitoringArgs(settings=settings or Monitoring(), cluster=connection, gpu_software=software)
        GpuMonitoring("gpu-monitoring", args)

    return record(program)


def test_builds_a_prometheus_an_exporter_a_scrape_rules_and_runbooks() -> None:
    recording = monitored()
    component = recording.one("eks-gpu:index:GpuMonitoring")
    assert {child.name for child in recording.children(component)} == {
        "gpu-monitoring-namespace",
        "gpu-monitoring-prometheus",
        "gpu-monitoring-exporter",
        "gpu-monitoring-service-monitor",
        "gpu-monitoring-rules",
        "gpu-monitoring-runbooks",
    }


def test_an_existing_prometheus_gets_no_second_one() -> None:
    recording = monitored(EXISTING)
    assert [release["chart"] for release in recording.of_type(RELEASE)] == ["dcgm-exporter"]
    assert recording.of_type("kubernetes:core/v1:Namespace") == ()


def test_the_operator_keeps_its_exporter() -> None:
    recording = monitored(operator=True)
    assert [release["chart"] for release in recording.of_type(RELEASE)] == ["kube-prometheus-stack"]


@pytest.mark.parametrize("outputs", [False, True], ids=["plain", "outputs"])
@pytest.mark.parametrize("operator", [False, True], ids=["plugin", "operator"])
@pytest.mark.parametrize("settings", [Monitoring(), EXISTING], ids=["bundled", "existing"])
def test_the_prometheus_operator_accepts_scrape_and_rules(settings: Monitoring, operator: bool, outputs: bool) -> None:
    recording = monitored(settings, operator=operator, outputs=outputs)
    for kind in (SERVICE_MONITOR, PROMETHEUS_RULE):
        assert schema_problems(recording.one(kind).inputs) == []


def test_the_schema_refuses_what_it_does_not_know() -> None:
    resource = {**monitored().one(SERVICE_MONITOR).inputs}
    resource["spec"] = {**resource["spec"], "endpoint": []}
    assert schema_problems(resource) == ["$.spec: Additional properties are not allowed ('endpoint' was unexpected)"]


@pytest.mark.parametrize(
    ("operator", "port", "selector", "namespace"),
    [
        (False, "metrics", {labels.APP_NAME: "dcgm-exporter", labels.APP_COMPONENT: "dcgm-exporter"}, "nvidia"),
        (True, "gpu-metrics", {"app": "nvidia-dcgm-exporter"}, "gpu-operator"),
    ],
    ids=["chart", "operator"],
)
def test_m07_the_scrape_finds_whichever_exporter_there_is(
    operator: bool, port: str, selector: dict[str, str], namespace: str
) -> None:
    spec = monitored(operator=operator).one(SERVICE_MONITOR)["spec"]
    assert spec["endpoints"][0]["port"] == port
    assert spec["selector"] == {"matchLabels": selector}
    assert spec["namespaceSelector"] == {"matchNames": [namespace]}


def test_m07_every_series_gets_the_node_and_one_job_and_keeps_the_pods_apart() -> None:
    (endpoint,) = monitored().one(SERVICE_MONITOR)["spec"]["endpoints"]
    assert endpoint["honorLabels"] is False
    assert {rule["targetLabel"] for rule in endpoint["relabelings"]} == {dcgm_exporter.NODE, "job"}


def test_m07_scrape_and_rules_carry_what_the_existing_prometheus_selects_by() -> None:
    recording = monitored(EXISTING)
    for kind in (SERVICE_MONITOR, PROMETHEUS_RULE):
        assert recording.one(kind)["metadata"]["labels"] == {"release": "prom"}


def test_scrape_and_rules_come_after_the_crds_and_the_software() -> None:
    recording = monitored()
    for kind in (SERVICE_MONITOR, PROMETHEUS_RULE):
        assert recording.reaches(recording.one(kind), recording.named("gpu-monitoring-prometheus"))
        assert recording.reaches(recording.one(kind), recording.named("gpu-software"))


def test_g01_the_exporter_comes_after_the_software_whose_runtime_class_it_names() -> None:
    recording = monitored()
    exporter_release = recording.named("gpu-monitoring-exporter")
    assert recording.reaches(exporter_release, recording.named("gpu-software"))
    assert exporter_release["values"]["runtimeClassName"] == "nvidia"


def test_the_prometheus_comes_after_the_cluster_is_ready() -> None:
    recording = monitored()
    assert recording.reaches(recording.named("gpu-monitoring-prometheus"), recording.named("system-nodes"))


def test_every_child_is_put_into_the_cluster_by_its_own_provider() -> None:
    recording = monitored()
    component = recording.one("eks-gpu:index:GpuMonitoring")
    assert all("::kubernetes::" in child.provider for child in recording.children(component))


def test_the_runbooks_are_in_the_cluster() -> None:
    data = monitored().named("gpu-monitoring-runbooks")["data"]
    assert set(data) == {f"{alert.name}.md" for alert in ALERTS}


def test_a_mirror_serves_both_charts() -> None:
    recording = monitored(Monitoring(chart_source="oci://mirror.example/charts"))
    assert {release["chart"] for release in recording.of_type(RELEASE)} == {
        f"oci://mirror.example/charts/{versions.DCGM_EXPORTER.name}",
        f"oci://mirror.example/charts/{versions.KUBE_PROMETHEUS_STACK.name}",
    }


def test_n05_the_exporter_reaches_every_gpu_node_and_no_other() -> None:
    values = exporter.chart_values("nvidia")
    assert values["nodeSelector"] == {labels.GPU_PRESENT: "true"}
    assert values["tolerations"] == [taints.TOLERATE_EVERYTHING]


def test_m07_the_exporter_loads_our_list_and_restarts_when_it_changes() -> None:
    values = exporter.chart_values(None)
    assert values["customMetrics"] == metrics.counter_file()
    assert "podAnnotations" in values
    assert "runtimeClassName" not in values


def test_m05_the_pods_of_a_shared_gpu_are_named() -> None:
    assert exporter.chart_values(None)["extraEnv"] == [
        {"name": "NVIDIA_RESOURCE_NAMES", "value": "nvidia.com/gpu.shared"}
    ]


def test_m07_the_bundled_prometheus_reads_every_scrape_and_rule() -> None:
    spec = prometheus.chart_values(BundledPrometheus())["prometheus"]["prometheusSpec"]
    assert spec["serviceMonitorSelectorNilUsesHelmValues"] is False
    assert spec["ruleSelectorNilUsesHelmValues"] is False


def test_m05_kube_state_metrics_shows_the_instance_type_that_prices_are_joined_by() -> None:
    (allowed,) = prometheus.chart_values(BundledPrometheus())["kube-state-metrics"]["metricLabelsAllowlist"]
    assert allowed.startswith("nodes=[")
    assert labels.INSTANCE_TYPE in allowed.removeprefix("nodes=[").removesuffix("]").split(",")


def test_n05_the_nodes_own_exporter_reaches_gpu_nodes() -> None:
    values = prometheus.chart_values(BundledPrometheus())["prometheus-node-exporter"]
    assert values["tolerations"] == [taints.TOLERATE_EVERYTHING]


def test_nothing_of_the_bundle_is_reachable_from_outside() -> None:
    values = prometheus.chart_values(BundledPrometheus.model_validate({"grafana_admin_secret": "grafana"}))
    for part in ("prometheus", "alertmanager", "grafana"):
        assert values[part]["service"] == {"type": "ClusterIP"}
        assert "ingress" not in values[part]


def test_grafana_is_off_without_a_secret_and_takes_it_by_name() -> None:
    assert prometheus.chart_values(BundledPrometheus())["grafana"] == {"enabled": False}
    with_secret = prometheus.chart_values(BundledPrometheus.model_validate({"grafana_admin_secret": "grafana"}))[
        "grafana"
    ]
    assert with_secret["admin"]["existingSecret"] == "grafana"
    assert "adminPassword" not in with_secret


def test_m01_alertmanager_is_always_there_and_takes_its_receivers_from_a_secret() -> None:
    assert prometheus.chart_values(BundledPrometheus())["alertmanager"]["enabled"] is True
    values = prometheus.chart_values(BundledPrometheus.model_validate({"alertmanager_config_secret": "receivers"}))[
        "alertmanager"
    ]
    assert values["alertmanagerSpec"] == {"useExistingSecret": True, "configSecret": "receivers"}


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        (BundledPrometheus(), "8GiB"),
        (BundledPrometheus(volume=PrometheusVolume(storage_class="gp3", size_gib=80)), "64GiB"),
    ],
    ids=["no volume", "volume"],
)
def test_n01_samples_never_fill_the_disk_they_are_on(settings: BundledPrometheus, size: str) -> None:
    assert prometheus.chart_values(settings)["prometheus"]["prometheusSpec"]["retentionSize"] == size


def cores(value: str) -> Fraction:
    amount = quantity(value)
    assert amount is not None
    return amount


def test_n03_prometheus_fits_beside_karpenter_and_the_agents_on_a_node_of_two_processors() -> None:
    asked = prometheus.chart_values(BundledPrometheus())["prometheus"]["prometheusSpec"]["resources"]["requests"]
    beside = karpenter.chart_values(cluster_name="c", queue_name="q", region="us-east-1")["controller"]["resources"]
    two_processors_of_kubelet, agents_and_dns = cores("1930m"), cores("420m")
    left = two_processors_of_kubelet - agents_and_dns - cores(beside["requests"]["cpu"])
    assert cores(asked["cpu"]) <= left / 2


def test_a_volume_is_claimed_only_where_its_class_is_named() -> None:
    storage = prometheus.chart_values(BundledPrometheus())["prometheus"]["prometheusSpec"]["storageSpec"]
    assert storage == {"emptyDir": {"sizeLimit": "10Gi"}}
    settings = BundledPrometheus(volume=PrometheusVolume(storage_class="gp3", size_gib=80))
    claim = prometheus.chart_values(settings)["prometheus"]["prometheusSpec"]["storageSpec"]["volumeClaimTemplate"]
    assert claim["spec"]["storageClassName"] == "gp3"
    assert claim["spec"]["resources"]["requests"] == {"storage": "80Gi"}


@pytest.mark.parametrize("part", ["kubeControllerManager", "kubeEtcd", "kubeProxy", "kubeScheduler"])
def test_what_eks_hides_is_not_scraped(part: str) -> None:
    assert prometheus.chart_values(BundledPrometheus())[part] == {"enabled": False}


@pytest.mark.parametrize("alert", ["KubeCPUOvercommit", "KubeMemoryOvercommit"])
def test_that_no_other_node_could_replace_a_gpu_node_is_no_alert(alert: str) -> None:
    assert prometheus.chart_values(BundledPrometheus())["defaultRules"]["disabled"][alert] is True
