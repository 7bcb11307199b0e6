from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eks_gpu.facts import instances
from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_pool import DEAR_USD_PER_HOUR, NodePool

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
            {"warm_nodes": 3},
            ("warm_nodes 3 hold at least 24 GPUs, but max_gpus is 16; give at most 2 warm_nodes or a larger max_gpus"),
        ),
        (
            {"capacity": ["reserved"], "reservation": {"on_demand_id": "cr-0a", "count": 1}},
            (
                "2 nodes are wanted, but the reservation has 1 instances; lower the number of nodes, or put the others "
                "into a group of their own with capacity: on-demand"
            ),
        ),
        (
            {
                "capacity": ["reserved"],
                "reservation": {"on_demand_id": "cr-0a", "zone": "us-east-1b"},
                "zones": ["us-east-1a"],
            },
            (
                "the reservation is in zone us-east-1b, but zones has us-east-1a, so it would be paid for and not "
                "used; give zones: [us-east-1b] or another reservation"
            ),
        ),
        (
            {"capacity": ["reserved"], "reservation": {"on_demand_id": "cr-0a", "instance_type": "p5.48xlarge"}},
            (
                "the reservation is for p5.48xlarge, but instance_types has p4d.24xlarge, so it would be paid for and "
                "not used; give instance_types: [p5.48xlarge] or another reservation"
            ),
        ),
        (
            {
                "capacity": ["reserved"],
                "purpose": "training",
                "reservation": {"capacity_block_id": "cr-0a", "starts": "2026-12-01", "ends": "2026-12-02"},
            },
            (
                "the reservation lasts 24 hours, but max_job_hours is 72, so the longest job could not end in it; give "
                "a shorter max_job_hours or a longer reservation"
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
            {"placement_group": True},
            (
                "a cluster placement group is within one zone, but the pool may use every zone; give one, such as "
                "zones: [us-east-1a]"
            ),
        ),
        (
            {
                "placement_group": True,
                "zones": ["us-east-1a"],
                "capacity": ["reserved"],
                "reservation": {"on_demand_id": "cr-0a"},
            },
            (
                "placement_group makes a new group, but a reservation was made outside of it and would not be used; "
                "remove placement_group, and give reservation: {placement_group: <name>} where an on-demand "
                "reservation was made in one"
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


def test_n11_what_goes_beyond_a_reservation_may_be_bought_in_other_ways() -> None:
    reservation = {"on_demand_id": "cr-0a", "count": 1, "zone": "us-east-1a", "instance_type": "p4d.24xlarge"}
    pool = NodePool.model_validate({**P4D, "capacity": ["reserved", "on-demand"], "reservation": reservation})

    assert pool.max_gpus == 16


@pytest.mark.parametrize(
    ("types", "dear"),
    [
        (["g4dn.xlarge"], False),
        (["g5.xlarge", "g5.48xlarge"], False),
        (["g6e.2xlarge"], False),
        (["g5.12xlarge"], True),
        (["p4d.24xlarge"], True),
        (["p5e.48xlarge"], True),
    ],
)
def test_n12_a_dear_pool_is_dedicated_unless_told_otherwise(types: list[str], dear: bool) -> None:
    settings = {"instance_types": types, "max_gpus": 8}

    assert NodePool.model_validate(settings).is_dedicated is dear
    assert NodePool.model_validate({**settings, "dedicated": False}).is_dedicated is False
    assert NodePool.model_validate({**settings, "dedicated": True}).is_dedicated is True


def test_n12_every_pool_whose_nodes_all_have_several_gpus_is_dear() -> None:
    several = [kind for kind in instances.CATALOGUE.values() if kind.gpu_count > 1]

    assert several
    assert all(kind.usd_per_hour is None or kind.usd_per_hour >= DEAR_USD_PER_HOUR for kind in several)
