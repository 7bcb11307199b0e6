from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.start_up import (
    DEFAULT_DEADLINE_SECONDS,
    SHORTEST_PROBE_SECONDS,
    StartUpBudget,
    StartUpProbe,
    efs_bytes_per_second,
    start_up_budget,
    volume_bytes_per_second,
)

GB = 10**9
BUDGETS = st.builds(
    start_up_budget,
    model_bytes=st.integers(min_value=0, max_value=2000 * GB),
    read_bytes_per_second=st.floats(min_value=10**6, max_value=10**10),
    image_bytes=st.integers(min_value=0, max_value=100 * GB),
    volume_bytes_per_second=st.floats(min_value=10**7, max_value=3 * 10**9),
)


def llama() -> StartUpBudget:
    return start_up_budget(
        model_bytes=140 * GB,
        read_bytes_per_second=efs_bytes_per_second("elastic"),
        image_bytes=155 * GB // 10,
        volume_bytes_per_second=volume_bytes_per_second(125),
    )


def test_w04_140_gb_on_elastic_efs_need_594_seconds() -> None:
    assert llama().read_seconds == pytest.approx(267, abs=0.1)
    assert llama().container_seconds == pytest.approx(594, abs=0.1)


def test_w04_60_failures_are_enough_for_140_gb_and_30_are_not() -> None:
    def allowed(failures: int) -> int:
        probe = StartUpProbe(initial_delay_seconds=15, period_seconds=10, failure_threshold=failures)
        return probe.allowed_seconds

    assert allowed(60) == 605
    assert allowed(60) > llama().container_seconds > allowed(30)


def test_n08_a_slow_volume_makes_the_rollout_outlast_the_default_deadline() -> None:
    assert llama().rollout_seconds == pytest.approx(1011, abs=0.5)
    assert llama().deadline_seconds() == 1017


def test_w04_a_small_model_on_a_fast_cache_has_time_to_compile_its_graphs() -> None:
    small = start_up_budget(
        model_bytes=14 * GB,
        read_bytes_per_second=efs_bytes_per_second("elastic"),
        image_bytes=30 * GB,
        volume_bytes_per_second=volume_bytes_per_second(500),
    )
    assert small.container_seconds < 120
    assert small.probe().allowed_seconds >= SHORTEST_PROBE_SECONDS
    assert small.deadline_seconds() >= 180 + 2 * small.pull_seconds + SHORTEST_PROBE_SECONDS


def test_s03_a_bursting_file_system_with_130_gib_reads_6_mib_a_second() -> None:
    speed = efs_bytes_per_second("bursting", stored_bytes=130 * 2**30)
    assert speed == pytest.approx(6.35 * 2**20, rel=0.01)
    assert 140 * GB / speed == pytest.approx(5.8 * 3600, rel=0.01)


def test_provisioned_throughput_counts_up_to_what_one_client_gets() -> None:
    assert efs_bytes_per_second("provisioned", provisioned_mib_per_second=100) == 100 * 2**20
    assert efs_bytes_per_second("provisioned", provisioned_mib_per_second=3000) == 500 * 2**20


@pytest.mark.parametrize("speed", [0, -1, float("nan")])
def test_a_start_at_no_speed_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match=r"read_bytes_per_second is .*; a start needs a speed above 0"):
        start_up_budget(model_bytes=1, read_bytes_per_second=speed, image_bytes=1, volume_bytes_per_second=1)


@pytest.mark.parametrize(
    ("model_gb", "image_gb", "term"),
    [(140, 1, "reading the model"), (1, 60, "pulling the image"), (1, 1, "getting a node")],
)
def test_the_largest_term_says_where_an_improvement_pays(model_gb: int, image_gb: int, term: str) -> None:
    budget = start_up_budget(
        model_bytes=model_gb * GB,
        read_bytes_per_second=500 * 2**20,
        image_bytes=image_gb * GB,
        volume_bytes_per_second=500 * 2**20,
    )
    assert budget.largest_term == term


@given(BUDGETS, st.integers(min_value=0, max_value=60), st.integers(min_value=1, max_value=60))
def test_w04_the_probe_always_covers_the_start_and_never_by_more_than_a_period(
    budget: StartUpBudget, delay: int, period: int
) -> None:
    probe = budget.probe(initial_delay_seconds=delay, period_seconds=period)
    assert probe.failure_threshold >= 1
    assert probe.allowed_seconds >= max(budget.container_seconds, SHORTEST_PROBE_SECONDS) - 1e-6
    assert probe.allowed_seconds < max(delay, budget.patience_seconds) + period + 1e-6


@given(BUDGETS)
def test_a_deadline_covers_node_image_and_model(budget: StartUpBudget) -> None:
    assert budget.deadline_seconds() >= max(DEFAULT_DEADLINE_SECONDS, budget.rollout_seconds)
    assert budget.rollout_seconds > budget.container_seconds >= 2 * budget.read_seconds


@given(BUDGETS, st.integers(min_value=1, max_value=100))
def test_more_to_read_never_starts_sooner(budget: StartUpBudget, more: int) -> None:
    slower = StartUpBudget(read_seconds=budget.read_seconds + more, pull_seconds=budget.pull_seconds)
    assert slower.container_seconds > budget.container_seconds
    assert slower.probe().failure_threshold >= budget.probe().failure_threshold
    assert slower.deadline_seconds() >= budget.deadline_seconds()
