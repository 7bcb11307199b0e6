"""NODE010: which of several reservations are a pool's, and what is looked up."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, passes, unknown
from tests.support.reserving import GROUP_ARN, group, of_group, pool, reservation


def test_n11_a_resource_group_stands_for_its_reservations() -> None:
    def program(*held: Resource, zones: str) -> tuple[Resource, ...]:
        of_all = examples.resource(tokens.RESOURCE_GROUP, "reserved", {})
        members = [
            examples.resource(tokens.RESOURCE_GROUP_MEMBER, each.name, {}, groupArn=(of_all,), resourceArn=(each,))
            for each in held
        ]
        return (*held, *members, *group(of_all, target=GROUP_ARN, zones=zones))

    a = reservation("in-a", instanceCount=1)
    b = reservation("in-b", instanceCount=1, availabilityZone="us-east-1b")
    assert passes(judge("NODE010", *program(a, b, zones="ab")))
    found = messages(judge("NODE010", *program(a, zones="ab")))["train"]
    assert any("us-east-1b as well" in message for message in found)
    assert any("holds 1" in message for message in found)


def test_n11_karpenter_uses_a_reservation_of_its_type_and_zone_and_goes_on_without() -> None:
    assert "is for p4d.24xlarge" in complaint(judge("NODE010", *pool(reservation(instanceType="p4d.24xlarge"))))
    elsewhere = judge("NODE010", *pool(reservation(), zones=("us-east-1b",)))
    assert complaint(elsewhere) == (
        "requires other zones than us-east-1a, where the reservation held is: it is paid for and not used"
    )
    assert passes(judge("NODE010", *pool(reservation(instanceCount=1), capacity=("reserved", "on-demand"))))


@pytest.mark.parametrize(
    ("tags", "selected"),
    [
        ({"team": "*"}, True),
        ({"team": "ml", "kind": "p5"}, True),
        ({"team": "ml", "kind": "p4"}, False),
        ({"zone": "*"}, False),
    ],
)
def test_n11_a_reservation_carries_all_tags_of_a_term(tags: dict[str, str], selected: bool) -> None:
    tagged = reservation(tags={"team": "ml", "kind": "p5"}, instanceType="p4d.24xlarge")
    report = judge("NODE010", tagged, *pool(terms=({"tags": tags},)))
    if selected:
        assert "is for p4d.24xlarge" in complaint(report)
    else:
        assert left_open(report)
    unclear = unknown(tagged, "tags")
    assert left_open(judge("NODE010", unclear, *pool(terms=({"tags": tags},))))


def test_n11_karpenter_selects_reservations_by_tags_too() -> None:
    tagged = reservation(tags={"team": "ml"}, instanceType="p4d.24xlarge")
    report = judge("NODE010", tagged, *pool(terms=({"tags": {"team": "ml"}},)))
    assert "is for p4d.24xlarge" in complaint(report)
    assert left_open(judge("NODE010", tagged, *pool(terms=({"tags": {"team": "web"}},)))) == [
        "spec.capacityReservationSelectorTerms"
    ]


def test_a_reservation_that_is_looked_up_is_left_open() -> None:
    assert left_open(judge("NODE010", *group())) == [
        "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"
    ]
    placed = left_open(judge("NODE010", *group(template={"placement": {"groupName": "together"}})))
    assert placed[0] == "placement.groupName"


def test_subnets_that_are_looked_up_leave_the_zone_open() -> None:
    *others, nodes = group(reservation())
    loose = examples.node_group(others[1], "train", instanceTypes=["p5.48xlarge"], subnetIds=["subnet-0123"])
    assert left_open(judge("NODE010", *others, loose)) == ["subnetIds[0]"]
    assert nodes.name == loose.name
    nowhere = examples.node_group(others[1], "train", instanceTypes=["p5.48xlarge"])
    assert passes(judge("NODE010", *others, nowhere))


def test_n11_reservations_of_one_resource_group_for_other_types_may_be_other_pools() -> None:
    of_all = examples.resource(tokens.RESOURCE_GROUP, "reserved", {})
    own = reservation("own")
    other = reservation("other", instanceType="p4d.24xlarge", availabilityZone="us-east-1b")
    members = [
        examples.resource(tokens.RESOURCE_GROUP_MEMBER, each.name, {}, groupArn=(of_all,), resourceArn=(each,))
        for each in (own, other)
    ]
    program = (own, other, *members, *group(of_all, target=GROUP_ARN))
    assert passes(judge("NODE010", *program))
    neither = judge(
        "NODE010",
        *(changed(each, "instanceTypes", ["g5.xlarge"]) if each.name == "train" else each for each in program),
    )
    assert len(messages(neither)["train"]) == 2


def test_n11_reservations_in_other_zones_may_be_other_pools_and_hold_nothing_for_this_one() -> None:
    own, other = reservation("own"), reservation("other", availabilityZone="us-east-1b")
    assert passes(judge("NODE010", *of_group(own, other)))
    assert passes(judge("NODE010", *of_group(other, own)))
    small = reservation("own", instanceCount=1)
    message = complaint(judge("NODE010", *of_group(small, other)))
    assert message == "may grow to 2 nodes, and the reservation own holds 1: further launches fail"
    neither = messages(judge("NODE010", *of_group(own, other, zones="c")))["train"]
    assert len(neither) == 2
    unclear = unknown(small, "availabilityZone")
    assert "holds 1" in complaint(judge("NODE010", *of_group(unclear)))


def test_n11_a_reservation_whose_zone_nobody_says_may_be_anywhere() -> None:
    somewhere = reservation("somewhere", availabilityZone=None)
    assert passes(judge("NODE010", *of_group(somewhere, zones="ab")))
    assert passes(judge("NODE010", *of_group(reservation("own"), somewhere, zones="ab")))


def test_n11_what_nobody_says_of_a_reservation_or_a_size_is_not_counted() -> None:
    assert passes(judge("NODE010", *group(reservation(instanceCount=None))))
    assert passes(judge("NODE010", *group(reservation(), scalingConfig={"minSize": 0, "desiredSize": 4})))
    *others, nodes = pool(reservation(instanceCount=1))
    assert passes(judge("NODE010", *others, changed(nodes, "spec.limits", {"nodes": "4"})))


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (4, "buys g5.12xlarge, g5.2xlarge, g5.4xlarge, g5.xlarge, and"),
        (6, "buys g5.12xlarge, g5.16xlarge, g5.24xlarge, g5.2xlarge and 2 more, and"),
    ],
)
def test_n11_a_pool_of_many_types_is_told_by_the_first_few(count: int, said: str) -> None:
    types = [f"g5.{size}xlarge" for size in ("", 2, 4, 12, 16, 24)][:count]
    *others, nodes = group(reservation())
    assert complaint(judge("NODE010", *others, changed(nodes, "instanceTypes", types))).startswith(said)


def test_n11_a_member_that_is_looked_up_leaves_the_count_open() -> None:
    of_all = examples.resource(tokens.RESOURCE_GROUP, "reserved", {})
    own = reservation("own", instanceCount=1)
    arn = {"resourceArn": "arn:aws:ec2:us-east-1:111122223333:capacity-reservation/cr-1"}
    members = [
        examples.resource(tokens.RESOURCE_GROUP_MEMBER, "own", {}, groupArn=(of_all,), resourceArn=(own,)),
        examples.resource(tokens.RESOURCE_GROUP_MEMBER, "looked-up", arn, groupArn=(of_all,)),
    ]
    for zones in ("a", "ab"):
        report = judge("NODE010", own, *members, *group(of_all, target=GROUP_ARN, zones=zones))
        assert left_open(report) == ["resourceArn"]
