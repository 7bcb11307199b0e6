"""Reading PromQL: which series a query reads, and what it does with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.observability.alerts import recording
from eks_gpu.observability.rules import ALERTS
from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.monitoring.misleading import lies
from eks_gpu.planning.monitoring.promql.parser import PromqlError, parse
from eks_gpu.planning.monitoring.promql.tree import Aggregation, Binary, Call, Literal, Matcher, Selector, selectors
from eks_gpu.planning.monitoring.watching import Noticed, noticed


def series(query: str) -> list[str]:
    return sorted(selector.name for selector in selectors(parse(query)))


def rules(*queries: str, **recorded: str) -> RuleSet:
    """Return alerts on ``queries``, and rules that record series: ``gpu_busy="..."`` is ``gpu:busy``."""
    made = [PrometheusRule("u", "p", name.replace("_", ":"), False, query) for name, query in recorded.items()]
    return RuleSet([*made, *(PrometheusRule("u", "p", f"A{n}", True, query) for n, query in enumerate(queries))])


# --- the language ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('sum by (x) (rate(a{b="c}"}[5m] offset 1h)) / ignoring(z) group_left(q) d', ["a", "d"]),
        ('absent({__name__="a", b!~"x|y"})', ["a"]),
        ("max_over_time(a[1h:5m] @ end()) > bool 0", ["a"]),
        ("a and on (node) b unless c or d", ["a", "b", "c", "d"]),
        ("topk(5, a) without (b)", ["a"]),
        ("quantile_over_time(0.9, a[5m])", ["a"]),
        ("a offset -5m < 1e3 * 0x1f", ["a"]),
        ("# only a comment\na", ["a"]),
        ("vector(1) + time() - Inf", []),
        ('label_replace(a, "x", "$1", "y", "(.+)")', ["a"]),
        ("by + sum", ["by", "sum"]),
        ('{"a.b", l="x"}', ["a.b"]),
        ("a{`b`='c'} @ 1609746000", ["a"]),
        ("-a ^ -2", ["a"]),
        ("a:b:c", ["a:b:c"]),
    ],
)
def test_the_series_of_a_query_are_found(query: str, names: list[str]) -> None:
    assert series(query) == names


def test_operators_bind_as_in_prometheus() -> None:
    one, two, three = (Selector(name) for name in "abc")
    assert parse("a or b and c") == Binary("or", one, Binary("and", two, three))
    assert parse("a - b - c") == Binary("-", Binary("-", one, two), three)
    assert parse("a ^ b ^ c") == Binary("^", one, Binary("^", two, three))
    assert parse("a + b * c > a") == Binary(">", Binary("+", one, Binary("*", two, three)), one)
    assert parse("(a or b) unless c") == Binary("unless", Binary("or", one, two), three)


def test_matchers_labels_and_arguments_are_kept() -> None:
    assert parse('a{b=~"c|d", e!=""}') == Selector("a", (Matcher("b", "=~", "c|d"), Matcher("e", "!=", "")))
    assert parse("max by (x, y) (a)") == Aggregation("max", (Selector("a"),), ("x", "y"))
    assert parse("sum(a) without (x)") == Aggregation("sum", (Selector("a"),), ("x",), without=True)
    assert parse("Rate(a[5m] offset 1h)") == Call("rate", (Selector("a", shifted=True),))
    assert parse("1.5e3") == Literal("1.5e3")


@pytest.mark.parametrize(
    "query",
    ["", "a b", "sum(", "a{b}", "a{b=c}", "a[5m", "(a", "a +", "{{ $x }}", "a ~ b", "sum by (x", "a{1='x'}", ")"],
)
def test_what_is_no_query_is_refused(query: str) -> None:
    with pytest.raises(PromqlError):
        parse(query)


def test_a_query_nested_without_end_is_refused() -> None:
    with pytest.raises(PromqlError, match="nested too deeply"):
        parse("(" * 5000 + "a" + ")" * 5000)


_WORDS = st.sampled_from(
    ["a", "sum", "by", "(", ")", "{", "}", "[", "]", "5m", "==", "or", "unless", "-", ",", '"x"', "on", "offset", "@"]
)


@given(st.one_of(st.text(max_size=60), st.lists(_WORDS, max_size=30).map(" ".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except PromqlError:
        return
    assert text.strip()
    assert all(selector.name in text for selector in selectors(found))


_NAMES = ["one", "two:recorded", "DCGM_FI_DEV_GPU_TEMP"]
_QUERIES = st.recursive(
    st.sampled_from(_NAMES),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["or", "and", "+", "<", "unless on (x)"]), inner).map(" ".join),
        inner.map(lambda text: f"max by (x) ({text})"),
        inner.map(lambda text: f"({text})[1h:5m]"),
        inner.map(lambda text: f"abs({text}) offset 5m"),
    ),
    max_leaves=8,
)


@given(_QUERIES)
def test_every_series_that_is_written_is_found(query: str) -> None:
    assert series(query) == sorted(name for name in _NAMES for _ in range(query.count(name)))


# --- what is missing, through recording rules ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("x", {"x"}),
        ("a", set()),
        ("a / x", {"x"}),
        ("a or x", set()),
        ("x or y", {"x", "y"}),
        ("(x or a) and y", {"y"}),
        ("busy:gpu > 0", set()),
        ("lost:gpu > 0", {"y"}),
        ("lost:gpu or a", set()),
        ("loop:gpu", set()),
    ],
)
def test_m07_one_operand_of_or_is_enough_and_recorded_series_are_followed(query: str, missing: set[str]) -> None:
    found = rules(query, busy_gpu="x or a", lost_gpu="max(y)", loop_gpu="loop:gpu + a")
    assert found.missing(parse(query), lambda name: name == "a") == missing


def test_several_rules_that_record_one_series_are_alternatives() -> None:
    made = [PrometheusRule("u", "p", "r:r", False, query) for query in ("x", "a")]
    assert RuleSet(made).missing(parse("r:r"), lambda name: name == "a") == set()


# --- what alerts notice --------------------------------------------------------------------------------------------


def test_our_own_alerts_notice_everything_and_none_of_them_lies() -> None:
    made = (*recording.gpu_rules(), *recording.node_rules(), *recording.instance_type_rules())
    own = RuleSet(
        [
            *(PrometheusRule("u", "p", rule.record, False, rule.expr) for rule in made),
            *(PrometheusRule("u", "p", alert.name, True, alert.expr) for alert in ALERTS),
        ]
    )
    assert noticed(own) == set(Noticed)
    assert [lie for rule in own.rules for lie in lies(rule.query, alerts=rule.alerts, partitioned=True)] == []


ALLOCATABLE = 'kube_node_status_allocatable{resource="nvidia_com_gpu"}'


@pytest.mark.parametrize(
    ("query", "notices"),
    [
        ('max_over_time(DCGM_EXP_XID_ERRORS_COUNT{xid!~"13|31"}[5m]) > 0', {Noticed.XID}),
        ("DCGM_FI_DEV_XID_ERROR == 79", {Noticed.XID}),
        (f"{ALLOCATABLE} < {ALLOCATABLE} offset 1h", {Noticed.LOST}),
        (f"{ALLOCATABLE} < 8", {Noticed.LOST}),
        (f"kube_node_status_capacity{{resource='nvidia_com_gpu'}} - {ALLOCATABLE} > 0", {Noticed.LOST}),
        ("count by (node) (DCGM_FI_DEV_GPU_TEMP) < 8", {Noticed.LOST}),
        ("changes(count(DCGM_FI_DEV_GPU_TEMP)[1h:1m]) > 0", {Noticed.LOST}),
        ("DCGM_FI_DEV_GPU_TEMP offset 10m unless DCGM_FI_DEV_GPU_TEMP", {Noticed.LOST}),
        ('absent(up{job="dcgm-exporter"} == 1)', {Noticed.BLIND}),
        ("absent_over_time(DCGM_FI_DEV_GPU_TEMP[10m])", {Noticed.BLIND}),
        ('up{job=~"nvidia-dcgm-exporter"} == 0', {Noticed.BLIND}),
        (f'count({ALLOCATABLE} > 0) unless count(up{{job="dcgm-exporter"}})', {Noticed.BLIND}),
        ('kube_daemonset_status_number_unavailable{daemonset="dcgm-exporter"} > 0', {Noticed.BLIND}),
        ("absent(DCGM_FI_DEV_XID_ERRORS)", {Noticed.XID}),
        ("DCGM_FI_DEV_GPU_TEMP > 90", set()),
        (f"{ALLOCATABLE} > 0", set()),
        ('kube_node_status_allocatable{resource="cpu"} < 4', set()),
        ('up{job="node-exporter"} == 0', set()),
        ("count(up) < 3", set()),
        ("not a query", set()),
    ],
)
def test_m01_m06_what_an_alert_notices_is_told_by_its_query(query: str, notices: set[Noticed]) -> None:
    assert noticed(rules(query)) == notices


def test_what_only_a_recording_rule_sees_nobody_notices() -> None:
    assert noticed(rules(xid_last="DCGM_FI_DEV_XID_ERRORS > 0")) == set()
    assert noticed(rules("xid:last > 0", xid_last="DCGM_FI_DEV_XID_ERRORS")) == {Noticed.XID}
