from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_pool import NodePool

P4D: dict[str, Any] = {"instance_types": ["p4d.24xlarge"], "max_gpus": 16}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"capacity": ["reserved"]},
            (
                "capacity reserved names no reservation; add reservation: {capacity_block_id: cr-…} or {on_demand_id: "
                "cr-…}, because Karpenter uses only reservations that it is told of"
            ),
        ),
        (
            {"reservation": {"capacity_block_id": "cr-0a"}},
            "a reservation is given, but capacity is on-demand; add reserved to capacity or remove the reservation",
        ),
        (
            {"max_gpus": 4},
            (
                "max_gpus 4 is less than the 8 GPUs of p4d.24xlarge, so no node could ever be bought; give at least 8 "
                "or smaller instance types"
            ),
        ),
        (
            {"max_job_hours": 12},
            "max_job_hours 12 has no meaning with purpose inference; remove it or set purpose: training",
        ),
        (
            {"instance_types": ["g5.xlarge"], "efa": True},
            (
                "g5.xlarge has no Elastic Fabric Adapter; remove efa, or use types that have one, such as "
                "p4d.24xlarge or p5.48xlarge"
            ),
        ),
        (
            {"instance_types": ["p5.4xlarge", "p5.48xlarge"], "efa": True},
            (
                "the types have different numbers of Elastic Fabric Adapters (p5.4xlarge has 1, p5.48xlarge has 32), "
                "and one list of interfaces cannot serve them; make one pool for each"
            ),
        ),
        (
            {"instance_types": ["p6-b200.48xlarge"], "efa": True},
            (
                "the order of the network cards of p6-b200.48xlarge is not established here; remove efa: Karpenter "
                "then attaches adapters for pods that ask for vpc.amazonaws.com/efa"
            ),
        ),
        (
            {"capacity": ["reserved", "spot"], "purpose": "training", "reservation": {"on_demand_id": "cr-0a"}},
            (
                "capacity spot with purpose training loses the work of a job whenever EC2 takes the instance back, "
                "with two minutes' notice; use on-demand or reserved, or set resumable: true when every job of the "
                "pool saves checkpoints and resumes from them"
            ),
        ),
    ],
)
def test_settings_that_do_not_hold_together_are_refused_with_what_to_do(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        NodePool.model_validate({**P4D, **settings})

    (problem,) = error.value.errors()
    assert problem["msg"].removeprefix("Value error, ") == message


def test_n11_a_reservation_is_a_block_or_an_on_demand_one() -> None:
    both = {"capacity_block_id": "cr-0a", "on_demand_id": "cr-0b"}

    with pytest.raises(ValidationError, match="capacity_block_id and on_demand_id are both given"):
        NodePool.model_validate({**P4D, "capacity": ["reserved"], "reservation": both})


def test_n11_a_reservation_id_looks_like_one() -> None:
    with pytest.raises(ValidationError, match="pattern"):
        NodePool.model_validate({**P4D, "capacity": ["reserved"], "reservation": {"on_demand_id": "r-0a"}})


def test_the_limit_has_no_default_because_it_is_the_bill() -> None:
    with pytest.raises(ValidationError, match="max_gpus"):
        NodePool.model_validate({"instance_types": ["p4d.24xlarge"]})


def test_n10_the_longest_job_is_assumed_to_take_three_days() -> None:
    assert NodePool.model_validate({**P4D, "purpose": "training"}).job_hours == 72
    assert NodePool.model_validate({**P4D, "purpose": "training", "max_job_hours": 5}).job_hours == 5


def test_capacity_is_on_demand_by_default() -> None:
    assert NodePool.model_validate(P4D).capacity == (Capacity.ON_DEMAND,)


def test_several_mistakes_are_reported_together() -> None:
    with pytest.raises(ValidationError) as error:
        NodePool.model_validate({"instance_types": ["g5.xl"], "max_gpus": 0, "capacity": ["cheap"], "spot": True})

    assert {problem["loc"][0] for problem in error.value.errors()} == {"instance_types", "max_gpus", "capacity", "spot"}
