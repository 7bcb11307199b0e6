"""WORK002: what a pod selects is there before the node is."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown

CLASS = examples.node_class()
POOL = examples.node_pool()
PRODUCT = {labels.GFD_PRODUCT: "NVIDIA-A10G"}


def selecting(selector: dict[str, str]) -> Resource:
    return examples.deployment(nodeSelector=selector)


def plugin(sharing: str = "timeSlicing", *, rename: bool = False) -> Resource:
    config = (
        f"version: v1\nsharing:\n  {sharing}:\n    renameByDefault: {str(rename).lower()}\n    resources:\n"
        f"    - name: {resources.GPU}\n      replicas: 4\n"
    )
    values = {"config": {"map": {"default": config}}}
    return examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values=values)


@pytest.mark.parametrize(
    "selector",
    [
        PRODUCT,
        {labels.GFD_COUNT: "1"},
        {labels.MIG_STRATEGY: "single"},
        {"feature.node.kubernetes.io/pci-10de.present": "true"},
        {"nvidia.com/cuda.driver.major": "580"},
    ],
)
def test_n04_a_label_that_appears_after_boot_never_makes_karpenter_buy(selector: dict[str, str]) -> None:
    (finding,) = judge("WORK002", CLASS, POOL, selecting(selector)).findings
    ((key, value),) = selector.items()
    assert finding.message == (
        f"requires {key}={value}, which nodes have only once they run: g5 would do, but Karpenter buys no node "
        "for a label that it does not know"
    )
    assert finding.fix.startswith(f"require {labels.INSTANCE_GPU_NAME}=a10g instead")


def test_n04_the_same_in_an_affinity() -> None:
    term = {"matchExpressions": [{"key": labels.GFD_PRODUCT, "operator": "In", "values": ["NVIDIA-A10G", "NVIDIA-L4"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pod = examples.deployment(affinity={"nodeAffinity": required})
    assert "requires nvidia.com/gpu.product in (NVIDIA-A10G, NVIDIA-L4)" in complaint(
        judge("WORK002", CLASS, POOL, pod)
    )
    other = {"matchExpressions": [{"key": labels.GPU_TYPE, "operator": "In", "values": ["a10g"]}]}
    required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"].append(other)
    assert passes(judge("WORK002", CLASS, POOL, examples.deployment(affinity={"nodeAffinity": required})))


def test_n04_what_is_only_preferred_or_forbidden_waits_for_nothing() -> None:
    preferred = {"weight": 10, "preference": {"matchExpressions": [{"key": labels.GFD_PRODUCT, "operator": "Exists"}]}}
    pod = examples.deployment(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}
    )
    assert passes(judge("WORK002", CLASS, POOL, pod))
    never = {"matchExpressions": [{"key": labels.MIG_STRATEGY, "operator": "DoesNotExist"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [never]}}
    assert passes(judge("WORK002", CLASS, POOL, examples.deployment(affinity={"nodeAffinity": required})))


@pytest.mark.parametrize(
    "selector",
    [
        {labels.INSTANCE_GPU_NAME: "a10g"},
        {labels.INSTANCE_GPU_MEMORY: "22888"},
        {labels.GPU_TYPE: "a10g"},
        {labels.GPU_PRESENT: "true"},
        {labels.INSTANCE_TYPE: "g5.2xlarge"},
    ],
)
def test_n04_what_karpenter_knows_or_the_pool_sets_is_there_in_time(selector: dict[str, str]) -> None:
    assert passes(judge("WORK002", CLASS, POOL, selecting(selector)))


def test_n04_a_pool_may_set_such_a_label_itself() -> None:
    own = changed(POOL, "spec.template.metadata.labels", {**labels.pool_labels("a10g", "inference"), **PRODUCT})
    assert passes(judge("WORK002", CLASS, own, selecting(PRODUCT)))


def test_n04_nodes_of_a_group_are_there_and_have_been_looked_at() -> None:
    assert passes(judge("WORK002", examples.node_group(), selecting(PRODUCT)))
    assert passes(judge("WORK002", examples.node_group(), CLASS, POOL, selecting(PRODUCT)))


def test_n04_a_group_that_does_not_let_the_pod_on_is_no_help() -> None:
    other = examples.node_group(labels=labels.pool_labels("a10g", "training"))
    pod = selecting({**PRODUCT, labels.WORKLOAD: "inference"})
    assert "g5 would do" in complaint(judge("WORK002", other, CLASS, POOL, pod))


def test_n04_a_pod_that_no_pool_would_take_anyway_is_work001s() -> None:
    pod = selecting({**PRODUCT, labels.WORKLOAD: "training"})
    assert passes(judge("WORK002", CLASS, POOL, pod))
    assert judge("WORK001", CLASS, POOL, pod).findings


@pytest.mark.parametrize("way", ["timeSlicing", "mps"])
def test_g03_shared_gpus_are_called_otherwise(way: str) -> None:
    group = examples.node_group()
    (finding,) = judge("WORK002", plugin(way), group, selecting(PRODUCT)).findings
    assert finding.message == (
        "requires nvidia.com/gpu.product=NVIDIA-A10G, but the GPUs of inference are shared: feature discovery appends "
        "-SHARED to their product"
    )
    assert passes(judge("WORK002", plugin(way), group, selecting({labels.GFD_PRODUCT: "NVIDIA-A10G-SHARED"})))


def test_g03_a_shared_pool_that_does_not_let_the_pod_on_is_not_the_reason() -> None:
    other = examples.node_group(labels=labels.pool_labels("a10g", "training"))
    pod = selecting({**PRODUCT, labels.WORKLOAD: "inference"})
    message = complaint(judge("WORK002", plugin(), other, CLASS, POOL, pod))
    assert "g5 would do" in message
    assert "shared" not in message


@pytest.mark.parametrize(
    "wanted",
    [
        {"key": labels.GFD_COUNT, "operator": "In", "values": ["1"]},
        {"key": labels.GFD_PRODUCT, "operator": "Exists"},
        {"key": labels.GFD_PRODUCT, "operator": "In", "values": ["NVIDIA-A10G", "NVIDIA-A10G-SHARED"]},
    ],
)
def test_g03_what_sharing_does_not_rename_may_be_required(wanted: dict[str, object]) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert passes(judge("WORK002", plugin(), examples.node_group(), examples.deployment(affinity=affinity)))


def test_n04_a_group_of_which_nobody_can_tell_leaves_it_open() -> None:
    blind = unknown(examples.node_group(), "taints")
    assert left_open(judge("WORK002", blind, CLASS, POOL, selecting(PRODUCT))) == ["taints"]


def test_g03_a_share_with_a_name_of_its_own_leaves_the_products_name() -> None:
    shares = examples.container(resources={"limits": {resources.GPU_SHARED: "1"}})
    tolerating = examples.deployment(shares, nodeSelector=PRODUCT, tolerations=[{"operator": "Exists"}])
    assert passes(judge("WORK002", plugin(rename=True), examples.node_group(), tolerating))


def test_pods_that_select_nothing_of_the_kind_pass_without_pools_and_others_are_left_open() -> None:
    assert passes(judge("WORK002", examples.deployment()))
    assert left_open(judge("WORK002", selecting(PRODUCT))) == ["GPU pools"]


def test_an_unknown_selector_is_left_open() -> None:
    path = "spec.template.spec.nodeSelector"
    assert left_open(judge("WORK002", CLASS, POOL, unknown(selecting(PRODUCT), path))) == [path]


def test_pods_without_gpus_are_not_concerned() -> None:
    plain = examples.deployment(examples.container(resources={}), nodeSelector=PRODUCT)
    assert not_concerned(judge("WORK002", CLASS, POOL, plain))
