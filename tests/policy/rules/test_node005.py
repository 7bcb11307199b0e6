"""NODE005: GPU pools carry the same true labels."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels
from eks_gpu.facts.labels import pool_labels
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

OURS = {"requiredPoolLabels": sorted(pool_labels("a10g", "inference"))}


def group(name: str, given: dict[str, str] | None, *types: str, **props: object) -> Resource:
    return examples.node_group(None, name, labels=given, instanceTypes=list(types or ("g5.2xlarge",)), **props)


def without(key: str) -> dict[str, str]:
    return {name: value for name, value in pool_labels("a10g", "inference").items() if name != key}


def pod(**selector: str) -> Resource:
    return examples.deployment(nodeSelector={key.replace("_", "-"): value for key, value in selector.items()})


def test_n04_pools_with_the_same_labels_pass() -> None:
    training = group("training", pool_labels("a100", "training"), "p4d.24xlarge")
    assert passes(judge("NODE005", group("inference", pool_labels("a10g", "inference")), training))


@pytest.mark.parametrize("key", sorted(pool_labels("a10g", "inference")))
def test_n04_a_label_that_is_demanded_is_missed(key: str) -> None:
    report = judge("NODE005", group("bare", without(key)), options=OURS)
    assert complaint(report) == f"lacks the label {key}, which every GPU pool must carry (requiredPoolLabels)"
    assert report.findings[0].resource == "bare"
    assert passes(judge("NODE005", group("bare", without(key))))


@pytest.mark.parametrize("key", sorted(pool_labels("a10g", "inference")))
def test_n04_a_label_that_another_pool_has_is_missed(key: str) -> None:
    report = judge("NODE005", group("whole", pool_labels("a10g", "inference")), group("bare", without(key)))
    assert messages(report) == {"bare": [f"lacks the label {key}, which the pool whole has"]}


def test_n04_a_label_that_gpu_pods_select_is_missed() -> None:
    report = judge("NODE005", group("bare", {}), pod(workload="inference", team="ml"))
    assert messages(report) == {"bare": ["lacks the label workload, which the pods of llm require"]}
    cpu = examples.container(resources={"limits": {"cpu": "1"}})
    web = examples.deployment(cpu, nodeSelector={"workload": "web"}, name="web")
    assert passes(judge("NODE005", group("bare", {}), web))


def test_n04_labels_of_ones_own_and_of_karpenter_may_differ() -> None:
    own = group("own", {"team": "ml", labels.KARPENTER_NODEPOOL: "x"})
    assert passes(judge("NODE005", own, group("other", {})))
    assert passes(judge("NODE005", group("other", {}), pod(team="ml")))


def test_n04_a_nodepool_sets_what_it_requires() -> None:
    pool = examples.node_pool()
    required = [
        {"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["g5.xlarge"]},
        *({"key": key, "operator": "In", "values": [value]} for key, value in pool_labels("a10g", "x").items()),
    ]
    bare = changed(changed(pool, "spec.template.metadata", None), "spec.template.spec.requirements", required)
    assert passes(judge("NODE005", bare, options=OURS))


@pytest.mark.parametrize(
    ("said", "types", "true", "ours"),
    [
        ("a10g", ["g5.xlarge", "g5.48xlarge"], True, True),
        ("a100-mig", ["p4d.24xlarge"], True, True),
        ("a10", ["g5.xlarge"], False, False),
        ("t4", ["g5.xlarge"], False, False),
        ("l4", ["g6.xlarge", "g6e.xlarge"], False, False),
        ("NVIDIA-A10G", ["g5.xlarge"], True, False),
        ("nvidia-tesla-t4", ["g4dn.xlarge"], True, False),
        ("a100-80gb", ["p4de.24xlarge"], True, False),
        ("h100", ["p4de.24xlarge"], False, False),
        ("g5", ["g5.xlarge"], True, False),
        ("g6", ["g5.xlarge"], False, False),
        ("nvidia", ["g5.xlarge"], True, False),
        ("training", ["p4d.24xlarge"], True, False),
    ],
)
def test_n04_gpu_type_is_true_of_every_type(said: str, types: list[str], true: bool, ours: bool) -> None:
    nodes = group("gpu", pool_labels(said, "inference"), *types)
    for options, right in (({}, true), (OURS, ours)):
        report = judge("NODE005", nodes, options=options)
        if right:
            assert passes(report)
        else:
            assert complaint(report).startswith(f"says gpu-type={said}, and its instance types have ")


def test_labels_that_are_not_known_are_left_open() -> None:
    nodes = unknown(group("gpu", {}), "labels")
    assert left_open(judge("NODE005", nodes)) == ["labels of gpu"]
    assert left_open(judge("NODE005", unknown(group("gpu", {}), "instanceTypes"))) == ["instanceTypes of gpu"]


def test_cpu_groups_are_not_concerned() -> None:
    assert not_concerned(judge("NODE005", group("cpu", {"team": "web"}, "m5.large")))


def test_n04_a_module_without_labels_is_refused_where_labels_are_demanded() -> None:
    message = complaint(judge("NODE005", group("gpu", None), options=OURS))
    assert message.startswith("lacks the labels accelerator, gpu-type, nvidia.com/gpu.present, workload, which every")
