"""NODE004: GPU pools repel pods that asked for no GPU."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown

TEMPLATE = examples.launch_template()
OPEN = examples.node_pool(limits={"cpu": "1000"}, taints=())
OPEN = changed(OPEN, "spec.template.spec.requirements", [{"key": labels.ARCH, "operator": "In", "values": ["amd64"]}])


@pytest.mark.parametrize("effect", ["NO_SCHEDULE", "NO_EXECUTE"])
def test_n05_a_node_group_with_the_taint_passes_whatever_its_value(effect: str) -> None:
    taint = {"key": resources.GPU, "value": "anything", "effect": effect}
    assert passes(judge("NODE004", TEMPLATE, examples.node_group(TEMPLATE, taints=[taint])))


def test_n05_a_taint_without_value_passes() -> None:
    taint = {"key": resources.GPU, "effect": "NoSchedule"}
    assert passes(judge("NODE004", examples.node_class(), examples.node_pool(taints=(taint,))))


def test_n05_an_untainted_node_group_fails_with_its_price() -> None:
    message = complaint(judge("NODE004", TEMPLATE, examples.node_group(TEMPLATE, taints=None)))
    assert message.startswith("buys nodes of up to $1.21/h (g5.2xlarge) but has no taint nvidia.com/gpu")


@pytest.mark.parametrize(
    "taint",
    [
        {"key": resources.GPU, "value": "present", "effect": "PREFER_NO_SCHEDULE"},
        {"key": "dedicated", "value": "gpu", "effect": "PREFER_NO_SCHEDULE"},
        {"key": resources.GPU, "value": "present", "effect": "Sometimes"},
    ],
)
def test_n05_a_taint_that_keeps_nobody_off_fails(taint: dict[str, str]) -> None:
    assert "has no taint" in complaint(judge("NODE004", TEMPLATE, examples.node_group(TEMPLATE, taints=[taint])))


def test_n05_a_taint_of_another_key_is_advice_because_it_keeps_pods_off_all_the_same() -> None:
    taint = {"key": "dedicated", "value": "gpu", "effect": "NO_SCHEDULE"}
    (finding,) = judge("NODE004", TEMPLATE, examples.node_group(TEMPLATE, taints=[taint])).findings
    assert finding.level is Level.ADVISORY
    assert finding.message.startswith("keeps other pods off by dedicated only")


def test_n05_startup_taints_do_not_count() -> None:
    pool = changed(
        examples.node_pool(taints=()),
        "spec.template.spec.startupTaints",
        [{"key": resources.GPU, "effect": "NoSchedule"}],
    )
    assert "has no taint" in complaint(judge("NODE004", pool))


def test_an_unlisted_gpu_type_is_a_gpu_type_without_a_price() -> None:
    group = examples.node_group(TEMPLATE, instanceTypes=["p9.48xlarge"], taints=None)
    assert "buys p9.48xlarge but has no taint" in complaint(judge("NODE004", TEMPLATE, group))


def test_an_open_pool_counts_once_a_gpu_pod_can_land_on_it() -> None:
    assert not_concerned(judge("NODE004", OPEN))
    message = complaint(judge("NODE004", OPEN, examples.deployment()))
    assert message.endswith("nothing but omission lets it buy GPUs, so exclude them or add the taint")


def test_an_open_pool_that_the_gpu_pod_does_not_select_is_not_concerned() -> None:
    elsewhere = examples.deployment(nodeSelector={"team": "research"})
    assert not_concerned(judge("NODE004", OPEN, elsewhere))


@pytest.mark.parametrize("types", [["m7i.large"], ["g4ad.xlarge"], ["inf2.xlarge"]])
def test_pools_without_nvidia_gpus_are_not_concerned(types: list[str]) -> None:
    assert not_concerned(judge("NODE004", examples.node_group(instanceTypes=types, taints=None)))


def test_a_pool_that_requires_categories_without_gpus_is_not_concerned() -> None:
    wanted = [{"key": labels.INSTANCE_CATEGORY, "operator": "In", "values": ["c", "m", "r"]}]
    pool = changed(examples.node_pool(taints=(), limits={"cpu": "100"}), "spec.template.spec.requirements", wanted)
    assert not_concerned(judge("NODE004", pool, examples.deployment()))


def test_unknown_taints_are_left_open() -> None:
    assert left_open(judge("NODE004", TEMPLATE, unknown(examples.node_group(TEMPLATE), "taints"))) == ["taints"]


def test_unknown_instance_types_are_left_open() -> None:
    assert left_open(judge("NODE004", unknown(examples.node_group(), "instanceTypes"))) == ["instanceTypes"]
