"""NODE010: reservations and sizes agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from eks_gpu.facts import labels
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

ID = {"capacityReservationTarget": {"capacityReservationId": "cr-0123"}}
GROUP_ARN = {"capacityReservationTarget": {"capacityReservationResourceGroupArn": "arn:aws:resource-groups:x"}}
SUBNETS = {
    zone: examples.resource(tokens.SUBNET, zone, {"availabilityZone": f"us-east-1{zone}", "tags": {"zone": zone}})
    for zone in "abc"
}
CLUSTER = examples.resource(tokens.PLACEMENT_GROUP, "together", {"name": "together", "strategy": "cluster"})


def reservation(name: str = "held", /, *, group: Resource | None = None, **props: object) -> Resource:
    held = {"instanceType": "p5.48xlarge", "availabilityZone": "us-east-1a", "instanceCount": 2, **props}
    links = {} if group is None else {"placementGroupArn": (group,)}
    return examples.resource(
        tokens.CAPACITY_RESERVATION, name, {key: value for key, value in held.items() if value is not None}, **links
    )


def group(
    *sources: Resource,
    zones: str = "a",
    target: Mapping[str, object] | None = None,
    placed: Sequence[Resource] = (),
    template: Mapping[str, object] | None = None,
    **props: object,
) -> tuple[Resource, ...]:
    """Return a group of p5 in ``zones`` that is launched into ``sources``."""
    sound = examples.launch_template(capacityReservationSpecification=target or ID, **(template or {}))
    lt = examples.resource(
        tokens.LAUNCH_TEMPLATE,
        "gpu",
        sound.props,
        capacityReservationSpecification=sources,
        placement=placed,
    )
    subnets = tuple(SUBNETS[zone] for zone in zones)
    settings = {
        "instanceTypes": ["p5.48xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
        "subnetIds": [f"subnet-{zone}" for zone in zones],
        **props,
    }
    return (*sources, *placed, lt, *subnets, examples.node_group(lt, "train", {"subnetIds": subnets}, **settings))


def pool(
    *sources: Resource,
    terms: Sequence[object] = ({"id": "cr-0123"},),
    capacity: Sequence[str] = ("reserved",),
    zones: Sequence[str] | None = None,
    **spec: object,
) -> tuple[Resource, ...]:
    sound = examples.node_class(
        "p5",
        capacityReservationSelectorTerms=list(terms),
        subnetSelectorTerms=[{"tags": {"zone": "*"}}],
        **spec,
    )
    node_class = examples.resource(tokens.NODE_CLASS, "p5", sound.props, spec=sources)
    required: list[object] = [
        {"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["p5.48xlarge"]},
        {"key": labels.CAPACITY_TYPE, "operator": "In", "values": list(capacity)},
    ]
    if zones is not None:
        required.append({"key": labels.ZONE, "operator": "In", "values": list(zones)})
    nodes = changed(examples.node_pool("p5"), "spec.template.spec.requirements", required)
    return (*sources, *SUBNETS.values(), node_class, nodes)


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


def test_n11_a_pool_of_reserved_capacity_only_selects_a_reservation() -> None:
    assert passes(judge("NODE010", *pool(reservation())))
    assert "selects no reservation" in complaint(judge("NODE010", *pool(terms=())))
    assert passes(judge("NODE010", *pool(terms=(), capacity=("reserved", "on-demand"))))


def test_n11_karpenter_uses_a_reservation_of_its_type_and_zone_and_goes_on_without() -> None:
    assert "is for p4d.24xlarge" in complaint(judge("NODE010", *pool(reservation(instanceType="p4d.24xlarge"))))
    elsewhere = judge("NODE010", *pool(reservation(), zones=("us-east-1b",)))
    assert complaint(elsewhere) == (
        "requires other zones than us-east-1a, where the reservation held is: it is paid for and not used"
    )
    assert passes(judge("NODE010", *pool(reservation(instanceCount=1), capacity=("reserved", "on-demand"))))


def test_n11_karpenter_selects_reservations_by_tags_too() -> None:
    tagged = reservation(tags={"team": "ml"}, instanceType="p4d.24xlarge")
    report = judge("NODE010", tagged, *pool(terms=({"tags": {"team": "ml"}},)))
    assert "is for p4d.24xlarge" in complaint(report)
    assert left_open(judge("NODE010", tagged, *pool(terms=({"tags": {"team": "web"}},)))) == [
        "spec.capacityReservationSelectorTerms"
    ]


def test_n11_karpenters_placement_group_beside_a_reservation() -> None:
    program = pool(reservation(), placementGroupSelector={"name": "together"})
    assert "placement group together" in complaint(judge("NODE010", *program))


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


def test_an_unknown_type_is_left_open_and_the_rest_is_judged() -> None:
    held = unknown(reservation(instanceCount=1), "instanceType")
    report = judge("NODE010", *group(held))
    assert [item.path for item in report.not_evaluated] == ["instanceType"]
    assert "holds 1" in messages(report)["train"][0]


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


def test_cpu_groups_are_not_concerned() -> None:
    assert not_concerned(judge("NODE010", *group(reservation(), instanceTypes=["m5.large"])))


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


def test_n11_a_member_that_is_looked_up_leaves_the_count_open() -> None:
    of_all = examples.resource(tokens.RESOURCE_GROUP, "reserved", {})
    own = reservation("own", instanceCount=1)
    arn = {"resourceArn": "arn:aws:ec2:us-east-1:111122223333:capacity-reservation/cr-1"}
    members = [
        examples.resource(tokens.RESOURCE_GROUP_MEMBER, "own", {}, groupArn=(of_all,), resourceArn=(own,)),
        examples.resource(tokens.RESOURCE_GROUP_MEMBER, "looked-up", arn, groupArn=(of_all,)),
    ]
    assert left_open(judge("NODE010", own, *members, *group(of_all, target=GROUP_ARN))) == ["resourceArn"]
