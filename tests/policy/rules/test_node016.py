"""NODE016: a pod that fits a cheap pool does not land on a dear one."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources, taints
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

NODE = "spec.template.spec"
SERVER = examples.deployment()
EVERYTHING = [{"operator": "Exists"}]


def pool(name: str, *types: str, weight: int | None = None, capacity: str = "on-demand") -> Resource:
    made = examples.node_pool(name, types=types, limits={resources.GPU: "64"})
    return changed(changed(made, "spec.weight", weight), f"{NODE}.requirements.1.values", [capacity])


def g5(weight: int | None = None) -> tuple[Resource, Resource]:
    return pool("g5", "g5.2xlarge", weight=weight), examples.node_class("g5")


def p4d(weight: int | None = None) -> tuple[Resource, Resource]:
    return pool("p4d", "p4d.24xlarge", weight=weight), examples.node_class("p4d")


def dedicated() -> tuple[Resource, Resource]:
    both = [taints.GPU.kubernetes(), taints.dedicated("a100").kubernetes()]
    return changed(p4d()[0], f"{NODE}.taints", both), p4d()[1]


def test_n12_without_weights_the_name_later_in_the_alphabet_wins_whatever_it_costs() -> None:
    message = complaint(judge("NODE016", *g5(), *p4d(), SERVER))
    assert message == (
        "lands on p4d ($21.96/h, no weight), which Karpenter tries before g5 ($1.21/h, no weight): 18 times the price"
    )


def test_n12_the_fix_says_which_weight_to_set() -> None:
    (finding,) = judge("NODE016", *g5(10), *p4d(50), SERVER).findings
    assert finding.level is Level.MANDATORY
    assert finding.fix.startswith("give g5 a weight of 51 or more; or keep the pod off p4d")
    (finding,) = judge("NODE016", *g5(10), *p4d(100), SERVER).findings
    assert finding.fix.startswith("give p4d a lower weight than g5")


@pytest.mark.parametrize(("cheap", "dear"), [(2, 1), (1, None)])
def test_n12_the_right_order_is_advice_because_a_full_pool_spills(cheap: int, dear: int | None) -> None:
    (finding,) = judge("NODE016", *g5(cheap), *p4d(dear), SERVER).findings
    assert finding.level is Level.ADVISORY
    assert finding.message.startswith("lands on p4d ($21.96/h, ")
    assert finding.message.endswith("is full: nothing keeps it off")


def test_n12_names_decide_between_equal_weights() -> None:
    z = changed(g5(5)[0], "metadata.name", "zebra")
    assert judge("NODE016", z, g5()[1], *p4d(5), SERVER).findings[0].level is Level.ADVISORY
    assert judge("NODE016", *g5(5), *p4d(5), SERVER).findings[0].level is Level.MANDATORY


def test_n12_a_dear_pool_with_a_taint_of_its_own_keeps_others_off() -> None:
    assert not_concerned(judge("NODE016", *g5(), *dedicated(), SERVER))
    toleration = [taints.dedicated("a100").toleration()]
    assert "lands on p4d" in complaint(
        judge("NODE016", *g5(), *dedicated(), examples.deployment(tolerations=toleration))
    )


def test_n12_a_selector_keeps_the_pod_off() -> None:
    chosen = examples.deployment(nodeSelector={labels.INSTANCE_GPU_NAME: "a10g"})
    assert not_concerned(judge("NODE016", *g5(), *p4d(), chosen))


def test_n12_a_preference_is_tried_before_the_order() -> None:
    term = {"matchExpressions": [{"key": labels.INSTANCE_GPU_NAME, "operator": "In", "values": ["a10g"]}]}
    wish = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": term}]}
    (finding,) = judge("NODE016", *g5(), *p4d(), examples.deployment(affinity={"nodeAffinity": wish})).findings
    assert finding.level is Level.ADVISORY


def test_n12_three_times_the_price_is_no_dear_pool_and_more_is() -> None:
    """g5.2xlarge costs $1.212; g6.12xlarge at $4.60 is more than three times that, g5.8xlarge at $2.45 is not."""
    assert passes(judge("NODE016", *g5(), pool("x", "g5.8xlarge"), examples.node_class("x"), SERVER))
    assert "lands on x" in complaint(
        judge("NODE016", *g5(), pool("x", "g6.12xlarge"), examples.node_class("x"), SERVER)
    )


def test_n12_a_pool_counts_by_its_cheapest_type_that_has_room() -> None:
    mixed = pool("mixed", "g4dn.xlarge", "p4d.24xlarge"), examples.node_class("mixed")
    assert "lands on mixed ($21.96/h" in complaint(judge("NODE016", *g5(), *mixed, SERVER))


def test_n12_a_large_pod_that_only_the_dear_pool_has_room_for_is_right_there() -> None:
    box = examples.container(resources={"limits": {resources.GPU: "8"}})
    assert not_concerned(judge("NODE016", *g5(), *p4d(), examples.deployment(box)))


def test_n12_a_toleration_of_everything_lets_any_pod_onto_a_dear_pool() -> None:
    blanket = examples.deployment(tolerations=EVERYTHING)
    assert "tolerates every taint" in complaint(judge("NODE016", *g5(9), *dedicated(), blanket))
    cpu = examples.deployment(
        examples.container(resources={"requests": {"cpu": "1"}}, image="nginx:1.29"), name="web", tolerations=EVERYTHING
    )
    assert "tolerates every taint, and so may land on p4d" in complaint(judge("NODE016", *g5(9), *dedicated(), cpu))
    named = examples.deployment(tolerations=[{"key": taints.dedicated("a100").key, "operator": "Exists"}])
    assert "as soon as g5 ($1.21/h, weight 9) is full" in complaint(judge("NODE016", *g5(9), *dedicated(), named))
    elsewhere = changed(cpu, f"{NODE}.nodeSelector", {"team": "web"})
    assert not_concerned(judge("NODE016", *g5(9), *dedicated(), elsewhere))


def test_daemon_sets_and_pods_without_gpus_are_not_concerned() -> None:
    agent = examples.resource(
        "kubernetes:apps/v1:DaemonSet",
        "agent",
        examples.deployment(examples.container(resources={}), tolerations=EVERYTHING).props,
    )
    assert not_concerned(judge("NODE016", *g5(), *p4d(), agent))
    assert not_concerned(judge("NODE016", *g5(), *p4d(), examples.deployment(examples.container(resources={}))))


def test_n12_each_pod_has_an_order_of_its_own() -> None:
    chosen = examples.deployment(name="chosen", nodeSelector={labels.INSTANCE_GPU_NAME: "a10g"})
    assert messages(judge("NODE016", *g5(), *p4d(), chosen, SERVER)).keys() == {"llm"}
    assert messages(judge("NODE016", *g5(), *p4d(), SERVER, chosen)).keys() == {"llm"}


@pytest.mark.parametrize(("weights", "first"), [((1, 50), "p4d-b"), ((50, 1), "p4d-a"), ((20, 20), "p4d-b")])
def test_n12_of_pools_that_differ_in_nothing_else_weight_and_name_decide(weights: tuple[int, int], first: str) -> None:
    dear = [
        changed(pool(name, "p4d.24xlarge", weight=weight), f"{NODE}.nodeClassRef.name", "p4d")
        for name, weight in zip(("p4d-a", "p4d-b"), weights, strict=True)
    ]
    (finding,) = judge("NODE016", *g5(10), *dear, examples.node_class("p4d"), SERVER).findings
    assert finding.level is Level.MANDATORY
    assert finding.message.startswith(f"lands on {first} ($21.96/h, weight {max(weights)})")


def test_static_pools_and_node_groups_are_not_tried_in_an_order() -> None:
    static = changed(p4d()[0], "spec.replicas", 1)
    assert not_concerned(judge("NODE016", *g5(), static, SERVER))
    template = examples.launch_template()
    group = examples.node_group(template, instanceTypes=["p4d.24xlarge"])
    assert not_concerned(judge("NODE016", *g5(), template, group, SERVER))
    g6 = pool("g6", "g6.2xlarge"), examples.node_class("g6")
    assert passes(judge("NODE016", *g5(), *g6, template, group, SERVER))


def test_one_pool_has_no_order() -> None:
    assert not_concerned(judge("NODE016", *p4d(), SERVER))


def test_without_the_node_classes_types_with_enough_gpus_count() -> None:
    assert "lands on p4d ($21.96/h" in complaint(judge("NODE016", g5()[0], p4d()[0], SERVER))


def test_what_is_not_known_leaves_it_open() -> None:
    assert left_open(judge("NODE016", *g5(), unknown(p4d()[0], "spec.weight"), SERVER)) == ["spec.weight"]
    assert left_open(judge("NODE016", *g5(), unknown(p4d()[0], f"{NODE}.taints"), SERVER)) == [f"{NODE}.taints"]
    assert left_open(judge("NODE016", *g5(), *p4d(), unknown(SERVER, f"{NODE}.nodeSelector"))) == [
        f"{NODE}.nodeSelector"
    ]
    unnamed = changed(p4d()[0], "metadata.name", UNKNOWN)
    assert left_open(judge("NODE016", *g5(), unnamed, SERVER)) == ["metadata.name"]
    weighed = changed(unnamed, "spec.weight", 7)
    assert "lands on p4d" in complaint(judge("NODE016", *g5(), weighed, SERVER))
