"""OBS004: Prometheus selects the scrape."""

from __future__ import annotations

import pytest

from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, messages, not_concerned, passes, unknown
from tests.support.watching import CLUSTER, exporter, operator, prometheus

EVERYTHING = {"prometheusSpec": {"serviceMonitorSelectorNilUsesHelmValues": False}}


def monitor(**labels: str) -> Resource:
    spec = {
        "selector": {"matchLabels": {"app.kubernetes.io/name": "dcgm-exporter"}},
        "endpoints": [{"port": "metrics"}],
    }
    metadata = {"name": "gpus", **({"labels": labels} if labels else {})}
    return examples.resource(tokens.SERVICE_MONITOR, "gpus", {"metadata": metadata, "spec": spec})


def selecting(**selector: object) -> Resource:
    return prometheus(prometheus={"prometheusSpec": {"serviceMonitorSelector": selector}})


# --- what kube-prometheus-stack selects by itself -----------------------------------------------------------------


def test_m07_a_monitor_without_the_label_of_the_release_is_never_scraped() -> None:
    report = judge("OBS004", prometheus(), monitor(app="dcgm-exporter"))
    said = complaint(report)
    assert said.startswith("labels its ServiceMonitor app=dcgm-exporter, and monitoring selects release=monitoring: ")
    assert report.findings[0].fix.startswith("give it the label release=monitoring (metadata.labels), or let")
    assert "no labels" in complaint(judge("OBS004", prometheus(), monitor()))


def test_m07_with_the_label_of_the_release_it_passes() -> None:
    assert passes(judge("OBS004", prometheus(), monitor(release="monitoring")))
    assert "release=monitoring:" in complaint(judge("OBS004", prometheus(), monitor(release="prometheus")))


def test_m07_a_prometheus_that_selects_everything_passes() -> None:
    assert passes(judge("OBS004", prometheus(prometheus=EVERYTHING), monitor()))


def test_m07_the_operators_monitor_carries_only_the_name_of_its_app() -> None:
    report = judge("OBS004", prometheus(), operator())
    assert complaint(report).startswith("labels its ServiceMonitor app=nvidia-dcgm-exporter, and monitoring selects")
    assert "dcgmExporter.serviceMonitor.additionalLabels" in report.findings[0].fix
    labelled = operator(serviceMonitor={"enabled": True, "additionalLabels": {"release": "monitoring"}})
    assert passes(judge("OBS004", prometheus(), labelled))


def test_m07_so_does_that_of_the_chart() -> None:
    assert "app.kubernetes.io/instance=dcgm" in complaint(judge("OBS004", prometheus(), exporter()))
    assert passes(
        judge("OBS004", prometheus(), exporter(serviceMonitor={"additionalLabels": {"release": "monitoring"}}))
    )


def test_an_operator_that_makes_no_exporter_is_not_concerned() -> None:
    assert not_concerned(judge("OBS004", prometheus(), operator(enabled=False)))


def test_a_charts_monitor_does_not_matter_beside_one_that_is_selected() -> None:
    assert passes(judge("OBS004", prometheus(), operator(), monitor(release="monitoring")))


JOB = {"job_name": "gpu-metrics", "kubernetes_sd_configs": [{"role": "endpoints"}]}
OF_OTHERS = {"job_name": "karpenter", "kubernetes_sd_configs": [{"role": "endpoints"}]}


@pytest.mark.parametrize("exporting", [operator(), exporter()], ids=["operator", "chart"])
@pytest.mark.parametrize(
    ("part", "scraped"),
    [
        ({"prometheusSpec": {"additionalScrapeConfigs": [JOB]}}, True),
        ({"prometheusSpec": {"additionalScrapeConfigs": [OF_OTHERS]}}, False),
        ({"additionalServiceMonitors": [{"name": "dcgm", "selector": {"matchLabels": {"app": "x"}}}]}, True),
        (
            {"additionalPodMonitors": [{"name": "x", "selector": {"matchLabels": {"app": "nvidia-dcgm-exporter"}}}]},
            True,
        ),
    ],
    ids=["a job", "a job for others", "a monitor", "a monitor of pods"],
)
def test_what_prometheus_is_told_to_scrape_itself_counts(
    exporting: Resource, part: dict[str, object], scraped: bool
) -> None:
    assert passes(judge("OBS004", prometheus(prometheus=part), exporting)) is scraped


def test_jobs_that_are_not_known_are_left_open() -> None:
    told = prometheus(prometheus={"prometheusSpec": {"additionalScrapeConfigs": UNKNOWN}})
    assert left_open(judge("OBS004", told, operator())) == ["values.prometheus.prometheusSpec.additionalScrapeConfigs"]


def test_prometheus_without_its_operator_goes_by_annotations() -> None:
    """The operator's Service is annotated, and its ServiceMonitor is left out where the kind is missing."""
    plain = examples.release("plain", "prometheus", "27.0.0")
    assert passes(judge("OBS004", plain, operator(), CLUSTER))
    assert complaint(judge("OBS004", plain, exporter(), CLUSTER)).startswith("needs the kind ServiceMonitor")


def test_the_agent_of_victoria_metrics_selects_everything() -> None:
    stack = examples.release("vm", "victoria-metrics-k8s-stack", "0.60.0")
    assert passes(judge("OBS004", stack, operator()))
    assert passes(judge("OBS004", stack, monitor()))


def test_what_a_repository_brings_may_bring_the_kind() -> None:
    argo = examples.release("argo", "argo-cd", "8.0.0")
    assert left_open(judge("OBS004", CLUSTER, argo, monitor())) == [
        "what comes from repositories and charts of its own"
    ]


def test_m07_a_monitor_of_pods_has_a_selector_of_its_own() -> None:
    metadata = {"name": "gpus", "labels": {"team": "ml"}}
    spec = {"selector": {"matchLabels": {"app": "dcgm-exporter"}}, "podMetricsEndpoints": [{"port": "metrics"}]}
    pods = examples.resource(tokens.POD_MONITOR, "gpus", {"metadata": metadata, "spec": spec})
    report = judge("OBS004", prometheus(prometheus=EVERYTHING), pods)
    assert complaint(report).startswith("labels its PodMonitor team=ml, and monitoring selects release=monitoring: ")
    assert report.findings[0].fix.endswith("prometheusSpec.podMonitorSelectorNilUsesHelmValues: false")
    everything = {"prometheusSpec": {"podMonitorSelectorNilUsesHelmValues": False}}
    assert passes(judge("OBS004", prometheus(prometheus=everything), pods))
    assert passes(judge("OBS004", prometheus(prometheus=everything), pods, operator()))
    by_team = {"prometheusSpec": {"podMonitorSelector": {"matchLabels": {"team": "ml"}}}}
    assert passes(judge("OBS004", prometheus(prometheus=by_team), pods))
    assert complaint(judge("OBS004", CLUSTER, pods)).startswith("needs the kind PodMonitor, which nothing")


def about(**parts: object) -> Resource:
    """Return a monitor without labels that says by some of its parts what it is about."""
    spec = {"selector": parts.get("selector", {"matchLabels": {"app": "x"}}), "endpoints": [{"port": "metrics"}]}
    metadata = {"name": parts.get("name", "metrics")}
    return examples.resource(tokens.SERVICE_MONITOR, "gpus", {"metadata": metadata, "spec": spec})


@pytest.mark.parametrize(
    ("given", "concerned"),
    [
        (about(name="dcgm"), True),
        (about(selector={"matchLabels": {"app": "web", "part": "gpu-metrics"}}), True),
        (about(selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "nvidia"]}]}), True),
        (about(name=None), False),
        (about(selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}), False),
    ],
)
def test_a_monitor_is_about_gpus_if_its_name_or_selector_says_so(given: Resource, concerned: bool) -> None:
    report = judge("OBS004", prometheus(), given)
    assert not_concerned(report) is not concerned
    if concerned:
        assert "selects release=monitoring" in complaint(report)


def test_the_operator_may_leave_its_monitor_out() -> None:
    assert not_concerned(judge("OBS004", prometheus(), operator(serviceMonitor={"enabled": False})))


def test_the_remedy_names_the_value_of_the_chart() -> None:
    by_chart = judge("OBS004", prometheus(), exporter()).findings[0].fix
    assert "release=monitoring (serviceMonitor.additionalLabels)" in by_chart
    by_operator = judge("OBS004", prometheus(), operator()).findings[0].fix
    assert "release=monitoring (dcgmExporter.serviceMonitor.additionalLabels)" in by_operator


def test_a_release_that_pulumi_names_has_no_label_of_it() -> None:
    unnamed = changed(exporter(), "name", None)
    assert "app.kubernetes.io/instance" not in complaint(judge("OBS004", prometheus(), unnamed))


def test_a_charts_monitor_matters_beside_one_that_nobody_selects_or_knows() -> None:
    beside = judge("OBS004", prometheus(), operator(), monitor(app="x"))
    assert messages(beside).keys() == {"gpu-operator", "gpus"}
    open_one = judge("OBS004", prometheus(), operator(), unknown(monitor(), "metadata.labels"))
    assert "nobody scrapes" in messages(open_one)["gpu-operator"][0]


def test_a_charts_monitor_does_not_matter_where_one_prometheus_of_several_scrapes() -> None:
    second = examples.release(
        "second", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version, values={"prometheus": EVERYTHING}
    )
    labelled = monitor(release="monitoring")
    by_label = {"prometheusSpec": {"serviceMonitorSelector": {"matchLabels": {"release": "other"}}}}
    third = examples.release(
        "third", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version, values={"prometheus": by_label}
    )
    assert passes(judge("OBS004", prometheus(), third, operator(), labelled))
    assert passes(judge("OBS004", prometheus(), second, operator()))
    own = {"prometheusSpec": {"additionalScrapeConfigs": [JOB]}}
    assert passes(judge("OBS004", third, prometheus(prometheus=own), operator()))


# --- selectors of one's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        ({"matchLabels": {"team": "ml"}}, {"team": "ml", "app": "x"}, True),
        ({"matchLabels": {"team": "ml"}}, {"team": "web"}, False),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["ml", "web"]}]}, {"team": "ml"}, True),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["web"]}]}, {"team": "ml"}, False),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["web"]}]}, {}, True),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, {"team": "x"}, True),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, {}, False),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, {"team": "x"}, False),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, {"app": "x"}, True),
        ({"matchExpressions": [{"key": "team", "operator": "Near"}]}, {"team": "x"}, False),
    ],
)
def test_m07_a_selector_of_ones_own_counts(selector: dict[str, object], labels: dict[str, str], selected: bool) -> None:
    assert passes(judge("OBS004", selecting(**selector), monitor(**labels))) is selected


def test_m07_what_is_selected_by_is_said() -> None:
    terms = [{"key": "team", "operator": "In", "values": ["ml", "web"]}, {"key": "app", "operator": "Exists"}]
    said = complaint(judge("OBS004", selecting(matchLabels={"a": "b"}, matchExpressions=terms), monitor()))
    assert "monitoring selects a=b, team In ml, web, app Exists: nobody scrapes the GPUs" in said


def test_m07_a_release_is_known_by_the_name_that_it_is_given() -> None:
    named = changed(prometheus(), "name", "kps")
    assert passes(judge("OBS004", named, monitor(release="kps")))
    assert "selects release=kps" in complaint(judge("OBS004", named, monitor(release="monitoring")))
    chart = examples.resource("kubernetes:helm.sh/v4:Chart", "kps", {"chart": KUBE_PROMETHEUS_STACK.name})
    assert passes(judge("OBS004", chart, monitor(release="kps")))


def test_a_prometheus_resource_selects_nothing_unless_it_says_so() -> None:
    def own(**spec: object) -> Resource:
        return examples.resource(tokens.PROMETHEUS, "own", {"metadata": {"name": "own"}, "spec": spec})

    assert passes(judge("OBS004", own(serviceMonitorSelector={}), monitor()))
    assert "own selects nothing" in complaint(judge("OBS004", own(), monitor(a="b")))
    wanted = own(serviceMonitorSelector={"matchLabels": {"a": "b"}})
    assert passes(judge("OBS004", wanted, monitor(a="b")))
    assert "own selects a=b" in complaint(judge("OBS004", wanted, monitor()))


def test_one_prometheus_of_several_is_enough() -> None:
    second = examples.release(
        "second", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version, values={"prometheus": EVERYTHING}
    )
    assert passes(judge("OBS004", prometheus(), second, monitor()))


# --- the kind itself -----------------------------------------------------------------------------------------------


def test_m07_a_monitor_in_a_new_cluster_without_its_kind_fails() -> None:
    said = complaint(judge("OBS004", CLUSTER, monitor()))
    assert said == "needs the kind ServiceMonitor, which nothing in the stack brings to the cluster that it makes"
    assert "needs the kind ServiceMonitor" in complaint(judge("OBS004", CLUSTER, exporter()))


@pytest.mark.parametrize(
    "brings",
    [
        examples.release("crds", "prometheus-operator-crds", "24.0.0"),
        examples.resource("kubernetes:yaml/v2:ConfigFile", "crds", {"file": "bundle.yaml"}),
        examples.resource(tokens.DEFINITION, "crd", {"spec": {"group": "monitoring.coreos.com"}}),
    ],
    ids=["chart", "file", "definition"],
)
def test_whatever_may_bring_the_kind_passes(brings: Resource) -> None:
    report = judge("OBS004", CLUSTER, brings, monitor())
    assert (report.passed, report.findings) == (1, ())


def test_in_a_cluster_that_is_there_it_is_left_open() -> None:
    assert left_open(judge("OBS004", monitor())) == ["kind"]


def test_the_operators_default_monitor_without_prometheus_is_left_open() -> None:
    assert left_open(judge("OBS004", CLUSTER, operator())) == ["kind"]


# --- what is not known ----------------------------------------------------------------------------------------------


def test_labels_selectors_and_names_that_are_not_known_are_left_open() -> None:
    assert left_open(judge("OBS004", prometheus(), unknown(monitor(), "metadata.labels"))) == ["metadata.labels"]
    path = "values.prometheus.prometheusSpec.serviceMonitorSelector"
    assert left_open(judge("OBS004", selecting(matchLabels=UNKNOWN), monitor(a="b"))) == [f"{path}.matchLabels"]
    unnamed = changed(prometheus(), "name", None)
    assert left_open(judge("OBS004", unnamed, monitor(release="monitoring"))) == ["name"]


def test_a_chart_that_is_not_known_may_bring_the_kind() -> None:
    odd = unknown(examples.release("odd", "odd", "1"), "chart")
    report = judge("OBS004", CLUSTER, odd, monitor())
    assert report.findings == ()
    assert {item.path for item in report.not_evaluated} == {"chart"}


def test_monitors_of_other_things_are_not_looked_at() -> None:
    spec = {"selector": {"matchLabels": {"app": "web"}}}
    web = examples.resource(tokens.SERVICE_MONITOR, "web", {"metadata": {"name": "web"}, "spec": spec})
    assert not_concerned(judge("OBS004", prometheus(), web))


def test_on_manifests_it_speaks_only_beside_a_prometheus() -> None:
    def on_manifests(*found: Resource) -> Report:
        options = Options(manifests_only=True)
        return evaluate(found, environment=Environment.PROD, rules=(BY_ID["OBS004"],), today=TODAY, options=options)

    assert not_concerned(on_manifests(monitor()))
    own = examples.resource(tokens.PROMETHEUS, "own", {"spec": {"serviceMonitorSelector": {"matchLabels": {"a": "b"}}}})
    assert "own selects a=b" in complaint(on_manifests(monitor(), own))


# --- a monitor that is switched off, and a release whose name nobody knows yet ----------------------------------------


def test_m07_an_exporter_whose_monitor_is_switched_off_is_scraped_by_nobody() -> None:
    off = exporter(serviceMonitor={"enabled": False})
    assert "makes no ServiceMonitor (serviceMonitor.enabled: false), and monitoring" in complaint(
        judge("OBS004", prometheus(), off)
    )
    assert not judge("OBS004", prometheus(), off, monitor(release="monitoring")).findings
    jobs = {"prometheusSpec": {"additionalScrapeConfigs": [{"job_name": "dcgm-exporter"}]}}
    assert not judge("OBS004", prometheus(prometheus=jobs), off).findings
    assert not judge("OBS004", off).findings


def test_m07_without_any_label_of_a_release_its_name_need_not_be_known() -> None:
    unnamed = changed(prometheus(), "name", None)
    assert "release=(the name of its release)" in complaint(judge("OBS004", unnamed, monitor(team="ml")))
    assert left_open(judge("OBS004", unnamed, monitor(release="monitoring"))) == ["name"]
