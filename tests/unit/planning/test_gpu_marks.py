"""Whether a pod's requirements keep it off GPU nodes is read off their words."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels
from eks_gpu.planning.gpu_marks import keeps_off_gpu_nodes
from eks_gpu.planning.requirements import Requirement


@pytest.mark.parametrize(
    ("key", "operator", "values", "off"),
    [
        (labels.INSTANCE_TYPE, "In", ("m7i.large", "c7i.large"), True),
        (labels.INSTANCE_TYPE, "In", ("m7i.large", "g5.xlarge"), False),
        (labels.INSTANCE_TYPE, "NotIn", ("g5.xlarge",), False),
        (labels.INSTANCE_GPU_COUNT, "DoesNotExist", (), True),
        (labels.INSTANCE_GPU_COUNT, "Lt", ("1",), False),
        (labels.INSTANCE_GPU_COUNT, "Gt", ("0",), False),
        (labels.INSTANCE_CATEGORY, "NotIn", ("g", "gr", "p"), True),
        (labels.WORKLOAD, "In", ("system",), True),
        (labels.WORKLOAD, "In", ("system", "inference"), False),
        (labels.GPU_PRESENT, "DoesNotExist", (), True),
        (labels.GPU_PRESENT, "Exists", (), False),
        (labels.ARCH, "In", ("arm64",), False),
        (labels.ZONE, "In", ("us-east-1a",), False),
        ("role", "In", ("web",), True),
        ("role", "In", ("gpu",), False),
        ("role", "NotIn", ("gpu",), True),
        ("role", "NotIn", ("web",), False),
        ("k8s.amazonaws.com/accelerator", "In", ("nvidia-tesla-t4",), False),
        (labels.KARPENTER_NODEPOOL, "In", ("p5-training",), False),
        (labels.EKS_NODE_GROUP, "In", ("pages",), True),
    ],
)
def test_a_requirement_keeps_a_pod_off_gpu_nodes_or_not(
    key: str, operator: str, values: tuple[str, ...], off: bool
) -> None:
    assert keeps_off_gpu_nodes([Requirement(key, operator, values)]) is off


def test_one_requirement_is_enough_and_none_is_not() -> None:
    off = Requirement("role", "In", ("web",))
    assert keeps_off_gpu_nodes([Requirement(labels.ARCH, "In", ("amd64",)), off])
    assert not keeps_off_gpu_nodes([])
