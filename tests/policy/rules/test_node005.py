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


def test_n04_what_several_labels_are_missed_for_is_said_once() -> None:
    report = judge("NODE005", group("whole", pool_labels("a10g", "inference")), group("bare", {}), pod(workload="x"))
    assert messages(report) == {
        "bare": ["lacks the labels accelerator, gpu-type, nvidia.com/gpu.present, workload, which the pool whole has"]
    }


def test_n04_a_pool_that_buys_gpus_by_omission_is_to_exclude_them_rather_than_be_labelled() -> None:
    arch = [{"key": labels.ARCH, "operator": "In", "values": ["amd64"]}]
    open_pool = changed(examples.node_pool("open", taints=(), limits={"cpu": "100"}), "spec.template.metadata", None)
    open_pool = changed(open_pool, "spec.template.spec.requirements", arch)
    whole = group("whole", pool_labels("a10g", "inference"))
    assert passes(judge("NODE005", open_pool, whole, examples.deployment()))
    assert judge("NODE004", open_pool, whole, examples.deployment()).findings


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
        ("NVIDIA-H100-80GB-HBM3", ["p5.48xlarge"], True, False),
        ("NVIDIA-A100-SXM4-40GB", ["p4d.24xlarge"], True, False),
        ("a100-40gb", ["p4de.24xlarge"], False, False),
        ("a100-80gb", ["p4d.24xlarge"], False, False),
        ("l4-24gb", ["g6.xlarge"], True, False),
        ("a100-1g.5gb", ["p4d.24xlarge"], True, False),
        ("a10g-large", ["g5.xlarge"], True, False),
        ("rtx-pro-6000", ["g7e.2xlarge"], True, False),
        ("rtx-pro-4500", ["g7e.2xlarge"], False, False),
        ("p4", ["p4d.24xlarge"], True, False),
        ("g5", ["g5.xlarge", "g6.xlarge"], False, False),
        ("g6", ["g6e.xlarge"], False, False),
        ("g6e.xlarge", ["g6e.xlarge"], True, False),
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


@pytest.mark.parametrize(("values", "passed"), [(["a10g"], True), (["t4"], False), (["a10g", "t4"], True)])
def test_n04_a_gpu_type_that_karpenter_may_choose_is_nobodys_word(values: list[str], passed: bool) -> None:
    required = [
        {"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["g5.xlarge"]},
        {"key": labels.GPU_TYPE, "operator": "In", "values": values},
    ]
    pool = changed(examples.node_pool(), "spec.template.spec.requirements", required)
    report = judge("NODE005", changed(pool, "spec.template.metadata", None))
    assert passes(report) is passed


def test_n04_what_the_types_have_is_told_with_its_memory() -> None:
    report = judge("NODE005", group("gpu", pool_labels("a100-40gb", "x"), "p4de.24xlarge", "g5.xlarge"))
    assert complaint(report).endswith("and its instance types have a100 (80 GiB), a10g (22 GiB)")
    assert "say the model as Karpenter names it" in report.findings[0].fix


def test_n04_a_model_is_not_judged_beside_one_that_nobody_knows() -> None:
    nodes = group("gpu", pool_labels("x400", "inference"), "g5.xlarge", "p9.48xlarge")
    assert passes(judge("NODE005", nodes, options=OURS))


@pytest.mark.parametrize(
    ("operator", "passed"), [("In", False), ("Exists", False), ("NotIn", True), ("DoesNotExist", True)]
)
def test_n04_only_a_label_that_pods_require_is_missed(operator: str, passed: bool) -> None:
    values = {"values": ["x"]} if operator.endswith("In") else {}
    term = {"matchExpressions": [{"key": "workload", "operator": operator, **values}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    report = judge("NODE005", group("bare", {}), examples.deployment(affinity=affinity))
    assert passes(report) is passed


def test_n04_karpenter_gives_a_label_that_a_pool_requires_to_exist() -> None:
    required = [
        {"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["g5.xlarge"]},
        {"key": labels.WORKLOAD, "operator": "Exists"},
    ]
    pool = changed(examples.node_pool(), "spec.template.spec.requirements", required)
    bare = changed(pool, "spec.template.metadata", None)
    assert passes(judge("NODE005", bare, pod(workload="inference")))
    absent = changed(bare, "spec.template.spec.requirements.1.operator", "DoesNotExist")
    assert "lacks the label workload" in complaint(judge("NODE005", absent, pod(workload="inference")))


@pytest.mark.parametrize(
    ("version", "image", "passed"),
    [
        ("1.35", "AL2023_x86_64_NVIDIA", True),
        ("1.34", "AL2023_x86_64_NVIDIA", False),
        (None, "AL2023_x86_64_NVIDIA", False),
        ("1.35", "BOTTLEROCKET_x86_64_NVIDIA", False),
    ],
)
def test_n04_images_that_mark_their_nodes_need_no_label_for_it(version: str | None, image: str, passed: bool) -> None:
    whole = group("whole", pool_labels("a10g", "inference"))
    bare = group("bare", without(labels.GPU_PRESENT), amiType=image, version=version)
    report = judge("NODE005", whole, bare)
    if passed:
        assert passes(report)
        karpenters = changed(examples.node_pool(), "spec.template.metadata.labels", without(labels.GPU_PRESENT))
        assert "lacks the label nvidia.com/gpu.present" in complaint(judge("NODE005", whole, bare, karpenters))
    else:
        assert complaint(report) == "lacks the label nvidia.com/gpu.present, which the pool whole has"


def test_n04_auto_mode_finds_its_gpu_nodes_without_a_label() -> None:
    whole = group("whole", pool_labels("a10g", "inference"))
    reference = {"group": labels.EKS_AUTO_DOMAIN, "kind": "NodeClass", "name": "default"}
    auto = changed(examples.node_pool(), "spec.template.spec.nodeClassRef", reference)
    unmarked = changed(auto, "spec.template.metadata.labels", without(labels.GPU_PRESENT))
    assert passes(judge("NODE005", whole, unmarked))
    nameless = changed(auto, "spec.template.metadata.labels", without(labels.WORKLOAD))
    assert complaint(judge("NODE005", whole, nameless)) == "lacks the label workload, which the pool whole has"


def test_an_image_that_is_not_known_leaves_open_whether_it_marks_its_nodes() -> None:
    whole = group("whole", pool_labels("a10g", "inference"), version="1.35")
    bare = unknown(group("bare", without(labels.GPU_PRESENT)), "amiType")
    assert left_open(judge("NODE005", whole, bare)) == ["amiType"]


def test_labels_that_are_not_known_are_left_open() -> None:
    nodes = unknown(group("gpu", {}), "labels")
    assert left_open(judge("NODE005", nodes)) == ["labels of gpu"]
    assert left_open(judge("NODE005", unknown(group("gpu", {}), "instanceTypes"))) == ["instanceTypes of gpu"]


def test_cpu_groups_are_not_concerned() -> None:
    assert not_concerned(judge("NODE005", group("cpu", {"team": "web"}, "m5.large")))


def test_n04_a_module_without_labels_is_refused_where_labels_are_demanded() -> None:
    message = complaint(judge("NODE005", group("gpu", None), options=OURS))
    assert message.startswith("lacks the labels accelerator, gpu-type, nvidia.com/gpu.present, workload, which every")
