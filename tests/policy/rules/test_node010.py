"""NODE010: reservations and sizes agree."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples
from tests.support.judging import complaint, judge, messages, not_concerned, passes, unknown
from tests.support.reserving import group, pool, reservation


def test_n11_a_group_that_matches_its_reservation_passes() -> None:
    assert passes(judge("NODE010", *group(reservation())))


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"minSize": 0, "desiredSize": 0, "maxSize": 1}, None),
        ({"minSize": 2, "desiredSize": 2, "maxSize": 2}, None),
        ({"minSize": 2, "desiredSize": 1, "maxSize": 4}, "has a minimum of 2 nodes above its desired size of 1"),
        ({"minSize": 0, "desiredSize": 5, "maxSize": 4}, "has a desired size of 5 nodes above its maximum of 4"),
        ({"minSize": 3, "maxSize": 2}, "has a minimum of 3 nodes above its maximum of 2"),
    ],
)
def test_n11_sizes_are_in_order(sizes: object, said: str | None) -> None:
    report = judge("NODE010", examples.node_group(scalingConfig=sizes))
    assert passes(report) if said is None else complaint(report) == said


def test_n11_a_static_pool_has_no_more_nodes_than_its_limit() -> None:
    assert passes(judge("NODE010", examples.node_class(), examples.node_pool(replicas=2, limits={"nodes": "2"})))
    over = examples.node_pool(replicas=3, limits={"nodes": "2"})
    assert "desired size of 3 nodes above its maximum of 2" in complaint(judge("NODE010", examples.node_class(), over))


def test_n11_a_reservation_of_another_type_is_paid_for_and_not_used() -> None:
    message = complaint(judge("NODE010", *group(reservation(instanceType="p5en.48xlarge"))))
    assert message == "buys p5.48xlarge, and the reservation held is for p5en.48xlarge: it is paid for and not used"


def test_n11_a_reservation_in_another_zone_is_paid_for_and_not_used() -> None:
    message = complaint(judge("NODE010", *group(reservation(), zones="bc")))
    assert message == (
        "has subnets in us-east-1b, us-east-1c, and the reservation held is in us-east-1a: it is paid for and not used"
    )


def test_n11_a_launch_templates_target_leaves_no_other_zone() -> None:
    message = complaint(judge("NODE010", *group(reservation(), zones="ab")))
    assert message.startswith("has subnets in us-east-1b as well, where the reservation held is not (us-east-1a)")


def test_n11_a_launch_templates_target_holds_as_many_as_the_group_may_have() -> None:
    message = complaint(judge("NODE010", *group(reservation(instanceCount=1))))
    assert message == "may grow to 2 nodes, and the reservation held holds 1: further launches fail"
    assert passes(judge("NODE010", *group(reservation(instanceCount=3))))


@pytest.mark.parametrize(
    ("ends", "past"), [("2026-11-20T23:59:59Z", True), ("2026-11-21T12:00:00Z", False), ("", False)]
)
def test_n11_a_reservation_that_has_ended_is_none(ends: str, past: bool) -> None:
    report = judge("NODE010", *group(reservation(endDate=ends)))
    assert (not passes(report)) is past
    if past:
        assert complaint(report) == "is launched into the reservation held, which ended on 2026-11-20"


def test_n11_a_pool_of_reserved_capacity_only_selects_a_reservation() -> None:
    assert passes(judge("NODE010", *pool(reservation())))
    assert "selects no reservation" in complaint(judge("NODE010", *pool(terms=())))
    assert passes(judge("NODE010", *pool(terms=(), capacity=("reserved", "on-demand"))))


def test_an_unknown_type_is_left_open_and_the_rest_is_judged() -> None:
    held = unknown(reservation(instanceCount=1), "instanceType")
    report = judge("NODE010", *group(held))
    assert [item.path for item in report.not_evaluated] == ["instanceType"]
    assert "holds 1" in messages(report)["train"][0]


def test_cpu_groups_are_not_concerned() -> None:
    assert not_concerned(judge("NODE010", *group(reservation(), instanceTypes=["m5.large"])))
