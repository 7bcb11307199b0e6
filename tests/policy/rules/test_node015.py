"""NODE015: nodes go before what deletes them."""

from __future__ import annotations

import dataclasses

from eks_gpu.facts import labels, namespaces
from eks_gpu.facts.versions import KARPENTER
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, judge, left_open, messages, not_concerned, passes, unknown


def after(resource: Resource, *others: Resource) -> Resource:
    return dataclasses.replace(resource, dependencies=frozenset(item.urn for item in others))


SYSTEM = examples.resource(tokens.NODE_GROUP, "system", {"instanceTypes": ["m7i.large"]})
GPUS = examples.node_group(None, "inference")
QUEUE = examples.resource(tokens.QUEUE, "interruptions", {"name": "karpenter-ml"})
ROLE = examples.resource(tokens.ROLE, "controller", {})
POLICY = examples.resource("aws:iam/rolePolicy:RolePolicy", "controller-policy", {"role": UNKNOWN}, role=(ROLE,))
ASSOCIATION = examples.resource(
    tokens.POD_IDENTITY,
    "association",
    {"serviceAccount": namespaces.KARPENTER_CONTROLLER.name, "roleArn": UNKNOWN},
    roleArn=(ROLE,),
)
BELOW = (SYSTEM, QUEUE, ROLE, POLICY, ASSOCIATION)
CHART = examples.release(
    "karpenter", KARPENTER.name, KARPENTER.version, values={"settings": {"interruptionQueue": "karpenter-ml"}}
)
RELEASE = after(CHART, *BELOW)
CLASS = after(examples.node_class("p4d"), RELEASE)
POOL = after(examples.training_pool(), CLASS)


def test_n09_a_chain_from_the_pool_to_karpenters_rights_passes() -> None:
    assert passes(judge("NODE015", POOL, CLASS, RELEASE, *BELOW))


def test_n09_a_pool_that_names_its_class_and_does_not_depend_on_it_fails() -> None:
    found = messages(judge("NODE015", after(POOL, RELEASE), CLASS, RELEASE, *BELOW))
    assert found == {
        "p4d": [
            (
                "does not depend on its EC2NodeClass p4d: destroyed at once with it, its nodes may be left running and "
                "billed"
            )
        ]
    }


def test_n09_a_pool_that_does_not_depend_on_karpenter_fails() -> None:
    free = after(CLASS)
    report = judge("NODE015", after(POOL, free), free, RELEASE, *BELOW)
    said = [(finding.level, finding.message) for finding in report.findings]
    first = "does not depend on Karpenter's release karpenter: if that is destroyed first, its"
    assert said == [
        (Level.MANDATORY, f"{first} nodes are left running and billed"),
        (Level.ADVISORY, f"{first} finalizer waits for a controller that is gone"),
    ]


def test_n09_each_cluster_of_a_stack_has_a_karpenter_of_its_own() -> None:
    def copied(resource: Resource) -> Resource:
        return dataclasses.replace(
            resource,
            urn=f"{resource.urn}-2",
            name=f"{resource.name}-2",
            dependencies=frozenset(f"{urn}-2" for urn in resource.dependencies),
            property_dependencies={
                key: frozenset(f"{urn}-2" for urn in urns) for key, urns in resource.property_dependencies.items()
            },
        )

    first = (POOL, CLASS, RELEASE, *BELOW)
    second = tuple(map(copied, first))
    assert passes(judge("NODE015", *first, *second))
    alone = dataclasses.replace(second[0], dependencies=frozenset({second[1].urn}))
    free = dataclasses.replace(second[1], dependencies=frozenset())
    said = messages(judge("NODE015", *first, alone, free, *second[2:]))
    assert said["p4d-2"][0].startswith("does not depend on Karpenter's release karpenter or karpenter-2")


def test_n09_a_class_that_the_pool_was_computed_from_is_before_it() -> None:
    props = {**POOL.props}
    pool = examples.resource(POOL.type, POOL.name, props, spec=(CLASS,))
    assert passes(judge("NODE015", pool, CLASS, RELEASE, *BELOW))


def test_n09_what_a_component_waits_for_its_pools_wait_for() -> None:
    component = after(examples.resource("acme:index:Pools", "pools", {}), CLASS)
    pool = dataclasses.replace(after(POOL), parent=component.urn)
    assert passes(judge("NODE015", component, pool, CLASS, RELEASE, *BELOW))


def test_n09_karpenter_depends_on_a_node_group_it_can_run_on() -> None:
    bare = after(CHART, QUEUE, ROLE, POLICY, ASSOCIATION)
    found = messages(judge("NODE015", bare, *BELOW))["karpenter"]
    assert found == [
        (
            "depends on no node group that Karpenter can run on (system): destroyed at once with it, Karpenter is gone "
            "before it has terminated its nodes"
        )
    ]
    assert passes(judge("NODE015", after(CHART), GPUS))


def test_n09_one_of_several_node_groups_is_enough() -> None:
    other = examples.resource(tokens.NODE_GROUP, "other", {"instanceTypes": ["m7i.large"]})
    assert passes(judge("NODE015", RELEASE, other, *BELOW))


def test_n09_a_fargate_profile_is_a_home_as_well() -> None:
    profile = examples.resource(tokens.FARGATE_PROFILE, "karpenter-pods", {})
    assert passes(judge("NODE015", after(CHART, profile), profile, SYSTEM))
    assert "karpenter-pods, system" in str(messages(judge("NODE015", after(CHART), profile, SYSTEM)))


def test_the_groups_inside_of_a_cluster_component_are_waited_for_by_its_provider() -> None:
    cluster = examples.resource(tokens.CLUSTER_COMPONENT, "ml", {})
    assert passes(judge("NODE015", cluster, after(CHART), dataclasses.replace(SYSTEM, parent=cluster.urn)))


def test_n09_karpenter_depends_on_its_queue() -> None:
    found = messages(judge("NODE015", after(CHART, SYSTEM, POLICY, ASSOCIATION, ROLE), *BELOW))
    assert found == {
        "karpenter": ["does not depend on its queue interruptions: they are made and destroyed in any order"]
    }


def test_n09_karpenter_depends_on_what_gives_it_its_rights() -> None:
    found = messages(judge("NODE015", after(CHART, SYSTEM, QUEUE, ASSOCIATION), *BELOW))["karpenter"]
    assert len(found) == 1
    assert found[0].startswith("does not depend on controller-policy (RolePolicy), which gives Karpenter its rights")
    found = messages(judge("NODE015", after(CHART, SYSTEM, QUEUE), *BELOW))["karpenter"]
    assert [message.split()[4] for message in found] == ["association", "controller", "controller-policy"]


def test_n09_a_role_in_the_values_needs_its_policies_as_well() -> None:
    chart = examples.release("karpenter", KARPENTER.name, KARPENTER.version, values=UNKNOWN)
    chart = dataclasses.replace(after(chart, ROLE), property_dependencies={"values": frozenset({ROLE.urn})})
    report = judge("NODE015", chart, ROLE, POLICY)
    assert [finding.message.split()[4] for finding in report.findings] == ["controller-policy"]


def test_n09_remedies_say_what_is_to_depend_on_what() -> None:
    def remedies(*program: Resource) -> list[str]:
        return [finding.fix.partition(" (")[0] for finding in judge("NODE015", *program).findings]

    assert remedies(after(POOL, RELEASE), CLASS, RELEASE, *BELOW) == ["let p4d depend on p4d"]
    assert remedies(after(POOL, CLASS), after(CLASS), RELEASE, *BELOW) == ["let p4d depend on karpenter"] * 2
    bare = after(CHART, QUEUE, ROLE, POLICY, ASSOCIATION)
    assert remedies(bare, *BELOW) == ["let karpenter depend on system"]
    assert remedies(after(CHART, SYSTEM, POLICY, ASSOCIATION), *BELOW) == ["let karpenter depend on interruptions"]
    assert remedies(after(CHART, SYSTEM, QUEUE, ASSOCIATION), *BELOW) == ["let karpenter depend on controller-policy"]


def test_what_is_elsewhere_is_nobodys_business() -> None:
    assert passes(judge("NODE015", after(POOL)))
    assert passes(judge("NODE015", after(CHART)))


def test_an_association_of_somebody_else_is_not_karpenters() -> None:
    other = dataclasses.replace(ASSOCIATION, props={"serviceAccount": "ebs-csi-controller-sa"})
    assert passes(judge("NODE015", after(CHART, SYSTEM, QUEUE), SYSTEM, QUEUE, ROLE, other))


def test_manifests_and_auto_mode_are_not_concerned() -> None:
    report = evaluate(
        (after(POOL), after(CLASS)),
        environment=Environment.PROD,
        rules=(BY_ID["NODE015"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert not_concerned(report)
    auto = examples.training_pool(node={"nodeClassRef": {"group": labels.EKS_AUTO_DOMAIN, "name": "default"}})
    assert not_concerned(judge("NODE015", auto))


def test_a_class_or_a_chart_that_is_not_known_leaves_it_open() -> None:
    reference = "spec.template.spec.nodeClassRef.name"
    assert left_open(judge("NODE015", unknown(after(POOL, RELEASE), reference), CLASS, RELEASE, *BELOW)) == [reference]
    assert left_open(judge("NODE015", POOL, after(CLASS), unknown(after(CHART), "chart"))) == ["chart", "chart"]


def test_n09_a_pool_and_its_class_from_the_same_yaml_need_no_order_but_karpenter() -> None:
    for token in sorted(tokens.YAML_FILES):
        group = after(examples.resource(token, "pools", {}), RELEASE)
        pool, own = (dataclasses.replace(after(item), parent=group.urn) for item in (POOL, CLASS))
        assert passes(judge("NODE015", group, pool, own, RELEASE, *BELOW))
        loose = after(group)
        found = messages(judge("NODE015", loose, pool, own, RELEASE, *BELOW))
        assert all("Karpenter's release" in text for texts in found.values() for text in texts)
        assert set(found) == {POOL.name, CLASS.name}
