from __future__ import annotations

import dataclasses

from eks_gpu.facts import labels
from eks_gpu.facts.instance_labels import DESCRIBED, instance_labels
from eks_gpu.facts.instances import CATALOGUE


def test_a_type_is_described_by_family_size_and_gpu() -> None:
    described = instance_labels(CATALOGUE["p4d.24xlarge"])
    assert described[labels.INSTANCE_CATEGORY] == "p"
    assert described[labels.INSTANCE_GENERATION] == "4"
    assert described[labels.INSTANCE_FAMILY] == "p4d"
    assert described[labels.INSTANCE_SIZE] == "24xlarge"
    assert described[labels.INSTANCE_GPU_NAME] == "a100"
    assert described[labels.INSTANCE_GPU_COUNT] == "8"
    assert described[labels.INSTANCE_LOCAL_NVME] == "8000"


def test_every_label_is_one_that_a_node_pool_may_require() -> None:
    for instance in CATALOGUE.values():
        assert instance_labels(instance).keys() <= set(DESCRIBED)
    assert labels.KARPENTER_AWS_ALLOWED.issuperset(DESCRIBED)


def test_what_a_type_does_not_have_is_not_a_label_of_zero() -> None:
    without_disk = next(each for each in CATALOGUE.values() if not each.local_nvme_gb)
    assert labels.INSTANCE_LOCAL_NVME not in instance_labels(without_disk)
    without_gpu = dataclasses.replace(without_disk, gpu_name="", gpu_count=0, gpu_memory_mib=0)
    assert not [key for key in instance_labels(without_gpu) if "gpu" in key]


def test_a_type_with_parts_of_a_gpu_says_that_it_has_none() -> None:
    fraction = next(each for each in CATALOGUE.values() if each.gpu_count == 0)
    assert instance_labels(fraction)[labels.INSTANCE_GPU_COUNT] == "0"
