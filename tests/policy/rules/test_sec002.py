"""SEC002: dashboards are not public."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import load_balancers
from eks_gpu.facts.versions import KUBE_PROMETHEUS_STACK
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

PUBLIC = {"type": "LoadBalancer"}
PRIVATE = {"type": "LoadBalancer", "annotations": {load_balancers.SCHEME: "internal"}}
SECRET = {"admin": {"existingSecret": "grafana-admin"}}
HIDDEN = "correct horse battery staple"


def stack(version: str | None = KUBE_PROMETHEUS_STACK.version, /, **values: object) -> Resource:
    return examples.release("monitoring", KUBE_PROMETHEUS_STACK.name, version, values=values)


def service(selector: dict[str, str], **spec: object) -> Resource:
    props = {"metadata": {"name": "front"}, "spec": {"type": "LoadBalancer", "selector": selector, **spec}}
    return examples.resource(tokens.SERVICE, "front", props)


@pytest.mark.parametrize("part", ["grafana", "prometheus", "alertmanager"])
def test_a_public_load_balancer_before_a_dashboard_fails(part: str) -> None:
    message = complaint(judge("SEC002", stack(**{part: {"service": PUBLIC} | SECRET})))
    assert message == (
        f"shows {part} to everybody ({part}.service): its load balancer faces the internet and has no source ranges"
    )


def test_the_defaults_of_the_chart_pass() -> None:
    assert passes(judge("SEC002", stack()))
    assert passes(judge("SEC002", stack(grafana={"adminPassword": "prom-operator"})))


@pytest.mark.parametrize(
    "more",
    [
        {"annotations": {load_balancers.SCHEME: "internal"}},
        {"annotations": {load_balancers.INTERNAL: "true"}},
        {"annotations": {load_balancers.INTERNAL: "0.0.0.0/0"}},
        {"annotations": {load_balancers.TYPE: "external"}},
        {"loadBalancerClass": "eks.amazonaws.com/nlb"},
        {"loadBalancerSourceRanges": ["10.0.0.0/8"]},
        {"annotations": {load_balancers.SOURCE_RANGES: "192.0.2.0/24, 198.51.100.7/32"}},
    ],
    ids=["scheme", "internal", "as it was once spelled", "controller", "auto mode", "ranges", "ranges by annotation"],
)
def test_internal_and_restricted_load_balancers_pass(more: dict[str, object]) -> None:
    assert passes(judge("SEC002", stack(grafana={"service": PUBLIC | more} | SECRET)))


@pytest.mark.parametrize(
    "more",
    [
        {"annotations": {load_balancers.SCHEME: "internet-facing", load_balancers.INTERNAL: "true"}},
        {"annotations": {load_balancers.INTERNAL: "false"}},
        {"loadBalancerClass": "service.k8s.aws/nlb", "annotations": {load_balancers.SCHEME: "internet-facing"}},
        {"loadBalancerSourceRanges": ["0.0.0.0/0"]},
        {"loadBalancerSourceRanges": ["10.0.0.0/8", "::/0"]},
        {"annotations": {load_balancers.SOURCE_RANGES: "0.0.0.0/0"}},
    ],
)
def test_what_says_internet_or_everybody_fails(more: dict[str, object]) -> None:
    assert "to everybody" in complaint(judge("SEC002", stack(grafana={"service": PUBLIC | more} | SECRET)))


def test_a_part_that_is_off_shows_nothing() -> None:
    assert passes(judge("SEC002", stack(grafana={"enabled": False, "service": PUBLIC, "adminPassword": "admin"})))


@pytest.mark.parametrize("password", ["admin", "prom-operator", HIDDEN])
def test_a_public_example_with_a_password_in_clear_fails_twice_and_never_shows_it(password: str) -> None:
    report = judge("SEC002", stack(grafana={"service": PUBLIC, "adminPassword": password}))
    assert [item.level for item in report.findings] == [Level.MANDATORY] * 2
    assert HIDDEN not in "".join(report.lines())
    assert "password" in "".join(messages(report)["monitoring"])


def test_a_known_password_behind_a_private_load_balancer_fails_and_one_of_ones_own_is_advice() -> None:
    known = judge("SEC002", stack(grafana={"service": PRIVATE, "adminPassword": "prom-operator"}))
    assert complaint(known).endswith("an administrator's password that everybody knows (grafana.adminPassword)")
    assert known.findings[0].level is Level.MANDATORY
    own = judge("SEC002", stack(grafana={"service": PRIVATE, "adminPassword": HIDDEN}))
    assert own.findings[0].level is Level.ADVISORY
    assert HIDDEN not in own.findings[0].message


def test_a_password_matters_behind_an_ingress_too() -> None:
    def behind(**values: object) -> Resource:
        return stack(grafana={"ingress": {"enabled": True}, **values})

    known = judge("SEC002", behind(adminPassword="admin"))
    assert complaint(known).startswith("has an Ingress before Grafana and an administrator's password that everybody")
    assert known.findings[0].level is Level.MANDATORY
    own = judge("SEC002", behind(adminPassword=HIDDEN))
    assert own.findings[0].level is Level.ADVISORY
    assert HIDDEN not in "".join(own.lines())
    assert passes(judge("SEC002", behind(**SECRET)))
    assert passes(judge("SEC002", behind(adminPassword="admin", ingress={"enabled": False})))
    assert passes(judge("SEC002", behind(adminPassword="admin", enabled=False)))


def test_versions_of_the_chart_that_gave_a_known_password_fail_where_none_is_set() -> None:
    assert "everybody knows" in complaint(judge("SEC002", stack("78.5.0", grafana={"service": PRIVATE})))
    assert passes(judge("SEC002", stack("79.0.0", grafana={"service": PRIVATE})))
    assert passes(judge("SEC002", stack("79", grafana={"service": PRIVATE})))
    assert passes(judge("SEC002", stack(None, grafana={"service": PRIVATE})))
    assert passes(judge("SEC002", stack("78.5.0", grafana={"service": PRIVATE} | SECRET)))


def test_the_chart_of_grafana_alone_is_read_too() -> None:
    report = judge("SEC002", examples.release("grafana", "grafana", "10.1.0", values={"service": PUBLIC}))
    assert "shows its dashboard to everybody (service)" in complaint(report)


def test_services_are_known_by_selector_or_name() -> None:
    assert "shows grafana" in complaint(judge("SEC002", service({"app.kubernetes.io/name": "grafana"})))
    assert "shows prometheus" in complaint(judge("SEC002", service({"app": "prometheus-server"})))
    assert not_concerned(judge("SEC002", service({"app": "shop"})))
    unnamed = changed(service({"tier": "front"}), "metadata.name", None)
    assert not_concerned(judge("SEC002", unnamed))
    assert "shows grafana" in complaint(judge("SEC002", replace(unnamed, name="grafana")))
    assert not_concerned(judge("SEC002", replace(service({"tier": "front"}), name="grafana")))
    assert not_concerned(judge("SEC002", service({"app": "grafana"}, type="ClusterIP")))


def test_a_service_before_a_dashboard_may_be_private() -> None:
    private = service({"app": "grafana"}, loadBalancerSourceRanges=["10.0.0.0/8"])
    assert passes(judge("SEC002", private))
    open_to_all = service({"app": "alertmanager"}, loadBalancerSourceRanges=["::/0"])
    assert "admit everybody (::/0)" in complaint(judge("SEC002", open_to_all))


def test_a_chart_of_prometheus_alone_has_no_password() -> None:
    alone = examples.release(
        "prometheus", "prometheus", "27.0.0", values={"server": {"service": {"type": "ClusterIP"}}}
    )
    assert passes(judge("SEC002", alone))
    values = {"server": {"service": PUBLIC}, "alertmanager": {"service": PUBLIC}}
    shown = messages(judge("SEC002", examples.release("prometheus", "prometheus", "27.0.0", values=values)))
    assert len(shown["prometheus"]) == 2


def test_unknown_values_are_left_open() -> None:
    assert left_open(judge("SEC002", stack(grafana={"service": {"type": UNKNOWN}, **SECRET}))) == [
        "values.grafana.service.type"
    ]
    hidden = stack(grafana={"service": PRIVATE, "adminPassword": UNKNOWN})
    assert left_open(judge("SEC002", hidden)) == ["values.grafana.adminPassword"]


def test_security_groups_of_ones_own_are_left_open() -> None:
    own = PUBLIC | {"annotations": {load_balancers.SECURITY_GROUPS: "sg-1"}}
    assert len(left_open(judge("SEC002", stack(prometheus={"service": own})))) == 1


def test_other_charts_are_not_concerned() -> None:
    assert not_concerned(judge("SEC002", examples.release("dns", "external-dns", "1.19.0", values={"service": PUBLIC})))
