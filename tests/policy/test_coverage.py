"""What no rule can see does not pass in silence."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import PACK, Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES
from tests.support.judging import TODAY

P4D_GROUP = {
    "instanceTypes": ["p4d.24xlarge"],
    "gpu": True,
    "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
}


def report_on(*program: Resource) -> Report:
    return evaluate(program, environment=Environment.PROD, rules=RULES, today=TODAY)


def unseen(*program: Resource) -> list[tuple[str, str]]:
    return [(item.resource, item.path) for item in report_on(*program).not_evaluated if item.rule == PACK]


def below(component: Resource, child: Resource) -> Resource:
    return dataclasses.replace(child, parent=component.urn)


def test_node001_a_managed_node_group_component_is_judged_where_nothing_has_expanded_it() -> None:
    component = examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", P4D_GROUP)
    found = {(finding.rule, finding.resource) for finding in report_on(component).findings}
    assert found >= {("NODE001", "gpu"), ("NODE006", "gpu"), ("NODE007", "gpu")}


def test_node001_the_node_group_goes_before_the_component_that_made_it() -> None:
    component = examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", P4D_GROUP)
    template = examples.launch_template()
    made = below(component, examples.node_group(template))
    assert {finding.resource for finding in report_on(component, template, made).findings} == set()


@pytest.mark.parametrize(
    ("system", "device"), [("AL2023", "/dev/xvda"), ("Bottlerocket", "/dev/xvdb"), ("RECOMMENDED", "/dev/xvda")]
)
def test_node001_the_component_may_name_its_operating_system(system: str, device: str) -> None:
    component = examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", {**P4D_GROUP, "operatingSystem": system})
    assert any(device in finding.message for finding in report_on(component).findings if finding.rule == "NODE001")


@pytest.mark.parametrize(
    ("token", "props"),
    [
        ("eks:index:NodeGroupV2", {"instanceType": "g5.xlarge"}),
        ("eks:index:NodeGroup", {"gpu": True, "instanceType": "m7i.large"}),
        ("eks:index:Cluster", {"instanceType": "p4d.24xlarge"}),
        ("eks:index:Cluster", {"nodeGroupOptions": {"instanceType": "g4dn.xlarge"}}),
    ],
)
def test_gpu_nodes_inside_a_component_are_left_open(token: str, props: dict[str, object]) -> None:
    component = examples.resource(token, "ml", props)
    assert unseen(component) == [("ml", "the GPU nodes in it")]
    made = below(component, examples.resource(tokens.AUTO_SCALING_GROUP, "made", {}))
    assert unseen(component, made) == []


@pytest.mark.parametrize(
    ("token", "props"),
    [
        ("eks:index:NodeGroupV2", {"instanceType": "m7i.large"}),
        ("eks:index:Cluster", {}),
        ("eks:index:Cluster", {"instanceType": "g5.xlarge", "skipDefaultNodeGroup": True}),
    ],
)
def test_components_without_gpus_are_nobodys_question(token: str, props: dict[str, object]) -> None:
    assert unseen(examples.resource(token, "ml", props)) == []


def test_objects_inside_a_manifest_are_left_open_until_somebody_has_read_it() -> None:
    manifest = examples.resource("kubernetes:yaml/v2:ConfigGroup", "app", {"yaml": "kind: Deployment"})
    assert unseen(manifest) == [("app", "the objects in it")]
    assert unseen(manifest, below(manifest, examples.deployment())) == []
