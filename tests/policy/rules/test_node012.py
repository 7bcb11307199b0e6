"""NODE012: interruptions reach Karpenter."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

import pytest

from eks_gpu.facts import labels
from eks_gpu.facts.interruptions import EVENTS
from eks_gpu.facts.versions import KARPENTER
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

QUEUE = examples.resource(tokens.QUEUE, "interruptions", {"messageRetentionSeconds": 300})
SPOT = examples.training_pool(capacity=("spot", "on-demand"))
RESERVED = examples.training_pool("blocks", capacity=("reserved",))


def karpenter(queue: object = UNKNOWN, **values: object) -> Resource:
    """Return Karpenter's release, its queue's name computed from the queue."""
    said = {"settings": {"clusterName": "ml", "interruptionQueue": queue}, **values}
    chart = examples.release("karpenter", KARPENTER.name, KARPENTER.version, values=said)
    return dataclasses.replace(chart, property_dependencies={"values": frozenset({QUEUE.urn})})


def listening(key: str, pattern: object = None, **rule: object) -> tuple[Resource, Resource]:
    """Return a rule and its target, as a first preview shows them: ids and ARNs are not known."""
    text = json.dumps(EVENTS[key].pattern()) if pattern is None else pattern
    made = examples.resource(tokens.EVENT_RULE, key, {"eventPattern": text, **rule})
    aim = {"rule": UNKNOWN, "arn": UNKNOWN}
    return made, examples.resource(tokens.EVENT_TARGET, f"{key}-target", aim, rule=(made,), arn=(QUEUE,))


def hearing(*without: str, **instead: tuple[Resource, ...]) -> tuple[Resource, ...]:
    """Return a rule for each event but some."""
    pairs = (listening(key) for key in EVENTS if key not in without)
    return (QUEUE, *(item for pair in pairs for item in pair), *(item for pair in instead.values() for item in pair))


def test_n09_five_rules_and_a_queue_pass() -> None:
    assert passes(judge("NODE012", SPOT, karpenter(), *hearing()))


@pytest.mark.parametrize("queue", ["", None])
def test_n09_without_a_queue_nothing_is_heard(queue: object) -> None:
    report = judge("NODE012", SPOT, karpenter(queue), *hearing())
    message = complaint(report)
    assert messages(report).keys() == {"karpenter"}
    assert message.startswith("settings.interruptionQueue is empty although pools buy spot capacity")


@pytest.mark.parametrize("key", ["scheduled-change", "spot-interruption", "rebalance", "state-change"])
def test_n09_each_event_needs_a_rule(key: str) -> None:
    report = judge("NODE012", SPOT, karpenter(), *hearing(key))
    assert f"no EventBridge rule sends {EVENTS[key].source}'s {EVENTS[key].detail_type!r}" in complaint(report)
    assert report.findings[0].level is Level.MANDATORY
    assert json.dumps(EVENTS[key].pattern()) in report.findings[0].fix


def test_n09_the_reservations_event_is_advice_until_a_pool_buys_reserved() -> None:
    (finding,) = judge("NODE012", SPOT, karpenter(), *hearing("reservation-interruption")).findings
    assert finding.level is Level.ADVISORY
    (finding,) = judge("NODE012", RESERVED, karpenter(), *hearing("reservation-interruption")).findings
    assert finding.level is Level.MANDATORY
    (finding,) = judge("NODE012", RESERVED, karpenter(), *hearing("spot-interruption")).findings
    assert finding.level is Level.ADVISORY


def test_n09_one_rule_may_listen_for_several_events() -> None:
    pattern = {"source": ["aws.ec2"], "detail-type": [EVENTS[key].detail_type for key in EVENTS]}
    wide = listening("state-change", json.dumps(pattern))
    assert passes(judge("NODE012", SPOT, karpenter(), QUEUE, *listening("scheduled-change"), *wide))


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.ec2"]},
        {"source": ["aws.ec2"], "detail-type": [{"prefix": "EC2 "}]},
        {"source": [{"prefix": "aws."}]},
        {"source": [{"suffix": ".ec2"}], "detail-type": [{"wildcard": "EC2 *"}]},
        {"source": [{"equals-ignore-case": "AWS.EC2"}], "detail-type": [{"anything-but": "AWS Health Event"}]},
        {"source": [{"anything-but": ["aws.s3", "aws.sqs"]}]},
    ],
)
def test_n09_a_rule_that_asks_for_less_hears_more(pattern: Mapping[str, object]) -> None:
    wide = listening("state-change", json.dumps(pattern))
    assert passes(judge("NODE012", SPOT, karpenter(), QUEUE, *listening("scheduled-change"), *wide))


@pytest.mark.parametrize(
    "rule",
    [
        {"state": "DISABLED"},
        {"isEnabled": False},
        {"eventBusName": "custom"},
        {"eventBusName": "arn:aws:events:us-east-1:123456789012:event-bus/custom"},
        {"pattern": json.dumps({"source": [{"anything-but": "aws.ec2"}]})},
        {"pattern": json.dumps({"detail-type": [{"anything-but": [EVENTS["rebalance"].detail_type]}]})},
        {"pattern": json.dumps({"detail-type": [{"prefix": "AWS"}, {"suffix": "Event"}, {"wildcard": "*Spot*"}]})},
        {"pattern": json.dumps({"detail-type": [{"equals-ignore-case": "EC2 Spot"}, {"numeric": [">", 1]}]})},
        {"pattern": "no JSON"},
        {"pattern": json.dumps({"source": ["aws.ec2"], "detail-type": ["EC2 Spot"]})},
    ],
)
def test_n09_a_rule_that_is_off_or_listens_for_something_else_is_none(rule: dict[str, object]) -> None:
    deaf = listening("rebalance", **rule)
    assert "Rebalance" in complaint(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"), *deaf))


@pytest.mark.parametrize("bus", ["default", "arn:aws:events:us-east-1:123456789012:event-bus/default"])
def test_n09_the_default_bus_may_be_named(bus: str) -> None:
    assert passes(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"), *listening("rebalance", eventBusName=bus)))


def test_n09_a_rule_without_a_target_is_none() -> None:
    rule, _ = listening("rebalance")
    assert "Rebalance" in complaint(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"), rule))
    elsewhere = examples.resource(tokens.QUEUE, "audit", {})
    target = examples.resource(tokens.EVENT_TARGET, "t", {}, rule=(rule,), arn=(elsewhere,))
    assert "Rebalance" in complaint(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"), rule, elsewhere, target))


def test_n09_a_target_of_a_rule_that_is_elsewhere_tells_nothing() -> None:
    target = examples.resource(tokens.EVENT_TARGET, "t", {"rule": "made-elsewhere", "arn": UNKNOWN}, arn=(QUEUE,))
    assert "Rebalance" in complaint(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"), target))


def test_n09_names_and_arns_that_are_written_out_join_as_well() -> None:
    queue = changed(QUEUE, "name", "karpenter-ml")
    written = []
    for key in EVENTS:
        rule, target = listening(key, name=key)
        arn = "arn:aws:sqs:us-east-1:123456789012:karpenter-ml"
        written += [rule, examples.resource(tokens.EVENT_TARGET, target.name, {"rule": key, "arn": arn})]
    chart = dataclasses.replace(karpenter("karpenter-ml"), property_dependencies={})
    assert passes(judge("NODE012", SPOT, chart, queue, *written))


def test_n09_a_pool_that_does_not_say_may_buy_spot() -> None:
    silent = changed(SPOT, "spec.template.spec.requirements", [])
    assert "buy spot capacity" in complaint(judge("NODE012", silent, karpenter("")))


def test_n09_a_pool_that_excludes_spot_buys_reserved_if_its_class_selects_some() -> None:
    other = {"key": labels.CAPACITY_TYPE, "operator": "NotIn", "values": ["spot"]}
    pool = changed(SPOT, "spec.template.spec.requirements.1", other)
    assert not_concerned(judge("NODE012", pool, examples.node_class("p4d"), karpenter("")))
    selecting = examples.node_class("p4d", capacityReservationSelectorTerms=[{"tags": {"team": "a"}}])
    assert "buy reserved capacity" in complaint(judge("NODE012", pool, selecting, karpenter("")))


def test_n09_the_chart_before_0_33_names_its_queue_elsewhere() -> None:
    old = karpenter(None, settings={"aws": {"interruptionQueueName": UNKNOWN}})
    assert passes(judge("NODE012", SPOT, old, *hearing()))


def test_pools_that_buy_on_demand_only_and_auto_mode_are_not_concerned() -> None:
    assert not_concerned(judge("NODE012", examples.training_pool(), karpenter("")))
    auto = changed(SPOT, "spec.template.spec.nodeClassRef.group", labels.EKS_AUTO_DOMAIN)
    assert not_concerned(judge("NODE012", auto))
    assert not_concerned(judge("NODE012", karpenter("")))


def test_without_karpenters_release_it_is_left_open() -> None:
    assert left_open(judge("NODE012", SPOT)) == ["settings.interruptionQueue"]


def test_a_queue_that_is_elsewhere_leaves_it_open() -> None:
    chart = dataclasses.replace(karpenter("made-elsewhere"), property_dependencies={})
    assert left_open(judge("NODE012", SPOT, chart)) == ["values.settings.interruptionQueue"]


def test_values_in_files_leave_it_open() -> None:
    files = changed(changed(karpenter(), "values", None), "valueYamlFiles", ["karpenter.yaml"])
    assert left_open(judge("NODE012", SPOT, files)) == ["values.settings"]
    emptied = changed(karpenter(""), "valueYamlFiles", ["karpenter.yaml"])
    assert "interruptionQueue is empty" in complaint(judge("NODE012", SPOT, emptied))


def test_a_pattern_that_is_not_known_leaves_it_open() -> None:
    deaf = listening("rebalance", UNKNOWN)
    assert left_open(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"), *deaf)) == ["eventPattern"]


def test_values_or_requirements_that_are_not_known_leave_it_open() -> None:
    assert left_open(judge("NODE012", SPOT, unknown(karpenter(), "values"), *hearing())) == ["values"]
    place = "spec.template.spec.requirements"
    assert left_open(judge("NODE012", unknown(SPOT, place), karpenter(), *hearing())) == [place]


def test_a_missing_rule_is_reported_at_the_release() -> None:
    assert messages(judge("NODE012", SPOT, karpenter(), *hearing("rebalance"))).keys() == {"karpenter"}
