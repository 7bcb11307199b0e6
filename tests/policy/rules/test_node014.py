"""NODE014: EFA fits the type."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from eks_gpu.facts import resources
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes, unknown

ITSELF = {"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}
ANYWHERE = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}


def interface(card: int, device: int, kind: str | None = None, **more: object) -> dict[str, object]:
    named = {} if kind is None else {"interfaceType": kind}
    return {"networkCardIndex": card, "deviceIndex": device, **named, **more}


def adapters(count: int, **more: object) -> list[dict[str, object]]:
    return [interface(0, 0, "interface", **more), *(interface(card, 1, "efa-only", **more) for card in range(count))]


def group(
    listed: Sequence[object], *types: str, groups: Sequence[Resource] = (), **props: object
) -> tuple[Resource, ...]:
    sound = examples.launch_template(networkInterfaces=list(listed), **props)
    template = examples.resource(tokens.LAUNCH_TEMPLATE, "gpu", sound.props, networkInterfaces=groups)
    return (*groups, template, examples.node_group(template, instanceTypes=list(types)))


def security_group(**props: object) -> Resource:
    return examples.resource(tokens.SECURITY_GROUP, "adapters", props)


def pool(listed: Sequence[object], *types: str, **spec: object) -> tuple[Resource, Resource]:
    return examples.node_class(networkInterfaces=list(listed), **spec), examples.node_pool(types=types)


def trainer(amount: int | str) -> Resource:
    asked = {"limits": {resources.GPU: "8", resources.EFA: str(amount), "memory": "512Gi"}}
    return examples.deployment(examples.container(resources=asked), name="trainer")


@pytest.mark.parametrize(
    ("count", "instance", "has"),
    [
        (4, "p4d.24xlarge", None),
        (32, "p5.48xlarge", None),
        (16, "p5en.48xlarge", None),
        (1, "g5.8xlarge", None),
        (5, "p4d.24xlarge", "p4d.24xlarge has 4"),
        (32, "p5en.48xlarge", "p5en.48xlarge has 16"),
        (1, "g5.4xlarge", "g5.4xlarge has none"),
    ],
)
def test_g09_a_type_has_so_many_adapters_and_no_more(count: int, instance: str, has: str | None) -> None:
    for program in (group(adapters(count), instance), pool(adapters(count), instance)):
        report = judge("NODE014", *program)
        assert passes(report) if has is None else has in complaint(report)


def test_g09_every_type_of_a_group_needs_them() -> None:
    message = complaint(judge("NODE014", *group(adapters(4), "p4d.24xlarge", "g5.8xlarge")))
    assert message == "attaches 4 Elastic Fabric Adapters to each node, and g5.8xlarge has 1"
    few = [f"g5.{size}xlarge" for size in ("", 2, 4, 8, 16)]
    three, five = (complaint(judge("NODE014", *group(adapters(4), *types))) for types in (few[1:4], few))
    assert three.endswith("g5.2xlarge has none, g5.4xlarge has none, g5.8xlarge has 1")
    assert five.endswith("g5.xlarge has none, g5.2xlarge has none, g5.4xlarge has none, and 2 more have too few")
    one = complaint(judge("NODE014", *group(adapters(1), "g5.2xlarge")))
    assert one == "attaches 1 Elastic Fabric Adapter to each node, and g5.2xlarge has none"


def test_g09_the_older_shape_with_an_adapter_as_primary_interface_passes_in_a_launch_template() -> None:
    older = [interface(0, 0, "efa"), *(interface(card, 1, "efa") for card in range(1, 4))]
    assert passes(judge("NODE014", *group(older, "p4d.24xlarge")))


def test_g09_an_interface_that_says_no_place_is_the_nodes_own() -> None:
    assert passes(judge("NODE014", *group([{"interfaceType": "efa"}], "g5.8xlarge")))
    twice = [{"interfaceType": "interface"}, {"interfaceType": "interface"}]
    assert "several interfaces as device 0 of network card 0" in complaint(judge("NODE014", *pool(twice, "g5.8xlarge")))


def test_g09_karpenter_buys_the_type_that_has_enough_adapters() -> None:
    assert passes(judge("NODE014", *pool((), "g5.8xlarge", "p4d.24xlarge"), trainer(4)))


def test_g09_the_nodes_own_interface_is_an_ordinary_one() -> None:
    remedy = "list one ordinary interface as device 0 of card 0 and one efa-only interface as device 1 of each card"
    alone = [interface(card, 1, "efa-only") for card in range(4)]
    report = judge("NODE014", *pool(alone, "p4d.24xlarge"))
    assert "none as device 0 of network card 0" in complaint(report)
    assert report.findings[0].fix.startswith(remedy)
    only = [interface(0, 0, "efa-only"), *alone[1:]]
    for program in (pool(only, "p4d.24xlarge"), group(only, "p4d.24xlarge")):
        report = judge("NODE014", *program)
        assert "takes no IP address" in complaint(report)
        assert report.findings[0].fix.startswith(remedy)


def test_g09_an_ec2_node_class_takes_an_ordinary_interface_for_the_nodes_own() -> None:
    older = [interface(0, 0, "efa"), *(interface(card, 1, "efa-only") for card in range(1, 4))]
    report = judge("NODE014", *pool(older, "p4d.24xlarge"))
    assert complaint(report) == (
        "makes device 0 of network card 0, the node's own interface, an efa one, where an EC2NodeClass takes an "
        "ordinary one"
    )
    assert report.findings[0].fix.startswith("list one ordinary interface")


def test_g09_a_place_is_taken_once_and_a_card_has_room_for_one_adapter() -> None:
    twice = [interface(0, 0), interface(1, 1, "efa-only"), interface(1, 1)]
    assert "several interfaces as device 1 of network card 1" in complaint(
        judge("NODE014", *group(twice, "p4d.24xlarge"))
    )
    crowded = [interface(0, 0), interface(1, 1, "efa-only"), interface(1, 2, "efa-only")]
    assert "2 adapters on network card 1" in complaint(judge("NODE014", *pool(crowded, "p4d.24xlarge")))


def test_g09_a_public_address_goes_with_one_interface_only() -> None:
    public = adapters(4, associatePublicIpAddress=True)
    assert "5 interfaces" in complaint(judge("NODE014", *group(public, "p4d.24xlarge")))
    assert "5 interfaces" in complaint(
        judge("NODE014", *pool(adapters(4), "p4d.24xlarge", associatePublicIPAddress=True))
    )
    two = [interface(0, 0, associatePublicIpAddress="true"), interface(1, 1)]
    assert "with 2 interfaces" in complaint(judge("NODE014", *group(two, "p4d.24xlarge")))
    alone = [interface(0, 0, associatePublicIpAddress="true")]
    assert passes(judge("NODE014", *group(alone, "g5.2xlarge")))
    assert passes(judge("NODE014", *group(adapters(4, associatePublicIpAddress="false"), "p4d.24xlarge")))


@pytest.mark.parametrize(
    ("props", "missing"),
    [
        ({"ingress": [ITSELF], "egress": [ITSELF]}, None),
        ({"ingress": [ITSELF], "egress": [ANYWHERE, ITSELF]}, None),
        ({"ingress": [ITSELF], "egress": [ANYWHERE]}, "(egress)"),
        ({"ingress": [{**ITSELF, "protocol": "tcp"}], "egress": [ITSELF]}, "(ingress)"),
        ({}, "(ingress and egress)"),
    ],
)
def test_g09_the_group_lets_its_own_members_talk_both_ways(props: dict[str, object], missing: str | None) -> None:
    own = security_group(**props)
    report = judge("NODE014", *group(adapters(4, securityGroups=["sg-1"]), "p4d.24xlarge", groups=(own,)))
    assert passes(report) if missing is None else missing in complaint(report)


def test_g09_rules_of_their_own_count_as_the_groups() -> None:
    own = security_group()
    old = [
        examples.resource(
            tokens.SECURITY_GROUP_RULE,
            way,
            {"type": way, "protocol": "all", "self": True},
            securityGroupId=(own,),
        )
        for way in ("ingress", "egress")
    ]
    new = [
        examples.resource(
            token,
            token,
            {"ipProtocol": "-1"},
            securityGroupId=(own,),
            referencedSecurityGroupId=(own,),
        )
        for token in (tokens.SECURITY_GROUP_INGRESS, tokens.SECURITY_GROUP_EGRESS)
    ]
    program = group(adapters(4, securityGroups=["sg-1"]), "p4d.24xlarge", groups=(own,))
    assert passes(judge("NODE014", *program, *old))
    assert passes(judge("NODE014", *program, *new))
    assert "(egress)" in complaint(judge("NODE014", *program, old[0]))
    assert "(ingress)" in complaint(judge("NODE014", *program, new[1]))


def test_g09_the_clusters_own_group_lets_its_members_talk() -> None:
    cluster = examples.resource("aws:eks/cluster:Cluster", "ml", {})
    listed = adapters(4, securityGroups=["sg-cluster"])
    sound = examples.launch_template(networkInterfaces=listed)
    template = examples.resource(tokens.LAUNCH_TEMPLATE, "gpu", sound.props, networkInterfaces=(cluster,))
    nodes = examples.node_group(template, instanceTypes=["p4d.24xlarge"])
    assert passes(judge("NODE014", cluster, template, nodes))


def test_a_group_that_is_looked_up_is_left_open_unless_another_lets_them_talk() -> None:
    looked_up = group(adapters(4, securityGroups=["sg-0123"]), "p4d.24xlarge")
    assert left_open(judge("NODE014", *looked_up)) == ["networkInterfaces[0].securityGroups[0]"]
    own = security_group(ingress=[ITSELF], egress=[ITSELF])
    both = group(adapters(4, securityGroups=["sg-0123", "sg-1"]), "p4d.24xlarge", groups=(own,))
    assert passes(judge("NODE014", *both))


def test_g09_several_groups_let_their_members_talk_together() -> None:
    one = examples.resource(tokens.SECURITY_GROUP, "one", {"ingress": [ITSELF]})
    two = examples.resource(tokens.SECURITY_GROUP, "two", {"egress": [ITSELF]})
    listed = adapters(4, securityGroups=["sg-1", "sg-2"])
    assert passes(judge("NODE014", *group(listed, "p4d.24xlarge", groups=(one, two))))
    mute = examples.resource(tokens.SECURITY_GROUP, "mute", {})
    message = complaint(judge("NODE014", *group(listed, "p4d.24xlarge", groups=(mute, one))))
    assert message.startswith("has adapters, and no rule of its security groups mute, one lets all traffic")
    single = complaint(judge("NODE014", *group(adapters(4, securityGroups=["sg-1"]), "p4d.24xlarge", groups=(mute,))))
    assert "no rule of its security group mute lets" in single


def test_g09_a_class_selects_groups_by_tags() -> None:
    def program(**props: object) -> tuple[Resource, ...]:
        own = security_group(tags={"team": "ml"}, **props)
        return (own, *pool(adapters(4), "p4d.24xlarge", securityGroupSelectorTerms=[{"tags": {"team": "ml"}}]))

    assert passes(judge("NODE014", *program(ingress=[ITSELF], egress=[ITSELF])))
    assert "(ingress and egress)" in complaint(judge("NODE014", *program()))


@pytest.mark.parametrize(("amount", "passed"), [(4, True), (5, False)])
def test_g09_a_pod_asks_for_no_more_adapters_than_its_pool_gives(amount: int, passed: bool) -> None:
    for program in (group(adapters(4), "p4d.24xlarge"), pool((), "p4d.24xlarge")):
        report = judge("NODE014", *program, trainer(amount))
        if passed:
            assert passes(report)
        else:
            (message,) = messages(report)["trainer"]
            assert message.startswith("asks for 5 Elastic Fabric Adapters (vpc.amazonaws.com/efa)")
            assert message.endswith("gives 4")


def test_g09_a_pod_asks_for_the_adapters_of_all_its_containers() -> None:
    each = {"limits": {resources.GPU: "4", resources.EFA: "2"}}
    both = examples.deployment(
        examples.container(name="a", resources=each),
        examples.container(name="b", resources=each),
        examples.container(name="c", resources={"limits": {"cpu": "1"}}),
        name="trainer",
    )
    assert passes(judge("NODE014", *group(adapters(4), "p4d.24xlarge"), both))
    assert "asks for 4" in messages(judge("NODE014", *group(adapters(3), "p4d.24xlarge"), both))["trainer"][0]


def test_g09_one_pool_of_several_is_enough_and_none_is_told_apart() -> None:
    none, four = group((), "p4d.24xlarge"), pool(adapters(4), "p4d.24xlarge")
    assert passes(judge("NODE014", *none, *four, trainer(4)))
    message = messages(judge("NODE014", *none, *four, trainer(5)))["trainer"][0]
    assert message.endswith("of the pools that let it on, g5 gives 4, inference gives none")
    unclear = unknown(four[0], "spec.networkInterfaces")
    assert "spec.networkInterfaces" in left_open(judge("NODE014", *none, unclear, four[1], trainer(4)))


def test_g09_a_group_that_attaches_none_gives_none() -> None:
    template = examples.launch_template()
    nodes = examples.node_group(template, instanceTypes=["p4d.24xlarge"])
    message = complaint(judge("NODE014", template, nodes, trainer(4)))
    assert message.endswith("of the pools that let it on, inference gives none")


def test_g09_the_component_with_support_for_adapters_gives_what_the_type_has() -> None:
    props = {"instanceTypes": ["p4d.24xlarge"], "enableEfaSupport": True, "labels": {}}
    component = examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", props)
    assert passes(judge("NODE014", component, trainer(4)))


def test_g09_karpenter_attaches_adapters_for_pods_into_the_groups_of_the_class() -> None:
    own = security_group(tags={"team": "ml"}, ingress=[ITSELF], egress=[ANYWHERE])
    program = (own, *pool((), "p4d.24xlarge", securityGroupSelectorTerms=[{"tags": {"team": "ml"}}]))
    assert passes(judge("NODE014", *program))
    assert "(egress)" in complaint(judge("NODE014", *program, trainer(4)))
    without = (own, *pool((), "g5.2xlarge", securityGroupSelectorTerms=[{"tags": {"team": "ml"}}]))
    assert list(messages(judge("NODE014", *without, trainer(4)))) == ["trainer"]
    ordinary = (own, *pool([interface(0, 0)], "p4d.24xlarge", securityGroupSelectorTerms=[{"tags": {"team": "ml"}}]))
    assert list(messages(judge("NODE014", *ordinary, trainer(4)))) == ["trainer"]


def test_a_pod_that_may_land_on_a_type_that_nobody_knows_passes() -> None:
    template = examples.launch_template()
    nodes = examples.node_group(template, instanceTypes=["p9.48xlarge", "p4d.24xlarge"])
    assert passes(judge("NODE014", template, nodes, trainer(4)))


@pytest.mark.parametrize("asked", [{resources.EFA: "4"}, {resources.GPU: "8"}])
def test_only_pods_with_gpus_and_adapters_are_concerned(asked: dict[str, str]) -> None:
    pod = examples.deployment(examples.container(resources={"limits": asked}), name="trainer")
    assert not_concerned(judge("NODE014", pod))


def test_an_amount_of_adapters_that_is_none_is_somebody_elses_business() -> None:
    assert passes(judge("NODE014", *group(adapters(4), "p4d.24xlarge"), trainer("many")))


def test_a_pod_that_no_pool_lets_on_and_one_without_adapters_are_others_business() -> None:
    assert passes(judge("NODE014", trainer(4)))
    assert not_concerned(judge("NODE014", examples.deployment()))


def test_unknown_interfaces_are_left_open() -> None:
    template = unknown(examples.launch_template(networkInterfaces=[]), "networkInterfaces")
    nodes = examples.node_group(template)
    assert left_open(judge("NODE014", template, nodes)) == ["networkInterfaces"]


def test_groups_without_adapters_pass_and_cpu_groups_are_not_concerned() -> None:
    template = examples.launch_template()
    assert passes(judge("NODE014", template, examples.node_group(template)))
    assert not_concerned(judge("NODE014", *group(adapters(2), "hpc7a.96xlarge")))
