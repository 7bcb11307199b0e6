from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eks_gpu.settings.gpu_pool import Capacity, Purpose
from eks_gpu.settings.node_group import NodeGroup, NodeRepair

G5: dict[str, Any] = {"instance_types": ["g5.2xlarge"], "count": 2}
P4D: dict[str, Any] = {"instance_types": ["p4d.24xlarge"], "count": 2, "zones": ["us-east-1a"], "efa": True}
RESERVED: dict[str, Any] = {
    "instance_types": ["p5.48xlarge"],
    "count": 2,
    "zones": ["us-east-1a"],
    "capacity": "reserved",
    "reservation": {"capacity_block_id": "cr-0b", "zone": "us-east-1a", "instance_type": "p5.48xlarge", "count": 2},
}


def test_a_group_needs_only_types_and_a_count() -> None:
    group = NodeGroup.model_validate(G5)

    assert group.capacity is Capacity.ON_DEMAND
    assert group.purpose is Purpose.INFERENCE
    assert (group.reservation, group.efa, group.makes_placement_group) == (None, False, False)


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


def test_n07_unhealthy_nodes_are_repaired_one_at_a_time_unless_that_is_switched_off() -> None:
    assert NodeGroup.model_validate(G5).node_repair == NodeRepair(enabled=True, max_parallel_nodes=1, wait_minutes=10)
    assert not NodeGroup.model_validate({**G5, "node_repair": {"enabled": False}}).node_repair.enabled


def _refusal(**settings: Any) -> str:  # noqa: ANN401 - settings as YAML has them
    with pytest.raises(ValidationError) as error:
        NodeGroup.model_validate(settings)
    return str(error.value.errors()[0]["msg"]).removeprefix("Value error, ")


@pytest.mark.parametrize("kind", ["capacity_block_id", "on_demand_id"])
def test_n11_a_group_in_a_reservation_is_taken(kind: str) -> None:
    group = NodeGroup.model_validate({**RESERVED, "reservation": {kind: "cr-0b"}})

    assert group.capacity is Capacity.RESERVED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"reservation": None},
            (
                "capacity reserved names no reservation; add reservation: {capacity_block_id: cr-…} or {on_demand_id: "
                "cr-…}, because EKS uses only the reservation that it is told of"
            ),
        ),
        (
            {"capacity": "on-demand"},
            "a reservation is given, but capacity is on-demand; set capacity: reserved or remove the reservation",
        ),
        (
            {"instance_types": ["p5.48xlarge", "p5.4xlarge"]},
            (
                "a reservation is for one instance type, but instance_types has p5.48xlarge, p5.4xlarge; keep the one "
                "that was reserved, and make a group for each other"
            ),
        ),
        (
            {"zones": ["us-east-1a", "us-east-1b"]},
            (
                "a reservation is in one zone, but zones has us-east-1a, us-east-1b; give one, such as zones: "
                "[us-east-1a]"
            ),
        ),
        (
            {"zones": None, "count": 1},
            "a reservation is in one zone, but the group may use every zone; give one, such as zones: [us-east-1a]",
        ),
        (
            {"zones": ["us-east-1b"]},
            (
                "the reservation is in zone us-east-1a, but zones has us-east-1b, so it would be paid for and not "
                "used; give zones: [us-east-1a] or another reservation"
            ),
        ),
        (
            {"count": 3},
            (
                "3 nodes are wanted, but the reservation has 2 instances; lower the number of nodes, or put the others "
                "into a group of their own with capacity: on-demand"
            ),
        ),
        (
            {"placement_group": True},
            (
                "placement_group makes a new group, but a reservation was made outside of it and would not be used; "
                "remove placement_group, and give reservation: {placement_group: <name>} where an on-demand "
                "reservation was made in one"
            ),
        ),
    ],
)
def test_n11_a_reservation_that_would_be_paid_for_and_not_used_is_refused(change: dict[str, Any], message: str) -> None:
    assert _refusal(**{**RESERVED, **change}) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"instance_types": ["g5.2xlarge"]},
            (
                "g5.2xlarge has no Elastic Fabric Adapter; remove efa, or use types that have one, such as "
                "p4d.24xlarge or p5.48xlarge"
            ),
        ),
        (
            {"instance_types": ["p6-b200.48xlarge"]},
            (
                "the order of the network cards of p6-b200.48xlarge is not established here; remove efa: Karpenter "
                "then attaches adapters for pods that ask for vpc.amazonaws.com/efa"
            ),
        ),
        (
            {"zones": ["us-east-1a", "us-east-1b"], "resumable": True},
            (
                "EFA does not reach from one zone into another, but zones has us-east-1a, us-east-1b; give one, such "
                "as zones: [us-east-1a]"
            ),
        ),
    ],
)
def test_g09_efa_that_cannot_be_is_refused_with_what_works_instead(change: dict[str, Any], message: str) -> None:
    assert _refusal(**{**P4D, **change}) == message


def test_g09_nodes_with_adapters_are_placed_close_together_unless_told_otherwise() -> None:
    reserved = {**RESERVED, "efa": True}

    assert NodeGroup.model_validate(P4D).makes_placement_group
    assert not NodeGroup.model_validate({**P4D, "placement_group": False}).makes_placement_group
    assert not NodeGroup.model_validate(reserved).makes_placement_group
    assert NodeGroup.model_validate({**G5, "zones": ["us-east-1a"], "placement_group": True}).makes_placement_group


def test_g09_one_node_with_adapters_that_may_be_in_any_zone_is_bound_to_none_by_a_placement_group() -> None:
    assert not NodeGroup.model_validate({**P4D, "count": 1, "zones": None}).makes_placement_group
    assert NodeGroup.model_validate({**P4D, "count": 1}).makes_placement_group


@pytest.mark.parametrize("count", [1, 2])
def test_a_placement_group_over_several_zones_is_refused(count: int) -> None:
    assert _refusal(**{**G5, "count": count, "placement_group": True}) == (
        "a cluster placement group is within one zone, but the group may use every zone; give one, such as zones: "
        "[us-east-1a]"
    )


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="max_size"):
        NodeGroup.model_validate({**G5, "max_size": 4})
