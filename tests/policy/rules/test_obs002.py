"""OBS002: alerts read what is exported."""

from __future__ import annotations

import pytest

from eks_gpu.facts import metrics
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown
from tests.support.watching import alerts, config_map, exporter, groups, operator, prometheus, recorded, rule_file

FULL = "DCGM_FI_DEV_FB_USED / DCGM_FI_DEV_FB_TOTAL > 0.95"
SBE = "increase(DCGM_FI_DEV_ECC_SBE_AGG_TOTAL[1h]) > 100"
TEMPERATURE = "DCGM_FI_DEV_GPU_TEMP > 90"
RENAMED = "DCGM_FI_DEV_GPU_TEMP_CELSIUS > 90"
ROW = "DCGM_FI_DEV_GPU_TEMP, gauge, temperature\n"


# --- the worked examples -----------------------------------------------------------------------------------------


def test_m07_memory_over_its_total_fails_on_the_default_list() -> None:
    report = judge("OBS002", operator(), alerts(FULL))
    assert complaint(report) == (
        "alert Alert0 reads DCGM_FI_DEV_FB_TOTAL, which gpu-operator does not export: it never fires"
    )
    assert report.findings[0].fix == ("add a row to the exporter's list: DCGM_FI_DEV_FB_TOTAL, gauge, what it says")


def test_m02_ecc_errors_pass_only_with_a_row_of_ones_own() -> None:
    assert "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL" in complaint(judge("OBS002", exporter(), alerts(SBE)))
    own = exporter(customMetrics=ROW + metrics.ECC_SBE_AGGREGATE.row())
    assert passes(judge("OBS002", own, alerts(SBE)))


# --- which list ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        TEMPERATURE,
        "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) > 0.95",
        'DCGM_FI_DEV_XID_ERRORS{err_code=~"48|79"} > 0',
        "rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]) > 0.1",
        "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[1h]) < 0.05",
        "DCGM_FI_DEV_ROW_REMAP_FAILURE > 0",
        "up{job='dcgm-exporter'} == 0",
    ],
)
def test_m07_what_every_default_list_has_passes(query: str) -> None:
    assert passes(judge("OBS002", operator(), alerts(query)))
    assert passes(judge("OBS002", exporter(), alerts(query)))


def test_m07_the_charts_own_list_lacks_a_row_of_the_operators() -> None:
    reserved = "DCGM_FI_DEV_FB_RESERVED > 0"
    assert passes(judge("OBS002", operator(), alerts(reserved)))
    assert "DCGM_FI_DEV_FB_RESERVED" in complaint(judge("OBS002", exporter(), alerts(reserved)))


def test_m07_a_list_of_ones_own_replaces_the_default() -> None:
    own = exporter(customMetrics=ROW)
    assert passes(judge("OBS002", own, alerts(TEMPERATURE)))
    assert "DCGM_FI_DEV_GPU_UTIL" in complaint(judge("OBS002", own, alerts("DCGM_FI_DEV_GPU_UTIL < 5")))


def test_m07_the_charts_arguments_may_name_another_list() -> None:
    rows = "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL, counter, errors\n"
    wanted = alerts("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0")
    mapped = exporter(arguments=["-m", "monitoring:own-list"])
    assert passes(judge("OBS002", mapped, wanted, config_map("own-list", metrics=rows)))
    assert left_open(judge("OBS002", mapped, wanted)) == ["expr"]
    elsewhere = exporter(arguments=["--collectors=/etc/own/list.csv"])
    assert left_open(judge("OBS002", elsewhere, wanted)) == ["expr"]
    usual = exporter(arguments=["-f", "/etc/dcgm-exporter/default-counters.csv"])
    assert "which dcgm does not export" in complaint(judge("OBS002", usual, wanted))


def test_m07_exporter_4_9_calls_its_series_by_other_names() -> None:
    report = judge("OBS002", exporter("4.9.0"), alerts(TEMPERATURE))
    assert "DCGM_FI_DEV_GPU_TEMP, which dcgm does not export" in complaint(report)
    assert report.findings[0].fix.startswith("read DCGM_FI_DEV_GPU_TEMP_CELSIUS, as this exporter calls it")
    assert passes(judge("OBS002", exporter("4.9.0"), alerts(RENAMED)))
    assert "DCGM_FI_DEV_GPU_TEMP_CELSIUS" in complaint(judge("OBS002", exporter("4.8.4"), alerts(RENAMED)))
    assert passes(judge("OBS002", exporter("4.9.0", customMetrics=ROW), alerts(TEMPERATURE)))


def test_m07_an_image_of_ones_own_decides_the_version() -> None:
    newer = exporter("4.8.2", image={"tag": "4.7.0-4.9.0-distroless"})
    assert passes(judge("OBS002", newer, alerts(RENAMED)))


@pytest.mark.parametrize(
    ("query", "effect"),
    [
        ("absent(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL)", "it always fires"),
        ("absent_over_time(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])", "it always fires"),
        ("DCGM_FI_DEV_GPU_UTIL > 1 unless DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0", "it always fires"),
        ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL unless DCGM_FI_DEV_GPU_UTIL", "it never fires"),
        ("absent(DCGM_FI_DEV_GPU_UTIL) and DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "it never fires"),
    ],
)
def test_m07_what_a_missing_series_does_is_said(query: str, effect: str) -> None:
    said = complaint(judge("OBS002", operator(), alerts(query)))
    assert said == f"alert Alert0 reads DCGM_FI_DEV_ECC_SBE_VOL_TOTAL, which gpu-operator does not export: {effect}"


def test_m07_one_operand_of_or_suffices() -> None:
    assert passes(judge("OBS002", exporter("4.9.0"), alerts(f"({TEMPERATURE}) or ({RENAMED})")))


def test_m07_recorded_series_are_followed() -> None:
    sound = rule_file([*recorded("gpu:temp", "DCGM_FI_DEV_GPU_TEMP"), *groups("gpu:temp > 90")])
    hollow = rule_file([*recorded("gpu:full", FULL), *groups("gpu:full > 0")])
    assert passes(judge("OBS002", operator(), sound))
    assert complaint(judge("OBS002", operator(), hollow)).startswith("alert Alert0 reads DCGM_FI_DEV_FB_TOTAL")


def test_a_recording_rule_that_no_alert_reads_is_judged_by_itself() -> None:
    report = judge("OBS002", operator(), rule_file(recorded("gpu:full", FULL)))
    assert complaint(report).startswith("recording rule gpu:full reads DCGM_FI_DEV_FB_TOTAL")


def test_several_alerts_on_one_series_are_one_finding() -> None:
    report = judge("OBS002", operator(), alerts(*(f"DCGM_FI_DEV_FB_TOTAL > {n}" for n in range(5))))
    assert complaint(report).startswith("alert Alert0, alert Alert1, alert Alert2 and 2 more read DCGM_FI_DEV_FB_TOTAL")


def test_m07_the_operators_list_is_found_in_its_map_or_values() -> None:
    named = operator(config={"name": "counters"})
    mine = config_map("counters", **{"dcgm-metrics__csv": ROW})
    assert passes(judge("OBS002", named, mine, alerts(TEMPERATURE)))
    assert "DCGM_FI_DEV_GPU_UTIL" in complaint(judge("OBS002", named, mine, alerts("DCGM_FI_DEV_GPU_UTIL < 5")))
    assert left_open(judge("OBS002", named, alerts(TEMPERATURE))) == ["expr"]
    made = operator(config={"name": "counters", "create": True, "data": ROW})
    assert passes(judge("OBS002", made, alerts(TEMPERATURE)))
    keyed = operator(config={"data": {"dcgm-metrics.csv": ROW}})
    for own in (made, keyed):
        assert "DCGM_FI_DEV_GPU_UTIL" in complaint(judge("OBS002", own, alerts("DCGM_FI_DEV_GPU_UTIL < 5")))
    two_keys = config_map("counters", **{"dcgm-metrics__csv": ROW, "other__csv": "DCGM_FI_DEV_GPU_UTIL, gauge, x"})
    assert "DCGM_FI_DEV_GPU_UTIL" in complaint(judge("OBS002", named, two_keys, alerts("DCGM_FI_DEV_GPU_UTIL < 5")))


def daemon_set(*args: str, volume: object = None, **box: object) -> Resource:
    container = {
        "name": "x",
        "image": "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-ubuntu22.04",
        "args": list(args),
        **box,
    }
    spec = {"containers": [container], "volumes": [{"name": "list", "configMap": volume}] if volume else []}
    return examples.resource("kubernetes:apps/v1:DaemonSet", "own", {"spec": {"template": {"spec": spec}}})


@pytest.mark.parametrize(
    ("variable", "open_"),
    [
        ({"name": "DCGM_EXPORTER_COLLECTORS", "value": "/etc/own/list.csv"}, True),
        ({"name": "DCGM_EXPORTER_COLLECTORS", "value": "/etc/dcgm-exporter/dcp-metrics-included.csv"}, False),
        ({"name": "DCGM_EXPORTER_LISTEN", "value": ":9400"}, False),
    ],
)
def test_a_list_that_the_operator_is_told_and_nobody_holds_is_left_open(variable: dict[str, str], open_: bool) -> None:
    report = judge("OBS002", operator(env=[variable]), alerts("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0"))
    if open_:
        assert left_open(report) == ["expr"]
    else:
        assert "which gpu-operator does not export" in complaint(report)


def test_the_exporters_own_version_within_the_operator_counts() -> None:
    newer = changed(operator(), "values", {"dcgmExporter": {"version": "4.7.0-4.9.0-distroless"}})
    assert passes(judge("OBS002", newer, alerts(RENAMED)))
    assert "DCGM_FI_DEV_GPU_TEMP_CELSIUS" in complaint(judge("OBS002", operator(), alerts(RENAMED)))


@pytest.mark.parametrize("image", ["nvcr.io/nvidia/k8s/dcgm-exporter:4.7.0-4.9.0", "x/dcgm-exporter:4.9.0@sha256:00"])
def test_the_tag_of_an_exporter_of_ones_own_says_its_version(image: str) -> None:
    box = {"name": "a", "image": image, "args": ["-f", "/etc/dcgm-exporter/default-counters.csv"]}
    spec = {"template": {"spec": {"containers": [box]}}}
    own = examples.resource("kubernetes:apps/v1:DaemonSet", "own", {"spec": spec})
    assert passes(judge("OBS002", own, alerts(RENAMED)))
    assert "which own does not export" in complaint(judge("OBS002", own, alerts(TEMPERATURE)))


def test_m07_the_list_of_an_exporter_of_ones_own_is_found() -> None:
    mine = config_map("counters", counters__csv=ROW)
    mounts = [{"name": "list", "mountPath": "/lists"}]
    mounted = daemon_set("-f", "/lists/counters.csv", volume={"name": "counters"}, volumeMounts=mounts)
    by_name = daemon_set("--configmap-data=monitoring:counters")
    by_variable = daemon_set(env=[{"name": "DCGM_EXPORTER_CONFIGMAP_DATA", "value": "monitoring:counters"}])
    for own in (mounted, by_name, by_variable):
        assert passes(judge("OBS002", own, mine, alerts(TEMPERATURE)))
        assert "DCGM_FI_DEV_GPU_UTIL" in complaint(judge("OBS002", own, mine, alerts("DCGM_FI_DEV_GPU_UTIL < 5")))
    assert passes(judge("OBS002", daemon_set("-f", "/etc/dcgm-exporter/dcp-metrics-included.csv"), alerts(TEMPERATURE)))
    assert left_open(judge("OBS002", daemon_set("-f", "/somewhere.csv"), alerts(TEMPERATURE))) == ["expr"]


# --- lists with mistakes --------------------------------------------------------------------------------------------


def test_m07_a_list_with_a_bad_row_ends_the_exporter() -> None:
    report = judge("OBS002", exporter(customMetrics=f"{ROW}DCGM_FI_DEV_SM_CLOCK, gauge, clock, in MHz\n"))
    assert complaint(report) == (
        "gives its exporter a list that ends it: line 2 (DCGM_FI_DEV_SM_CLOCK, gauge, clock, in MHz): 4 fields instead "
        "of 3; a comma in the help text makes one more"
    )


# --- labels of nodes ------------------------------------------------------------------------------------------------

BY_LABEL = 'kube_node_labels{label_gpu_type="a10g"} unless on (node) DCGM_FI_DEV_GPU_TEMP'


def test_m07_a_bad_list_beside_an_exporter_without_one_is_found() -> None:
    bad = exporter(customMetrics="DCGM_FI_DEV_GPU_TEMP, gauge")
    assert messages(judge("OBS002", operator(), bad)).keys() == {"dcgm"}


def test_one_query_that_cannot_be_read_does_not_hide_another() -> None:
    report = judge("OBS002", operator(), alerts("DCGM_FI_DEV_GPU_UTIL >", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0"))
    assert "alert Alert1 reads DCGM_FI_DEV_ECC_SBE_VOL_TOTAL" in complaint(report)


def test_one_exporter_of_several_that_nobody_knows_leaves_it_open() -> None:
    its_own = exporter(arguments=["-m", "monitoring:own-list"])
    wanted = alerts("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0")
    assert left_open(judge("OBS002", operator(), its_own, wanted)) == ["expr"]
    assert passes(judge("OBS002", operator(), its_own, alerts("DCGM_FI_DEV_GPU_TEMP > 90")))


def test_an_alert_that_is_called_like_a_series_is_judged() -> None:
    rules: list[dict[str, object]] = [
        *recorded("gpu:errors", "DCGM_FI_DEV_GPU_TEMP"),
        {"name": "named", "rules": [{"alert": "gpu:errors", "expr": "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL + gpu:errors > 0"}]},
    ]
    assert "alert gpu:errors reads" in complaint(judge("OBS002", operator(), rule_file(rules)))


def test_an_alert_records_no_series_under_its_name() -> None:
    named = {"alert": "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "expr": "up == 0"}
    reader = {"alert": "Errors", "expr": "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0"}
    report = judge("OBS002", operator(), rule_file([{"name": "gpu", "rules": [named, reader]}]))
    assert complaint(report).startswith("alert Errors reads DCGM_FI_DEV_ECC_SBE_VOL_TOTAL")


def test_series_that_are_recorded_from_each_other_have_an_end() -> None:
    circle = [*recorded("gpu:a", "gpu:b > 0"), *recorded("gpu:b", "gpu:a + absent(gpu:a)"), *groups("gpu:a > 0")]
    for rule in ("OBS001", "OBS002", "OBS003"):
        assert not messages(judge(rule, operator(), rule_file(circle)))


def test_the_remedy_is_the_other_name_where_that_is_exported_and_a_row_where_it_is_not() -> None:
    new = judge("OBS002", operator(), alerts("DCGM_FI_DEV_MEMORY_CLOCK_HERTZ > 1")).findings[0]
    assert new.fix.startswith("read DCGM_FI_DEV_MEM_CLOCK, as this exporter calls it")
    short = exporter(customMetrics="DCGM_FI_DEV_GPU_TEMP, gauge, Temperature.")
    row = judge("OBS002", short, alerts("DCGM_FI_DEV_MEM_CLOCK > 1")).findings[0]
    assert row.fix.startswith("add a row to the exporter's list: DCGM_FI_DEV_MEM_CLOCK, gauge, ")
    known = judge("OBS002", short, alerts("DCGM_FI_DEV_GPU_UTIL > 1")).findings[0]
    assert known.fix == f"add a row to the exporter's list: {metrics.GPU_UTIL.row()}"


@pytest.mark.parametrize(("number", "ends"), [(3, "Alert2 read"), (4, "Alert2 and 1 more read")])
def test_three_readers_are_named_and_the_others_counted(number: int, ends: str) -> None:
    queries = (f"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > {limit}" for limit in range(number))
    said = complaint(judge("OBS002", operator(), alerts(*queries)))
    assert said.split(" DCGM_")[0].endswith(ends)


def test_of_several_readers_one_that_always_fires_is_the_news() -> None:
    both = alerts("absent(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL)", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL > 0")
    assert complaint(judge("OBS002", operator(), both)).endswith("it always fires")


def test_m07_labels_of_nodes_are_shown_only_when_kube_state_metrics_is_told() -> None:
    assert complaint(judge("OBS002", operator(), prometheus(), alerts(BY_LABEL))) == (
        "alert Alert0 reads label_gpu_type of kube_node_labels, which kube-state-metrics is not told to show"
    )


@pytest.mark.parametrize(
    "part",
    [
        {"metricLabelsAllowlist": ["nodes=[gpu-type]"]},
        {"metricLabelsAllowlist": ["pods=[app],nodes=[workload, gpu-type]"]},
        {"metricLabelsAllowlist": ["nodes=[*]"]},
        {"extraArgs": ["--metric-labels-allowlist=nodes=[gpu-type]"]},
    ],
)
def test_labels_that_are_shown_pass(part: object) -> None:
    values = prometheus(**{"kube-state-metrics": part})
    assert passes(judge("OBS002", operator(), values, alerts(BY_LABEL)))


@pytest.mark.parametrize("matcher", ["", '{label_gpu_type=""}', '{label_gpu_type!="x"}', '{label_gpu_type=~".*"}'])
def test_what_asks_for_no_label_passes(matcher: str) -> None:
    assert passes(judge("OBS002", operator(), prometheus(), alerts(f"kube_node_labels{matcher} == 1")))


# --- what is not known ---------------------------------------------------------------------------------------------


def test_without_an_exporter_in_the_stack_it_is_left_open() -> None:
    assert left_open(judge("OBS002", alerts(TEMPERATURE))) == ["expr"]
    assert passes(judge("OBS002", alerts("up == 0")))


def test_without_a_version_only_what_no_list_has_is_certain() -> None:
    assert left_open(judge("OBS002", exporter(None), alerts(TEMPERATURE))) == ["expr"]
    assert "DCGM_FI_DEV_FB_TOTAL" in complaint(judge("OBS002", exporter(None), alerts(FULL)))


def test_an_operator_that_is_newer_than_what_is_known_is_left_open() -> None:
    assert left_open(judge("OBS002", operator("v27.1.0"), alerts(TEMPERATURE))) == ["expr"]
    assert passes(judge("OBS002", operator("v25.10.0"), alerts(TEMPERATURE)))


def test_unknown_values_are_left_open_and_the_rest_still_counts() -> None:
    assert left_open(judge("OBS002", exporter(customMetrics=UNKNOWN), alerts(TEMPERATURE))) == ["expr"]
    assert left_open(judge("OBS002", operator(), unknown(alerts(TEMPERATURE), "spec"))) == ["spec"]
    half = changed(alerts(FULL, TEMPERATURE), "spec.groups.0.rules.1.expr", UNKNOWN)
    report = judge("OBS002", operator(), half)
    assert "DCGM_FI_DEV_FB_TOTAL" in complaint(report)
    assert [item.path for item in report.not_evaluated] == ["spec.groups[0].rules[1].expr"]


def test_a_query_that_cannot_be_read_is_left_open() -> None:
    assert left_open(judge("OBS002", operator(), alerts("{{ $x }}"))) == ["spec.groups[0].rules[0]"]


def test_an_exporter_that_is_switched_off_exports_nothing() -> None:
    assert left_open(judge("OBS002", operator(enabled=False), alerts(TEMPERATURE))) == ["expr"]


def test_a_stack_without_rules_and_lists_is_not_concerned() -> None:
    assert not_concerned(judge("OBS002", operator(), prometheus()))
