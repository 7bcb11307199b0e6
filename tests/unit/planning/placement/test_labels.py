"""Which of a pool's nodes a pod selects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import labels
from eks_gpu.planning.placement import place
from eks_gpu.planning.pool import PoolKind
from eks_gpu.planning.requirements import Requirement, from_labels
from tests.support.placing import UNKNOWN, group, pod, pool


def test_n04_labels_are_looked_at_before_room() -> None:
    wrong = pod("8", selector=from_labels({labels.WORKLOAD: "training"}))
    found = place(wrong, pool(labels={labels.WORKLOAD: "inference"}))
    assert found.reason == "requires workload=training, nodes there have inference"


def test_n04_each_is_there_but_not_together() -> None:
    wanted = from_labels({labels.INSTANCE_GPU_NAME: "l4", labels.INSTANCE_GPU_COUNT: "4"})
    found = place(pod(selector=wanted), pool("g6.xlarge", "g5.12xlarge"))
    assert found.reason == (
        "requires karpenter.k8s.aws/instance-gpu-name=l4 and karpenter.k8s.aws/instance-gpu-count=4, which no instance "
        "type there has together"
    )


def test_n04_other_terms_are_counted() -> None:
    terms = ((Requirement("team", "In", ("x",)),), (Requirement("team", "Exists"),))
    assert place(pod(affinity=terms), pool()).reason == (
        "requires team=x, nodes there have no such label (nor does the other term of its affinity hold)"
    )
    more = (*terms, (Requirement("squad", "Exists"),))
    assert place(pod(affinity=more), pool()).reason.endswith("(nor do the 2 other terms of its affinity hold)")
    assert "without conditions" in place(pod(affinity=((),)), pool()).reason


def test_n04_a_label_must_also_be_absent_if_that_is_wanted() -> None:
    found = place(pod(affinity=((Requirement("team", "DoesNotExist"),),)), pool(labels={"team": "x"}))
    assert found.reason == "requires no label team, nodes there have x"


def test_w02_labels_after_boot_are_on_nodes_that_run_and_on_none_that_is_to_be_bought() -> None:
    wanted = pod(selector=from_labels({labels.GFD_PRODUCT: "NVIDIA-A10G"}))
    assert "a label that nodes get only after boot" in place(wanted, pool()).reason
    assert place(wanted, group()).admits
    own = pod(selector=from_labels({"nvidia.com/gpu": "true"}))
    assert place(own, group()).refuses, "it only looks like one"
    without = pod(affinity=((Requirement(labels.MIG_STRATEGY, "DoesNotExist"),),))
    assert place(without, pool()).admits
    assert place(without, group()).admits


@pytest.mark.parametrize(
    "key", ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "eks.amazonaws.com/instance-family"]
)
def test_n04_former_names_of_labels_are_known(key: str) -> None:
    value = "g5" if key.endswith("family") else "g5.xlarge"
    assert place(pod(selector=from_labels({key: value})), pool()).admits
    assert place(pod(selector=from_labels({key: "m7i"})), pool()).refuses


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        (PoolKind.NODE_POOL, labels.CAPACITY_TYPE, "spot"),
        (PoolKind.NODE_GROUP, labels.EKS_CAPACITY_TYPE, "SPOT"),
    ],
)
def test_n04_each_maker_of_nodes_says_in_its_own_label_how_they_are_paid(kind: PoolKind, key: str, value: str) -> None:
    spot = pool(kind=kind, capacity_types=frozenset({"spot"}))
    assert place(pod(selector=from_labels({key: value})), spot).admits
    other = {labels.CAPACITY_TYPE: "on-demand", labels.EKS_CAPACITY_TYPE: "ON_DEMAND"}[key]
    assert place(pod(selector=from_labels({key: other})), spot).reason.endswith(f"nodes there have {value}")
    for missing in {labels.CAPACITY_TYPE, labels.EKS_CAPACITY_TYPE} - {key}:
        for wanted in ("spot", "SPOT"):
            asking = pod(selector=from_labels({missing: wanted}))
            assert place(asking, spot).reason.endswith("nodes there have no such label")
    assert place(pod(selector=from_labels({key: value})), replace(spot, capacity_types=UNKNOWN)).unclear == UNKNOWN
    nobodys = replace(spot, kind=PoolKind.SELF_MANAGED)
    assert place(pod(selector=from_labels({key: value})), nobodys).refuses


def test_n04_eks_spells_it_in_capitals() -> None:
    asking = pod(selector=from_labels({labels.EKS_CAPACITY_TYPE: "ON_DEMAND"}))
    assert place(asking, group()).admits


def test_n04_karpenter_describes_instance_types_and_eks_names_them() -> None:
    by_model, by_type = ({labels.INSTANCE_GPU_NAME: "a10g"}, {labels.INSTANCE_TYPE: "g5.xlarge"})
    assert place(pod(selector=from_labels(by_model)), pool()).admits
    assert place(pod(selector=from_labels(by_model)), group()).reason.endswith("nodes there have no such label")
    assert place(pod(selector=from_labels(by_type)), group()).admits
    assert place(pod(selector=from_labels({labels.ARCH: "amd64", labels.OS: "linux"})), group()).admits


def test_n04_requirements_on_one_label_say_nothing_of_another() -> None:
    teams = (Requirement("team", "In", ("x",)), Requirement("squad", "In", ("y",)))
    assert place(pod(selector=from_labels({"team": "x", "squad": "y"})), pool(requirements=teams)).admits
    assert place(pod(selector=from_labels({"team": "y"})), pool(requirements=teams)).reason == (
        "requires team=y, nodes there have x"
    )
    assert place(pod(selector=from_labels({"team": "x"})), pool(requirements=UNKNOWN)).unclear == UNKNOWN
    assert place(pod(selector=from_labels({"team": "x"})), pool(requirements=UNKNOWN, labels={"team": "x"})).admits


@pytest.mark.parametrize(
    ("own", "absent", "present"),
    [
        (Requirement("team", "Exists"), False, True),
        (Requirement("team", "NotIn", ("y",)), True, True),
        (Requirement("team", "DoesNotExist"), True, False),
        (Requirement("team", "In", ("x", "y")), False, True),
        (Requirement("team", "Gt", ("1",)), False, False),
    ],
)
def test_n04_a_pools_requirement_says_whether_its_nodes_have_a_label(
    own: Requirement, absent: bool, present: bool
) -> None:
    required = pool(requirements=(own,))
    assert place(pod(affinity=((Requirement("team", "DoesNotExist"),),)), required).admits is absent
    assert place(pod(selector=from_labels({"team": "x"})), required).admits is present


def test_n04_a_label_that_must_exist_and_not_be_something_exists() -> None:
    both = pool(requirements=(Requirement("team", "NotIn", ("y",)), Requirement("team", "Exists")))
    assert place(pod(affinity=((Requirement("team", "DoesNotExist"),),)), both).refuses
    assert place(pod(selector=from_labels({"team": "x"})), both).admits
    assert place(pod(selector=from_labels({"team": "y"})), both).refuses


def test_n04_what_a_pool_excludes_its_nodes_do_not_have() -> None:
    without = pool(requirements=(Requirement("team", "NotIn", ("y",)),))
    assert place(pod(selector=from_labels({"team": "y"})), without).reason == (
        "requires team=y, nodes there have no such label"
    )


def test_n04_of_types_some_have_a_label_and_others_do_not() -> None:
    mixed = pool("g5.xlarge", "g5g.xlarge")
    asking = pod(selector=from_labels({labels.INSTANCE_LOCAL_NVME: "999"}))
    assert place(asking, mixed).reason == "requires karpenter.k8s.aws/instance-local-nvme=999, nodes there have 250"


def test_n04_a_type_that_nobody_knows_may_have_any_label_of_types() -> None:
    wider = pool(unlisted=("g9.xlarge",))
    unclear = place(pod(selector=from_labels({labels.INSTANCE_TYPE: "g9.xlarge"})), wider).unclear
    assert unclear is not None
    assert unclear.reason == "nothing is known of g9.xlarge"


@pytest.mark.parametrize("backwards", [False, True])
def test_n04_of_several_terms_one_that_nobody_can_tell_leaves_it_open(backwards: bool) -> None:
    terms = [(Requirement("team", "In", ("x",)),), (Requirement(labels.ZONE, "In", ("b",)),)]
    asking = pod(affinity=tuple(terms[::-1] if backwards else terms))
    assert place(asking, pool(zones=UNKNOWN)).unclear == UNKNOWN
    assert place(asking, pool(zones=UNKNOWN, labels={"team": "x"})).admits


def test_n04_values_are_told_in_their_own_order() -> None:
    several = pool("g5.16xlarge", "g5.xlarge", "g5.4xlarge")
    numbers = pod(selector=from_labels({labels.INSTANCE_CPU: "1"}))
    assert place(numbers, several).reason.endswith("nodes there have 4, 16, 64")
    words = pool(requirements=(Requirement("team", "In", ("10", "9", "b", "a")),))
    assert place(pod(selector=from_labels({"team": "x"})), words).reason.endswith("nodes there have a, b, 9, 10")


def test_n04_what_nobody_finds_out_about_nodes_that_are_there_is_no_matter_of_time() -> None:
    torn = Requirement(labels.GFD_PRODUCT, "In", ("x",)), Requirement(labels.GFD_PRODUCT, "NotIn", ("x",))
    assert "after boot" not in place(pod(affinity=(torn,)), group()).reason
    assert "after boot" in place(pod(affinity=(torn,)), pool()).reason


def test_n04_labels_that_others_set_may_have_any_value() -> None:
    for key in (labels.KARPENTER_NODEPOOL, labels.RESERVATION_ID):
        assert place(pod(selector=from_labels({key: "x"})), pool()).admits
        assert place(pod(selector=from_labels({key: "x"})), group()).refuses
        assert place(pod(affinity=((Requirement(key, "DoesNotExist"),),)), pool()).refuses
    named = from_labels({labels.EKS_NODE_GROUP: "x"})
    assert place(pod(selector=named), group()).admits
    assert place(pod(selector=named), pool()).refuses
    assert place(pod(selector=named), replace(group(), kind=PoolKind.SELF_MANAGED)).refuses
    found_out = from_labels({labels.GFD_PRODUCT: "NVIDIA-A10G"})
    assert place(pod(selector=found_out), replace(group(), kind=PoolKind.SELF_MANAGED)).admits


def test_a_pool_that_has_no_zone_is_nowhere() -> None:
    torn = pool(zones=frozenset("a"), requirements=(Requirement(labels.ZONE, "In", ("b",)),))
    assert place(pod(selector=from_labels({labels.ZONE: "a"})), torn).reason.endswith("nodes there have no zone")


def test_n04_labels_of_the_place_are_no_pools_own() -> None:
    blind = pool(labels=UNKNOWN, zones=frozenset("ab"))
    assert place(pod(selector=from_labels({labels.ZONE: "a"})), blind).admits
    assert place(pod(selector=from_labels({labels.ZONE: "c"})), blind).refuses
    assert place(pod(selector=from_labels({labels.CAPACITY_TYPE: "on-demand"})), blind).admits
    for key in (labels.REGION, labels.HOSTNAME, labels.ZONE_ID):
        assert place(pod(selector=from_labels({key: "x"})), blind).admits
    assert place(pod(selector=from_labels({"team": "x"})), blind).unclear == UNKNOWN
