"""NODE010: capacity blocks and placement groups."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples, tokens
from tests.support.judging import changed, complaint, judge, left_open, messages, passes
from tests.support.reserving import CLUSTER, GROUP_ARN, group, pool, reservation


@pytest.mark.parametrize("missing", ["instanceMarketOptions", "capacityReservationSpecification", "instanceType"])
def test_n11_a_capacity_block_wants_market_target_and_type_in_the_launch_template(missing: str) -> None:
    said = {
        "instanceMarketOptions": {"marketType": "capacity-block"},
        "instanceType": "p5.48xlarge",
    }
    block = examples.resource(tokens.CAPACITY_BLOCK, "block", {"capacityBlockOfferingId": "cb-1"})
    sound = group(block, template=said, capacityType="CAPACITY_BLOCK", instanceTypes=None)
    assert passes(judge("NODE010", *sound))
    lacking = [changed(each, missing, None) if each.type == tokens.LAUNCH_TEMPLATE else each for each in sound]
    nodes = lacking[-1]
    lacking[-1] = changed(nodes, "instanceTypes", ["p5.48xlarge"])
    message = messages(judge("NODE010", *lacking))["train"][0]
    named = {
        "capacityReservationSpecification": "the id of the block as capacityReservationTarget",
        "instanceMarketOptions": "instanceMarketOptions.marketType capacity-block",
    }.get(missing, missing)
    assert message == f"has the capacity type CAPACITY_BLOCK, and its launch template lacks {named}"
    by_group = group(block, target=GROUP_ARN, template=said, capacityType="CAPACITY_BLOCK", instanceTypes=None)
    assert left_open(judge("NODE010", *by_group))


def test_n11_karpenter_asks_for_the_market_of_a_block_by_itself() -> None:
    block = examples.resource(tokens.CAPACITY_BLOCK, "block", {"capacityBlockOfferingId": "cb-1"})
    assert passes(judge("NODE010", *pool(block)))


def test_n11_a_capacity_block_without_a_launch_template_fails() -> None:
    nodes = examples.node_group(capacityType="CAPACITY_BLOCK", instanceTypes=["p5.48xlarge"])
    assert "and no launch template, which must say" in complaint(judge("NODE010", nodes))


def test_n11_a_group_launched_into_a_block_says_so() -> None:
    block = examples.resource(tokens.CAPACITY_BLOCK, "block", {"capacityBlockOfferingId": "cb-1"})
    assert "without the capacity type CAPACITY_BLOCK" in complaint(judge("NODE010", *group(block)))


@pytest.mark.parametrize(("market", "passed"), [("capacity-block", True), ("spot", False), (None, False)])
def test_n11_a_group_of_ones_own_that_is_launched_into_a_block_names_its_market(
    market: str | None, passed: bool
) -> None:
    block = examples.resource(tokens.CAPACITY_BLOCK, "block", {"capacityBlockOfferingId": "cb-1"})
    options = None if market is None else {"marketType": market}
    said = {"instanceMarketOptions": options, "instanceType": "p5.48xlarge", "userData": None}
    _, template, subnet, _ = group(block, template=said)
    props = {
        "launchTemplate": {"id": "lt-1", "version": "1"},
        "tags": [{"key": "kubernetes.io/cluster/ml", "value": "owned", "propagateAtLaunch": True}],
        "vpcZoneIdentifiers": ["subnet-a"],
        "maxSize": 2,
    }
    own = examples.resource(
        tokens.AUTO_SCALING_GROUP, "own", props, launchTemplate=(template,), vpcZoneIdentifiers=(subnet,)
    )
    report = judge("NODE010", block, template, subnet, own)
    if passed:
        assert passes(report)
    else:
        assert complaint(report) == "is launched into the capacity block block without the market capacity-block"


def test_n11_a_placement_group_that_the_reservation_was_made_in_passes() -> None:
    inside = reservation(group=CLUSTER)
    placed = {"placement": {"groupName": "together"}}
    assert passes(judge("NODE010", *group(inside, placed=(CLUSTER,), template=placed)))
    literal = reservation(placementGroupArn="arn:aws:ec2:us-east-1:111122223333:placement-group/together")
    assert passes(judge("NODE010", *group(literal, template=placed)))
    another = reservation(placementGroupArn="arn:aws:ec2:us-east-1:111122223333:placement-group/apart")
    assert "placement group together" in complaint(judge("NODE010", *group(another, template=placed)))


def test_n11_a_placement_group_beside_a_reservation_that_was_not_made_in_it_fails() -> None:
    placed = {"placement": {"groupName": "together"}}
    for program in (group(reservation(), placed=(CLUSTER,), template=placed), group(reservation(), template=placed)):
        message = complaint(judge("NODE010", *program))
        assert message.startswith("is launched into the placement group together and into the reservation held")


def test_n11_a_new_placement_group_is_not_the_one_of_an_older_reservation() -> None:
    report = judge("NODE010", *group(placed=(CLUSTER,), template={"placement": {"groupName": "together"}}))
    assert "placement group together" in report.findings[0].message


def test_n11_a_capacity_block_belongs_to_no_placement_group() -> None:
    block = examples.resource(tokens.CAPACITY_BLOCK, "block", {"capacityBlockOfferingId": "cb-1"})
    said = {
        "instanceMarketOptions": {"marketType": "capacity-block"},
        "instanceType": "p5.48xlarge",
        "placement": {"groupName": "together"},
    }
    program = group(block, template=said, capacityType="CAPACITY_BLOCK", instanceTypes=None)
    assert "the reservation block" in complaint(judge("NODE010", *program))


def test_n11_a_block_that_is_looked_up_belongs_to_no_placement_group_either() -> None:
    said = {"instanceMarketOptions": {"marketType": "capacity-block"}, "placement": {"groupName": "together"}}
    found = messages(judge("NODE010", *group(template=said, capacityType="CAPACITY_BLOCK")))["train"]
    assert any("into the placement group together and into the reservation, which" in message for message in found)


def test_a_placement_group_that_spreads_is_no_part_of_a_reservation() -> None:
    spread = examples.resource(tokens.PLACEMENT_GROUP, "apart", {"name": "apart", "strategy": "spread"})
    program = group(reservation(), placed=(spread,), template={"placement": {"groupName": "apart"}})
    assert passes(judge("NODE010", *program))


def test_a_placement_group_alone_passes() -> None:
    template = examples.launch_template(placement={"groupName": "together"})
    assert passes(judge("NODE010", template, examples.node_group(template)))


def test_n11_karpenters_placement_group_beside_a_reservation() -> None:
    program = pool(reservation(), placementGroupSelector={"name": "together"})
    assert "placement group together" in complaint(judge("NODE010", *program))


def test_n11_blueprint_for_targeted_reservations_has_two_minimums_and_a_placement_group_beside() -> None:
    program = group(
        target=GROUP_ARN,
        placed=(CLUSTER,),
        template={"placement": {"groupName": "together"}},
        scalingConfig={"minSize": 3, "desiredSize": 2, "maxSize": 5},
    )
    found = messages(judge("NODE010", *program))["train"]
    assert any("minimum of 3 nodes above its desired size of 2" in message for message in found)
    assert any("placement group together" in message for message in found)
