"""What alerts notice, told by their queries."""

from __future__ import annotations

import pytest

from eks_gpu.planning.monitoring.alerting import PrometheusRule, RuleSet
from eks_gpu.planning.monitoring.watching import Noticed, noticed

GPUS = 'kube_node_status_allocatable{resource="nvidia_com_gpu"}'


def seen(*queries: str) -> frozenset[Noticed]:
    return noticed(
        RuleSet(PrometheusRule("urn", "spec", f"Alert{number}", True, query) for number, query in enumerate(queries))
    )


@pytest.mark.parametrize(
    "query",
    [
        "count(DCGM_FI_DEV_GPU_TEMP) < 8",
        "count by (node) (DCGM_FI_DEV_GPU_TEMP) != 8",
        "8 > count(DCGM_FI_DEV_GPU_TEMP)",
        "8 >= count(DCGM_FI_DEV_GPU_TEMP)",
        "count(DCGM_FI_DEV_GPU_TEMP and on (node) kube_node_info) < 8",
        "sum(kube_pod_container_resource_requests) > count(DCGM_FI_DEV_GPU_TEMP) offset 0s or 1 > sum(" + GPUS + ")",
        f"{GPUS} < 8",
        f"{GPUS} == 0",
        f"{GPUS} < {GPUS} offset 1h",
        f"{GPUS} offset 1h > {GPUS}",
        f'kube_node_status_capacity{{resource="nvidia_com_gpu"}} - {GPUS} > 0',
        f"changes({GPUS}[10m]) > 0",
        f"delta({GPUS}[10m]) < 0",
        "kube_node_status_allocatable < 4",
        'kube_node_status_allocatable{resource=~"nvidia.*",resource!="nvidia_com_gpu_shared"} < 1',
        'kube_node_status_allocatable{resource=~"nvidia.*",resource!="cpu"} < 1',
        "DCGM_FI_DEV_GPU_TEMP offset 10m unless DCGM_FI_DEV_GPU_TEMP",
    ],
)
def test_m01_a_lost_gpu_is_noticed_where_gpus_are_counted_and_there_are_fewer(query: str) -> None:
    assert Noticed.LOST in seen(query)


@pytest.mark.parametrize(
    "query",
    [
        "count(DCGM_FI_DEV_GPU_TEMP) > 8",
        "8 < count(DCGM_FI_DEV_GPU_TEMP)",
        "sum(DCGM_FI_DEV_GPU_TEMP) < 8",
        'count(up{job="dcgm"}) < 3',
        'kube_node_status_allocatable{resource="cpu"} < 4',
        'kube_node_status_allocatable{resource="cpu",node=~"gpu.*"} < 4',
        f"{GPUS} - 1 > 0",
        "DCGM_FI_DEV_GPU_TEMP unless DCGM_FI_DEV_GPU_TEMP offset 10m",
        "DCGM_FI_DEV_GPU_TEMP offset 10m unless DCGM_FI_DEV_GPU_UTIL",
        "up offset 10m unless up",
        "changes(DCGM_FI_DEV_GPU_TEMP[10m]) > 0",
        f"count({GPUS} >",
    ],
)
def test_other_comparisons_tell_of_no_lost_gpu(query: str) -> None:
    assert Noticed.LOST not in seen(query)


@pytest.mark.parametrize(
    "query",
    [
        'absent(up{job="dcgm-exporter"} == 1)',
        "absent(DCGM_FI_DEV_GPU_TEMP)",
        "absent_over_time(DCGM_FI_DEV_GPU_TEMP[10m])",
        "absent(DCGM_FI_DEV_GPU_TEMP * on (node) group_left kube_node_info)",
        'up{job=~".*dcgm.*"} == 0',
        'kube_daemonset_status_number_unavailable{daemonset="nvidia-dcgm-exporter"} > 0',
        f"{GPUS} > 0 unless on (node) DCGM_FI_DEV_GPU_TEMP",
        f"{GPUS} > 0 unless on (node) (DCGM_FI_DEV_GPU_TEMP * on (node) kube_node_info)",
    ],
)
def test_m07_an_absent_exporter_is_noticed(query: str) -> None:
    assert Noticed.BLIND in seen(query)


@pytest.mark.parametrize(
    "query",
    [
        'absent(up{job="node-exporter"})',
        "absent(DCGM_FI_DEV_XID_ERRORS)",
        "absent(kube_node_info)",
        'up{job="node-exporter"} == 0',
        f"{GPUS} > 0 unless on (node) kube_node_info",
        "kube_node_info unless on (node) DCGM_FI_DEV_GPU_TEMP",
        f"{GPUS} > 0 and on (node) DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_GPU_TEMP > 90",
    ],
)
def test_what_says_nothing_of_the_exporter_is_no_watch_on_it(query: str) -> None:
    assert Noticed.BLIND not in seen(query)


def test_m01_xids_are_noticed_through_what_is_recorded_from_them() -> None:
    rules = RuleSet(
        [
            PrometheusRule("urn", "spec", "gpu:xids", False, 'DCGM_FI_DEV_XID_ERRORS{err_code="79"} > 0'),
            PrometheusRule("urn", "spec", "Xid", True, "gpu:xids > 0"),
        ]
    )
    assert noticed(rules) == {Noticed.XID}
    assert seen("DCGM_FI_DEV_GPU_TEMP > 90") == frozenset()
