"""OBS003: no expression known to lie."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Environment
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown
from tests.support.watching import alerts, config_map, exporter, groups, operator, prometheus, recorded, rule_file

_LABELS = {**labels.pool_labels("a100", "inference"), labels.MIG_CONFIG: "all-1g.5gb"}
PARTITIONED = examples.node_group(instanceTypes=["p4d.24xlarge"], labels=_LABELS)
WHOLE = examples.node_pool()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0", "takes increase() of the last XID: it never fires"),
        ("sum by (node) (rate(DCGM_FI_DEV_XID_ERRORS[5m])) > 0", "takes rate() of the last XID"),
        ("changes(DCGM_FI_DEV_XID_ERRORS[1h]) > 0", "takes changes() of the last XID"),
        ("delta(DCGM_FI_DEV_XID_ERROR[5m]) != 0", "takes delta() of the last XID"),
        ("absent(DCGM_FI_DEV_XID_ERRORS)", "takes absent() of the last XID: it always fires"),
        ('absent_over_time(DCGM_FI_DEV_XID_ERRORS{gpu="0"}[10m])', "takes absent_over_time() of the last XID"),
        ("DCGM_FI_DEV_XID_ERRORS > 0", "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS != 0", "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS >= 1", "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS > 1", "fires on any last XID, for ever"),
        ("1 <= DCGM_FI_DEV_XID_ERRORS", "fires on any last XID, for ever"),
        ('DCGM_FI_DEV_XID_ERRORS{gpu="0"} > 0', "fires on any last XID, for ever"),
        ('DCGM_FI_DEV_XID_ERRORS{err_code!~""} > 0', "fires on any last XID, for ever"),
        ("topk(3, DCGM_FI_DEV_XID_ERRORS) > 0", "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS > 0 and DCGM_FI_DEV_GPU_TEMP > 85", "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS > 0 and DCGM_FI_DEV_XID_ERRORS * 2 > 0", "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS > 0 and DCGM_FI_DEV_XID_ERRORS == DCGM_FI_DEV_GPU_UTIL", "fires on any last XID"),
        ("0 < max by (gpu) (max_over_time(DCGM_FI_DEV_XID_ERRORS[5m]))", "fires on any last XID, for ever"),
        ('DCGM_FI_DEV_XID_ERRORS{err_code!=""} > 0', "fires on any last XID, for ever"),
        ('DCGM_FI_DEV_XID_ERRORS{err_code!="0"} > 0', "fires on any last XID, for ever"),
        ("DCGM_FI_DEV_XID_ERRORS", "fires on any last XID, for ever"),
        ("max by (gpu) (DCGM_FI_DEV_XID_ERRORS)", "fires on any last XID, for ever"),
        ("rate(DCGM_FI_PROF_PCIE_TX_BYTES[5m]) > 1e9", "takes rate() of DCGM_FI_PROF_PCIE_TX_BYTES, which is in bytes"),
        ("sum(irate(DCGM_FI_PROF_PCIE_RX_BYTES[5m])) > 1e9", "takes irate() of DCGM_FI_PROF_PCIE_RX_BYTES"),
    ],
)
def test_m01_m07_what_never_fires_or_always_does_fails(query: str, says: str) -> None:
    report = judge("OBS003", operator(), alerts(query), environment=Environment.DEV)
    assert complaint(report).startswith(f"alert Alert0 {says}")
    assert report.refused


@pytest.mark.parametrize(
    "query",
    [
        'DCGM_FI_DEV_XID_ERRORS{err_code=~"48|79|95"} > 0',
        'DCGM_FI_DEV_XID_ERRORS{err_code!~"13|31|43|45"} > 0',
        'DCGM_FI_DEV_XID_ERRORS{err_code!="31"} > 0',
        'DCGM_FI_DEV_XID_ERRORS{err_code=~"48|79"}',
        "DCGM_FI_DEV_XID_ERRORS == 79",
        "DCGM_FI_DEV_XID_ERRORS == 0",
        "DCGM_FI_DEV_XID_ERRORS > DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_XID_ERRORS > 0 and DCGM_FI_DEV_XID_ERRORS != 31",
        "DCGM_FI_DEV_XID_ERRORS == 48 or DCGM_FI_DEV_XID_ERRORS == 79",
        'max by (gpu, xid) (max_over_time(DCGM_EXP_XID_ERRORS_COUNT{xid!="",xid!~"13|31|43|45"}[5m])) > 0',
        'sum by (node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{xid=~"48|63|64|74|79"}) > 0',
        "increase(DCGM_EXP_XID_ERRORS_TOTAL[10m]) > 0",
        "avg_over_time(DCGM_FI_PROF_PCIE_TX_BYTES[5m]) > 2e10",
        "rate(DCGM_FI_PROF_PCIE_TX_BYTES_TOTAL[5m]) > 2e10",
        "rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]) > 0.1",
        "absent(DCGM_FI_DEV_GPU_TEMP)",
        'absent(up{job="dcgm-exporter"} == 1)',
        "DCGM_FI_DEV_GPU_TEMP > 85",
        "DCGM_FI_DEV_GPU_UTIL < 5 and DCGM_FI_DEV_FB_USED > 100",
        "sum by (node) (DCGM_FI_DEV_POWER_USAGE) > 3000",
        "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) * 100 > 95",
        "increase(DCGM_FI_DEV_THERMAL_VIOLATION[5m]) > 0",
        "count(DCGM_FI_DEV_GPU_TEMP) < 8",
    ],
)
def test_sound_queries_of_published_alert_sets_pass(query: str) -> None:
    assert passes(judge("OBS003", operator(), WHOLE, alerts(query)))


# --- only where it matters --------------------------------------------------------------------------------------------


def test_a_rule_that_records_may_leave_the_codes_to_its_readers() -> None:
    made = recorded("gpu:last_xid", "group by (gpu, err_code) (DCGM_FI_DEV_XID_ERRORS > 0)")
    assert passes(judge("OBS003", operator(), rule_file([*made, *groups('gpu:last_xid{err_code="79"} > 0')])))


def test_m01_a_rule_that_records_an_increase_fails_as_well() -> None:
    made = recorded("gpu:xids", "increase(DCGM_FI_DEV_XID_ERRORS[5m])")
    assert complaint(judge("OBS003", operator(), rule_file(made))).startswith(
        "recording rule gpu:xids takes increase()"
    )


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("sum(DCGM_FI_DEV_POWER_USAGE) > 3000", "sums DCGM_FI_DEV_POWER_USAGE, which each MIG instance repeats"),
        ("avg_over_time(DCGM_FI_DEV_GPU_UTIL[1h]) < 5", "tells idleness by DCGM_FI_DEV_GPU_UTIL"),
    ],
)
def test_m05_figures_of_whole_gpus_fail_where_gpus_are_partitioned(query: str, says: str) -> None:
    assert says in complaint(judge("OBS003", operator(), PARTITIONED, alerts(query)))
    assert passes(judge("OBS003", operator(), WHOLE, alerts(query)))
    all_whole = changed(PARTITIONED, "labels", {**_LABELS, labels.MIG_CONFIG: "all-disabled"})
    assert passes(judge("OBS003", operator(), all_whole, alerts(query)))


@pytest.mark.parametrize(
    "query",
    [
        "sum(max by (UUID) (DCGM_FI_DEV_POWER_USAGE)) > 3000",
        "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[1h]) < 0.05",
        "(DCGM_FI_PROF_GR_ENGINE_ACTIVE or DCGM_FI_DEV_GPU_UTIL / 100) < 0.05",
        "DCGM_FI_DEV_GPU_UTIL > 95",
        "5 < DCGM_FI_DEV_GPU_TEMP",
    ],
)
def test_m05_what_is_right_under_mig_passes(query: str) -> None:
    assert passes(judge("OBS003", operator(), PARTITIONED, alerts(query)))


@pytest.mark.parametrize(
    "query", ["DCGM_FI_DEV_GPU_UTIL <= 5", "(DCGM_FI_DEV_GPU_UTIL_RATIO or DCGM_FI_DEV_GPU_UTIL) < 5"]
)
def test_m05_idleness_may_be_asked_in_several_ways(query: str) -> None:
    assert "tells idleness by DCGM_FI_DEV_GPU_UTIL" in complaint(
        judge("OBS003", operator(), PARTITIONED, alerts(query))
    )


def test_labels_of_pools_that_are_not_known_accuse_nobody() -> None:
    group = unknown(PARTITIONED, "labels")
    assert passes(judge("OBS003", operator(), group, alerts("DCGM_FI_DEV_GPU_UTIL < 5")))


# --- the memory's total ----------------------------------------------------------------------------------------

FULL = "DCGM_FI_DEV_FB_USED / DCGM_FI_DEV_FB_TOTAL > 0.95"


def test_m07_the_memorys_total_fails_unless_a_list_exports_it() -> None:
    said = complaint(judge("OBS003", operator(), alerts(FULL)))
    assert said == "alert Alert0 reads DCGM_FI_DEV_FB_TOTAL, which is in no default list: it never fires"
    own = exporter(customMetrics="DCGM_FI_DEV_FB_TOTAL, gauge, Framebuffer memory (in MiB).")
    assert passes(judge("OBS003", own, alerts(FULL)))


def test_the_total_in_a_label_or_in_a_query_that_cannot_be_read_accuses_nobody() -> None:
    assert passes(judge("OBS003", operator(), alerts('DCGM_FI_DEV_FB_USED{note="DCGM_FI_DEV_FB_TOTAL"} > 1')))
    assert passes(judge("OBS003", operator(), alerts("DCGM_FI_DEV_FB_TOTAL >")))


def test_the_total_is_left_open_where_nobody_knows_what_is_exported() -> None:
    total = alerts("DCGM_FI_DEV_FB_USED / DCGM_FI_DEV_FB_TOTAL > 0.9")
    its_own = exporter(arguments=["-m", "monitoring:own-list"])
    assert left_open(judge("OBS003", its_own, total)) == ["spec.groups[0].rules[0]"]
    assert left_open(judge("OBS003", operator(enabled=False), total)) == ["spec.groups[0].rules[0]"]


def test_m07_the_hosts_old_label_beside_other_series_and_other_exporters() -> None:
    joined = "DCGM_FI_DEV_GPU_TEMP * on (node) group_left kube_node_info > 90"
    said = alerts(joined, summary="hot: {{ $labels.Hostname }}")
    assert "says $labels.Hostname" in complaint(judge("OBS003", operator(), said))
    assert "says $labels.Hostname" in complaint(judge("OBS003", operator(), exporter("4.5.0"), said))
    broken = alerts("DCGM_FI_DEV_GPU_TEMP >", summary="hot: {{ $labels.Hostname }}")
    assert passes(judge("OBS003", operator(), broken))


def test_m07_a_query_for_the_absence_of_the_total_always_fires() -> None:
    said = complaint(judge("OBS003", operator(), alerts("absent(DCGM_FI_DEV_FB_TOTAL)")))
    assert said.endswith("which is in no default list: it always fires")


def test_without_an_exporter_in_the_stack_the_total_is_left_open() -> None:
    assert left_open(judge("OBS003", alerts(FULL))) == ["spec.groups[0].rules[0]"]


# --- the label of the host -------------------------------------------------------------------------------------

HOT = "DCGM_FI_DEV_GPU_TEMP > 90"


def test_m07_a_text_that_names_the_host_by_its_old_label_names_nobody() -> None:
    spoken = alerts(HOT, summary="GPU {{ $labels.gpu }} of {{ $labels.Hostname }} is hot")
    said = complaint(judge("OBS003", operator(), spoken))
    assert said.startswith("alert Alert0 says $labels.Hostname, which exporters since 4.8.3 call hostname")
    assert passes(judge("OBS003", exporter("4.8.2"), spoken))
    assert complaint(judge("OBS003", exporter("4.8.3"), spoken)) == said


@pytest.mark.parametrize(
    ("query", "summary"),
    [
        (HOT, "{{ $labels.hostname }}"),
        (HOT, "{{ $labels.node }}"),
        ('label_replace(DCGM_FI_DEV_GPU_TEMP, "Hostname", "$1", "node", "(.+)") > 90', "{{ $labels.Hostname }}"),
        ("node_load1 > 9", "{{ $labels.Hostname }}"),
    ],
)
def test_other_texts_pass(query: str, summary: str) -> None:
    assert passes(judge("OBS003", operator(), alerts(query, summary=summary)))


# --- where rules stand -----------------------------------------------------------------------------------------------


def test_m07_rules_in_values_and_texts_are_read_as_well() -> None:
    lie = "increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0"
    in_values = prometheus(additionalPrometheusRulesMap={"gpu": {"groups": groups(lie)}})
    in_map = config_map("rules", rules__yml=f"groups:\n- name: gpu\n  rules:\n  - alert: Xid\n    expr: {lie}\n")
    found = messages(judge("OBS003", operator(), in_values, in_map))
    assert set(found) == {"monitoring", "rules"}


def test_each_rule_that_lies_is_a_finding() -> None:
    lies = ("increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0", "DCGM_FI_DEV_XID_ERRORS > 0", HOT)
    assert len(messages(judge("OBS003", operator(), alerts(*lies)))["alerts"]) == 2


@pytest.mark.parametrize("half", [{"alert": "NoQuery"}, {"expr": "increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0"}, {}])
def test_half_a_rule_is_none_and_the_others_still_count(half: dict[str, str]) -> None:
    lie = {"alert": "Lie", "expr": "increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0"}
    report = judge("OBS003", operator(), rule_file([{"name": "gpu", "rules": [half, lie]}]))
    assert complaint(report).startswith("alert Lie takes increase()")


def test_unknown_rules_are_left_open() -> None:
    assert left_open(judge("OBS003", operator(), unknown(alerts(HOT), "spec.groups"))) == ["spec.groups"]


def test_a_stack_without_rules_is_not_concerned() -> None:
    assert not_concerned(judge("OBS003", operator(), prometheus(), WHOLE))
