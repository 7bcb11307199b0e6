"""NODE014: which security groups nodes with adapters are in, and what lets their members talk."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, passes

ITSELF = {"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}
LISTED = [
    {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
    {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
]


def security_group(name: str = "own", **props: object) -> Resource:
    return examples.resource(tokens.SECURITY_GROUP, name, props)


def rule(way: str, own: Resource, source: Resource | None = None, /, **props: object) -> Resource:
    sources = () if source is None else (source,)
    said = {"type": way, "protocol": "-1", **props}
    return examples.resource(
        tokens.SECURITY_GROUP_RULE, way, said, securityGroupId=(own,), sourceSecurityGroupId=sources
    )


def group(own: Resource) -> tuple[Resource, ...]:
    """Return a group of nodes that is in ``own``, as a whole rather than interface by interface."""
    sound = examples.launch_template(networkInterfaces=LISTED, vpcSecurityGroupIds=["sg-1"])
    template = examples.resource(tokens.LAUNCH_TEMPLATE, "gpu", sound.props, vpcSecurityGroupIds=(own,))
    return own, template, examples.node_group(template, instanceTypes=["p4d.24xlarge"])


def pool(*terms: object) -> tuple[Resource, Resource]:
    node_class = examples.node_class(networkInterfaces=LISTED, securityGroupSelectorTerms=list(terms))
    return node_class, examples.node_pool(types=("p4d.24xlarge",))


def test_g09_groups_of_the_whole_template_count() -> None:
    assert passes(judge("NODE014", *group(security_group(ingress=[ITSELF], egress=[ITSELF]))))
    assert "(ingress and egress)" in complaint(judge("NODE014", *group(security_group())))


@pytest.mark.parametrize(
    ("props", "passed"),
    [
        ({"self": True}, True),
        ({"self": False}, False),
        ({"self": True, "protocol": "tcp"}, False),
        ({"self": True, "protocol": None}, False),
        ({"self": True, "protocol": "ALL"}, True),
        ({"self": True, "type": "both"}, False),
    ],
)
def test_g09_a_rule_of_its_own_is_for_every_protocol_and_the_group_itself(
    props: dict[str, object], passed: bool
) -> None:
    own = security_group(egress=[ITSELF])
    report = judge("NODE014", *group(own), rule("ingress", own, **props))
    if passed:
        assert passes(report)
    else:
        assert "(ingress)" in complaint(report)


def test_g09_a_rule_for_another_group_lets_that_one_in_only() -> None:
    own, other = security_group(egress=[ITSELF]), security_group("other")
    assert passes(judge("NODE014", *group(own), rule("ingress", own, own)))
    assert "(ingress)" in complaint(judge("NODE014", *group(own), other, rule("ingress", own, other)))


@pytest.mark.parametrize(
    ("tags", "selected"),
    [
        ({"team": "ml"}, True),
        ({"team": "*"}, True),
        ({"team": "ml", "kind": "efa"}, True),
        ({"team": "ml", "kind": "web"}, False),
        ({"team": "web"}, False),
        ({"zone": "*"}, False),
    ],
)
def test_g09_a_class_selects_the_groups_that_carry_all_of_a_terms_tags(tags: dict[str, str], selected: bool) -> None:
    own = security_group(tags={"team": "ml", "kind": "efa"})
    report = judge("NODE014", own, *pool({"tags": tags}))
    if selected:
        assert "its security group own lets" in complaint(report)
    else:
        assert left_open(report) == ["spec.securityGroupSelectorTerms[0]"]


def test_g09_one_of_several_terms_is_enough_to_select_a_group() -> None:
    own = security_group(tags={"team": "ml"}, ingress=[ITSELF], egress=[ITSELF])
    assert passes(judge("NODE014", own, *pool({"tags": {"team": "web"}}, {"tags": {"team": "ml"}})))
    assert left_open(judge("NODE014", own, *pool({"id": "sg-0123"}))) == ["spec.securityGroupSelectorTerms[0]"]
