"""Which instances besides GPUs a pool lets in by name."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels
from eks_gpu.facts.instances import families
from eks_gpu.planning.instance_choice import only_gpus, others, others_named
from eks_gpu.planning.pool import looks_like_gpu_family
from eks_gpu.planning.requirements import Requirement


@pytest.mark.parametrize(
    ("key", "operator", "values", "only"),
    [
        (labels.INSTANCE_GPU_COUNT, "Gt", ("0",), True),
        (labels.INSTANCE_GPU_COUNT, "In", ("0",), False),
        (labels.INSTANCE_GPU_COUNT, "In", ("1", "8"), True),
        (labels.INSTANCE_GPU_COUNT, "DoesNotExist", (), False),
        (labels.INSTANCE_GPU_NAME, "NotIn", ("t4",), False),
        (labels.INSTANCE_FAMILY, "In", ("g5", "p4d"), True),
        (labels.INSTANCE_FAMILY, "In", ("g5", "m5"), False),
        (labels.INSTANCE_FAMILY, "NotIn", ("m5",), False),
        (labels.INSTANCE_FAMILY, "NotIn", ("g5",), False),
        (labels.INSTANCE_TYPE, "In", ("g5.xlarge",), True),
        (labels.INSTANCE_TYPE, "In", (), False),
        (labels.INSTANCE_CATEGORY, "In", ("g", "p"), True),
        (labels.INSTANCE_CPU, "Gt", ("7",), False),
    ],
)
def test_g02_requirements_let_nothing_but_gpus_through(
    key: str, operator: str, values: tuple[str, ...], only: bool
) -> None:
    assert only_gpus([Requirement(key, operator, values)]) is only


def test_every_family_of_the_catalogue_is_told_by_its_name() -> None:
    assert all(map(looks_like_gpu_family, families()))


def test_n08_types_without_nvidia_gpus_are_told_apart_by_name() -> None:
    assert others(("g5.xlarge", "m5.large", "g4ad.xlarge", "p9.48xlarge", "inf2.xlarge")) == (
        "m5.large",
        "g4ad.xlarge",
        "inf2.xlarge",
    )


def test_n08_what_is_named_besides_gpus_counts_unless_something_else_keeps_it_out() -> None:
    mixed = Requirement(labels.INSTANCE_FAMILY, "In", ("g5", "m5", "c7i"))
    assert others_named([mixed]) == ("m5", "c7i")
    assert others_named([mixed, Requirement(labels.INSTANCE_GPU_COUNT, "Gt", ("0",))]) == ()
    assert others_named([Requirement(labels.INSTANCE_FAMILY, "NotIn", ("m5",))]) == ()
