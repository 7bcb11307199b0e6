from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eks_gpu.settings.gpu_pool import Capacity, Purpose
from eks_gpu.settings.node_group import NodeGroup, NodeRepair

G5: dict[str, Any] = {"instance_types": ["g5.2xlarge"], "count": 2}


def test_a_group_needs_only_types_and_a_count() -> None:
    group = NodeGroup.model_validate(G5)

    assert group.capacity is Capacity.ON_DEMAND
    assert group.purpose is Purpose.INFERENCE
    assert group.node_repair is None


@pytest.mark.parametrize("missing", ["instance_types", "count"])
def test_what_costs_money_has_no_default(missing: str) -> None:
    with pytest.raises(ValidationError) as error:
        NodeGroup.model_validate({key: value for key, value in G5.items() if key != missing})

    assert [(problem["loc"], problem["type"]) for problem in error.value.errors()] == [((missing,), "missing")]


@pytest.mark.parametrize("count", [0, -1, 451])
def test_a_group_has_at_least_one_node_and_no_more_than_eks_allows(count: int) -> None:
    with pytest.raises(ValidationError):
        NodeGroup.model_validate({**G5, "count": count})


def test_n09_spot_for_training_that_cannot_resume_is_refused_with_what_works_instead() -> None:
    with pytest.raises(ValidationError) as error:
        NodeGroup.model_validate({**G5, "capacity": "spot", "purpose": "training"})

    (problem,) = error.value.errors()
    assert problem["msg"] == (
        "Value error, capacity spot with purpose training loses the work of a job whenever EC2 takes the instance "
        "back, with two minutes' notice; use on-demand or reserved, or set resumable: true when every job of the pool "
        "saves checkpoints and resumes from them"
    )


def test_n09_spot_for_training_that_resumes_is_taken() -> None:
    group = NodeGroup.model_validate({**G5, "capacity": "spot", "purpose": "training", "resumable": True})

    assert group.capacity is Capacity.SPOT


@pytest.mark.parametrize("zones", [None, ["us-east-1a", "us-east-1b"]])
def test_n10_training_that_auto_scaling_would_move_between_zones_is_refused(zones: list[str] | None) -> None:
    with pytest.raises(ValidationError, match=r"evens out nodes between zones, .* give one zone, such as zones:"):
        NodeGroup.model_validate({**G5, "purpose": "training", "zones": zones})


@pytest.mark.parametrize("kept", [{"zones": ["us-east-1a"]}, {"resumable": True}, {"count": 1}])
def test_n10_training_in_one_zone_or_that_resumes_or_on_one_node_is_taken(kept: dict[str, Any]) -> None:
    assert NodeGroup.model_validate({**G5, "purpose": "training", **kept}).purpose is Purpose.TRAINING


def test_reserved_is_no_capacity_of_a_group() -> None:
    with pytest.raises(ValidationError):
        NodeGroup.model_validate({**G5, "capacity": "reserved"})


def test_repair_takes_one_node_at_a_time_by_default() -> None:
    assert NodeGroup.model_validate({**G5, "node_repair": {}}).node_repair == NodeRepair(max_parallel_nodes=1)


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="max_size"):
        NodeGroup.model_validate({**G5, "max_size": 4})
