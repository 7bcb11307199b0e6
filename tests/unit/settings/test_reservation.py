from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eks_gpu.settings.reservation import Reservation

BLOCK: dict[str, Any] = {
    "capacity_block_id": "cr-0b",
    "zone": "us-east-1a",
    "instance_type": "p5.48xlarge",
    "count": 2,
    "starts": "2026-12-01T11:30:00Z",
    "ends": "2026-12-04T11:30:00Z",
}
RESERVATION = Reservation.model_validate(BLOCK)


def _refusal(**reservation: Any) -> str:  # noqa: ANN401 - settings as YAML has them
    with pytest.raises(ValidationError) as error:
        Reservation.model_validate(reservation)
    return str(error.value.errors()[0]["msg"])


def test_n11_a_reservation_that_matches_is_taken() -> None:
    anything = Reservation(on_demand_id="cr-0a")
    for reservation, pool in (
        (RESERVATION, {"zones": ("us-east-1a",), "instance_types": ("p5.48xlarge",), "nodes": 2}),
        (anything, {"zones": None, "instance_types": ("g5.xlarge",), "nodes": 450}),
    ):
        try:
            reservation.refuse_mismatch(**pool)
        except ValueError as refusal:
            raise AssertionError(f"{pool} matches {reservation}") from refusal


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"zones": ("us-east-1b", "us-east-1c")},
            (
                "the reservation is in zone us-east-1a, but zones has us-east-1b, us-east-1c, so it would be paid for "
                "and not used; give zones: [us-east-1a] or another reservation"
            ),
        ),
        (
            {"instance_types": ("p5e.48xlarge",)},
            (
                "the reservation is for p5.48xlarge, but instance_types has p5e.48xlarge, so it would be paid for and "
                "not used; give instance_types: [p5.48xlarge] or another reservation"
            ),
        ),
        (
            {"nodes": 3},
            (
                "3 nodes are wanted, but the reservation has 2 instances; lower the number of nodes, or put the others "
                "into a group of their own with capacity: on-demand"
            ),
        ),
    ],
)
def test_n11_a_reservation_of_another_zone_type_or_size_is_refused(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="reservation") as error:
        RESERVATION.refuse_mismatch(**{"zones": ("us-east-1a",), "instance_types": ("p5.48xlarge",), **wanted})

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("reservation", "message"),
    [
        ({**BLOCK, "on_demand_id": "cr-0a"}, "capacity_block_id and on_demand_id are both given"),
        ({**BLOCK, "placement_group": "close"}, "a capacity block belongs to none: EC2 places its instances"),
        ({**BLOCK, "instance_type": "p5.49xlarge"}, "p5.49xlarge is no instance type with an NVIDIA GPU"),
        ({**BLOCK, "ends": "2026-12-01"}, "ends 2026-12-01 is not after starts 2026-12-01T11:30:00Z"),
        ({**BLOCK, "ends": "soon"}, '"soon" is no date; write it in quotes, alone or with a time in UTC'),
        ({**BLOCK, "ends": "2026-12-32"}, '"2026-12-32" is no date'),
        ({**BLOCK, "ends": "2026-12-04T11:30:00"}, '"2026-12-04T11:30:00" is no date'),
        ({**BLOCK, "count": 0}, "greater than or equal to 1"),
        ({"capacity_block_id": "i-0b"}, "should match pattern"),
    ],
)
def test_n11_a_reservation_that_cannot_be_is_refused(reservation: dict[str, Any], message: str) -> None:
    assert message in _refusal(**reservation)


def test_a_reservation_knows_its_kind_its_id_and_how_long_it_lasts() -> None:
    on_demand = Reservation(on_demand_id="cr-0a", starts="2026-12-01")

    assert (RESERVATION.id, RESERVATION.is_capacity_block, RESERVATION.hours) == ("cr-0b", True, 72)
    assert (on_demand.id, on_demand.is_capacity_block, on_demand.hours) == ("cr-0a", False, None)
    assert Reservation().id is None
