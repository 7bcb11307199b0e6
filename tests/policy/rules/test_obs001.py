"""OBS001: GPU pools are watched."""

from __future__ import annotations

import pytest

from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, left_open, messages, not_concerned, passes, unknown
from tests.support.judging import judge as judge_rule
from tests.support.watching import COMPLETE, POOL, alerts, config_map, exporter, groups, operator, prometheus

XID, LOST, BLIND = COMPLETE
NAMED = {"environment": "prod"}


def judge(*found: Resource, **options: object) -> Report:
    return judge_rule("OBS001", POOL, *found, options=options)


def test_m01_an_exporter_prometheus_and_the_three_alerts_pass() -> None:
    assert passes(judge(operator(), prometheus(), alerts(*COMPLETE)))
    assert passes(judge(exporter(), prometheus(), alerts(*COMPLETE)))


def test_m01_nothing_at_all_fails_where_the_environment_is_named() -> None:
    assert complaint(judge(**NAMED)) == "has GPU pools, and nothing watches them: no exporter, no Prometheus, no alert"
    assert left_open(judge()) == ["monitoringStack"]


def test_m01_a_stack_that_is_watched_elsewhere_passes() -> None:
    assert passes(judge(**NAMED, monitoringStack="observability/prod"))


@pytest.mark.parametrize(
    "what",
    [
        examples.release("datadog", "datadog", "3.100.0"),
        examples.release("newrelic", "nri-bundle", "5.0.0"),
        examples.resource("aws:eks/addon:Addon", "cw", {"addonName": "amazon-cloudwatch-observability"}),
    ],
    ids=["datadog", "new relic", "cloudwatch"],
)
def test_a_service_outside_of_the_cluster_watches_as_well(what: Resource) -> None:
    assert passes(judge(what, **NAMED))


def test_m01_an_exporter_that_is_switched_off_fails() -> None:
    report = judge(operator(enabled=False), prometheus(), alerts(*COMPLETE))
    assert messages(report) == {
        "gpu-operator": [
            "switches its DCGM exporter off (dcgmExporter.enabled: false), and nothing else in the stack measures GPUs"
        ],
    }
    assert passes(judge(operator(enabled=False), exporter(), prometheus(), alerts(*COMPLETE)))


def test_m01_an_exporter_of_ones_own_counts() -> None:
    box = {"name": "exporter", "image": "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-ubuntu22.04"}
    template = {"metadata": {"labels": {"app": "dcgm"}}, "spec": {"containers": [box]}}
    own = examples.resource("kubernetes:apps/v1:DaemonSet", "dcgm", {"spec": {"template": template}})
    assert passes(judge(own, operator(enabled=False), prometheus(), alerts(*COMPLETE)))


def test_m01_prometheus_without_an_exporter_fails() -> None:
    report = judge(prometheus(), alerts(*COMPLETE))
    assert messages(report) == {
        "monitoring": ["runs Prometheus, and nothing in the stack exports metrics of GPUs to it"]
    }


def test_m01_an_alertmanager_that_is_switched_off_fails() -> None:
    off = prometheus(alertmanager={"enabled": False})
    said = complaint(judge(operator(), off, alerts(*COMPLETE)))
    assert said == "switches Alertmanager off and names no other: alerts fire and nobody hears of them"


def test_an_alertmanager_elsewhere_is_one() -> None:
    other = {"prometheusSpec": {"additionalAlertManagerConfigs": [{"static_configs": [{"targets": ["am:9093"]}]}]}}
    off = prometheus(alertmanager={"enabled": False}, prometheus=other)
    assert passes(judge(operator(), off, alerts(*COMPLETE)))


@pytest.mark.parametrize(
    "values",
    [
        {"prometheus": {"prometheusSpec": {"remoteWrite": [{"url": "https://aps-workspaces.example/remote_write"}]}}},
        {"server": {"remoteWrite": [{"url": "https://aps-workspaces.example/remote_write"}]}},
    ],
)
def test_who_alerts_where_everything_is_sent_to_is_left_open(values: dict[str, object]) -> None:
    sending = prometheus(alertmanager={"enabled": False}, **values)
    assert left_open(judge(operator(), sending)) == ["monitoringStack"]
    assert passes(judge(operator(), sending, monitoringStack="managed Prometheus"))
    nothing = prometheus(alertmanager={"enabled": False}, prometheus={"prometheusSpec": {"remoteWrite": []}})
    assert "switches Alertmanager off" in complaint(judge(operator(), nothing, alerts(*COMPLETE)))
    with_its_own = prometheus(**values)
    assert "without an alert on" in complaint(judge(operator(), with_its_own))


@pytest.mark.parametrize(
    "off",
    [
        prometheus(
            alertmanager={"enabled": False}, prometheus={"prometheusSpec": {"alertingEndpoints": [{"name": "a"}]}}
        ),
        examples.release(
            "plain",
            "prometheus",
            "27.0.0",
            values={"alertmanager": {"enabled": False}, "server": {"alertmanagers": [{}]}},
        ),
    ],
)
def test_every_way_to_name_another_alertmanager_counts(off: Resource) -> None:
    assert passes(judge(operator(), off, alerts(*COMPLETE)))


def test_a_chart_without_its_prometheus_is_none() -> None:
    without = prometheus(prometheus={"enabled": False})
    assert left_open(judge(operator(), without)) == ["monitoringStack"]


def test_nodes_that_only_the_engine_knows_are_no_monitoring() -> None:
    cluster = examples.resource("eks:index:Cluster", "ml", {"version": "1.35"})
    assert "nothing in the stack exports metrics" in complaint(judge(cluster, prometheus()))


DATADOG = examples.release("datadog", "datadog", "3.100.0")
SILENT = {"enabled": False}


@pytest.mark.parametrize(
    "found",
    [
        (operator(enabled=False), prometheus()),
        (operator(), prometheus(alertmanager=SILENT)),
        (operator(), prometheus()),
    ],
    ids=["no exporter", "no Alertmanager", "no alerts"],
)
def test_what_a_service_elsewhere_watches_needs_nothing_here(found: tuple[Resource, ...]) -> None:
    assert not passes(judge(*found))
    assert passes(judge(*found, DATADOG))


def test_alerts_may_be_where_the_run_says() -> None:
    assert passes(judge(operator(), prometheus(), monitoringStack="observability/prod"))
    assert passes(judge(operator(), prometheus(alertmanager=SILENT), monitoringStack="observability/prod"))


def test_what_measures_nothing_is_asked_for_no_alerts() -> None:
    assert messages(judge(operator(enabled=False), prometheus())).keys() == {"gpu-operator"}


def test_m01_each_prometheus_without_anybody_to_tell_is_named() -> None:
    sending = {"prometheusSpec": {"remoteWrite": [{"url": "https://example/write"}]}}
    silent = prometheus(alertmanager=SILENT)
    assert len(messages(judge(operator(), silent))["monitoring"]) == 2
    values = {"alertmanager": SILENT, "prometheus": sending}
    second = examples.release("second", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version, values=values)
    both = judge(operator(), prometheus(), second)
    assert messages(both).keys() == {"monitoring"}
    assert len(both.not_evaluated) == 1
    its_own = prometheus(prometheus=sending)
    assert passes(judge(operator(), its_own, alerts(*COMPLETE)))


def test_a_chart_that_is_not_known_beside_an_exporter_is_one_question() -> None:
    what = examples.release("what", "what", None)
    report = judge(operator(), unknown(what, "chart"))
    assert [missed.path for missed in report.not_evaluated] == ["monitoringStack"]


@pytest.mark.parametrize(
    ("queries", "missing"),
    [
        ((), "an XID error, a GPU that is lost or an exporter that is gone"),
        ((XID,), "a GPU that is lost or an exporter that is gone"),
        ((LOST, BLIND), "an XID error"),
        ((XID, BLIND), "a GPU that is lost"),
        ((XID, LOST), "an exporter that is gone"),
        (("DCGM_FI_DEV_GPU_TEMP > 90", LOST, BLIND), "an XID error"),
    ],
)
def test_m01_m06_each_alert_that_is_missing_is_named(queries: tuple[str, ...], missing: str) -> None:
    said = complaint(judge(operator(), prometheus(), alerts(*queries)))
    assert said == f"runs Prometheus without an alert on {missing}"


def test_the_remedy_shows_a_query_for_what_is_missing_and_it_is_enough() -> None:
    finding = judge(operator(), prometheus(), alerts(XID)).findings[0]
    shown = finding.fix.removeprefix("add alerts such as ").split("; ")[:2]
    assert len(shown) == 2
    assert passes(judge(operator(), prometheus(), alerts(XID, *shown)))


def test_alerts_are_also_read_in_values_maps_and_managed_rule_groups() -> None:
    in_values = prometheus(additionalPrometheusRulesMap={"gpu": {"groups": groups(XID)}})
    text = f"groups:\n- name: gpu\n  rules:\n  - alert: Lost\n    expr: {LOST}\n"
    in_map = config_map("rules", gpu__yaml=text)
    managed = examples.resource(
        "aws:amp/ruleGroupNamespace:RuleGroupNamespace",
        "managed",
        {"data": f"groups:\n- name: gpu\n  rules:\n  - alert: Gone\n    expr: {BLIND}\n"},
    )
    assert passes(judge(operator(), in_values, in_map, managed))
    assert "a GPU that is lost" in complaint(judge(operator(), in_values, managed))


def test_rules_that_are_not_known_are_left_open() -> None:
    open_rules = unknown(alerts(*COMPLETE), "spec")
    assert left_open(judge(operator(), prometheus(), open_rules)) == ["spec"]
    known = changed(alerts(*COMPLETE), "spec.groups.0.rules.2.expr", UNKNOWN)
    assert left_open(judge(operator(), prometheus(), known)) == ["spec.groups[0].rules[2].expr"]


@pytest.mark.parametrize(
    ("found", "path"),
    [
        ((prometheus(additionalPrometheusRulesMap=UNKNOWN),), "values.additionalPrometheusRulesMap"),
        ((prometheus(), changed(config_map("gpus"), "data", {"gpu-alerts.yaml": UNKNOWN})), "data.gpu-alerts.yaml"),
    ],
    ids=["values", "map"],
)
def test_rules_that_are_not_known_in_values_and_maps_are_left_open(found: tuple[Resource, ...], path: str) -> None:
    assert left_open(judge(operator(), *found)) == [path]


def test_values_that_are_not_known_and_hold_no_rules_leave_nothing_open() -> None:
    secret = prometheus(alertmanager={"config": {"receivers": [{"slack": UNKNOWN}]}}, grafana={"password": UNKNOWN})
    assert passes(judge(operator(), secret, alerts(*COMPLETE)))


def test_rules_for_victoria_metrics_are_rules() -> None:
    spec = {"groups": groups(*COMPLETE)}
    rules = examples.resource("kubernetes:operator.victoriametrics.com/v1beta1:VMRule", "gpus", {"spec": spec})
    stack = examples.release("vm", "victoria-metrics-k8s-stack", "0.60.0")
    assert passes(judge(operator(), stack, rules))


def test_a_text_that_is_no_yaml_holds_no_rules() -> None:
    template = config_map("rules", gpu__yaml="groups: [{{ .Values.groups }}\n  - :")
    assert "without an alert" in complaint(judge(operator(), prometheus(), template))


def test_an_exporter_without_prometheus_is_left_open_unless_alerts_show_that_there_is_one() -> None:
    assert left_open(judge(operator(), **NAMED)) == ["monitoringStack"]
    assert passes(judge(operator(), alerts(*COMPLETE), **NAMED))


def test_a_chart_that_is_not_known_is_left_open() -> None:
    odd = unknown(examples.release("odd", "odd", "1"), "chart")
    assert left_open(judge(odd, **NAMED)) == ["chart"]
    assert left_open(judge(odd, prometheus())) == ["chart"]


def test_what_a_repository_brings_may_be_what_is_missing() -> None:
    argo = examples.release("argo", "argo-cd", "8.0.0")
    assert left_open(judge(argo, **NAMED)) == ["what comes from repositories and charts of its own"]
    assert left_open(judge(argo, operator(), prometheus())) == ["what comes from repositories and charts of its own"]


def test_a_file_of_manifests_may_hold_whatever_is_missing() -> None:
    file = examples.resource("kubernetes:yaml/v2:ConfigFile", "rest", {"file": "monitoring.yaml"})
    for found in ((file,), (file, prometheus()), (file, operator(), prometheus())):
        report = judge(*found, **NAMED)
        assert report.findings == ()
        assert "the objects in it" in {item.path for item in report.not_evaluated if item.rule == "OBS001"}


def test_a_switch_that_is_not_known_is_left_open() -> None:
    half = operator(enabled=UNKNOWN)
    assert left_open(judge(half, **NAMED)) == ["values.dcgmExporter.enabled"]


def test_a_stack_without_gpu_pools_is_not_concerned() -> None:
    system = examples.node_group(instanceTypes=["m7i.large"])
    assert not_concerned(judge_rule("OBS001", system, prometheus(), options=NAMED))


def test_pools_that_may_buy_gpus_are_left_open() -> None:
    group = unknown(examples.node_group(), "instanceTypes")
    assert left_open(judge_rule("OBS001", group, options=NAMED)) == ["instanceTypes"]


def test_on_manifests_it_is_silent() -> None:
    report = evaluate(
        [POOL],
        environment=Environment.PROD,
        rules=(BY_ID["OBS001"],),
        today=TODAY,
        options=Options(manifests_only=True, environment_named=True),
    )
    assert not_concerned(report)
    said = Options(manifests_only=True, monitoring_stack="observability")
    watched = evaluate([POOL], environment=Environment.PROD, rules=(BY_ID["OBS001"],), today=TODAY, options=said)
    assert passes(watched)
