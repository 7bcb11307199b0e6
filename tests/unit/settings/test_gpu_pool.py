from __future__ import annotations

import pytest
from pydantic import ValidationError

from eks_gpu.facts import ami, instances, labels
from eks_gpu.settings.gpu_pool import Capacity, Purpose, RootVolume
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool


def refusal(error: pytest.ExceptionInfo[ValidationError]) -> str:
    """Return the only message of a validation error, without pydantic's own words."""
    (problem,) = error.value.errors()
    return problem["msg"].removeprefix("Value error, ")


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (
            ("g5.xlarg",),
            (
                "g5.xlarg is no instance type with an NVIDIA GPU that is known here; g5 comes as g5.xlarge, "
                "g5.2xlarge, g5.4xlarge, g5.8xlarge, g5.12xlarge, g5.16xlarge, g5.24xlarge, g5.48xlarge"
            ),
        ),
        (
            ("m5.xlarge",),
            "m5.xlarge is no instance type with an NVIDIA GPU that is known here; did you mean g5.xlarge?",
        ),
        (
            ("g7.2xlarge",),
            (
                "g7.2xlarge needs a newer NVIDIA driver than the pinned image v20260724 has; use another family, such "
                "as g6e or g7e"
            ),
        ),
        (
            ("g6f.xlarge",),
            (
                "g6f.xlarge has a fraction of a GPU, which EC2 counts as none, so its nodes advertise no "
                "nvidia.com/gpu; use a type with whole GPUs, such as g6.xlarge, and share it"
            ),
        ),
        (
            ("g5.xlarge", "p4d.24xlarge"),
            (
                "g5.xlarge (a10g 22888 MiB) and p4d.24xlarge (a100 40960 MiB) have different GPUs, so a pod could not "
                "tell which one it gets; make one pool for each GPU model"
            ),
        ),
        (
            ("p4d.24xlarge", "p4de.24xlarge"),
            (
                "p4d.24xlarge (a100 40960 MiB) and p4de.24xlarge (a100 81920 MiB) have different GPUs, so a pod could "
                "not tell which one it gets; make one pool for each GPU model"
            ),
        ),
        (
            ("g4dn.xlarge", "g5g.xlarge"),
            (
                "g4dn.xlarge (amd64) and g5g.xlarge (arm64) have different architectures, and one image cannot serve "
                "both; make one pool for each architecture"
            ),
        ),
        (
            ("g5.xlarge", "g5.xlarge"),
            "g5.xlarge is given more than once; name each instance type once",
        ),
    ],
)
def test_n08_instance_types_that_make_no_pool_are_refused(types: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        NodePool(instance_types=types, max_gpus=8)

    assert refusal(error) == message


def test_a_type_like_no_other_is_answered_with_the_families() -> None:
    with pytest.raises(ValidationError, match="families with NVIDIA GPUs are g4dn, g5, "):
        NodePool(instance_types=("???",), max_gpus=8)


@pytest.mark.parametrize("name", sorted(instances.CATALOGUE))
def test_every_type_of_the_catalogue_is_either_usable_or_refused_with_a_reason(name: str) -> None:
    kind = instances.CATALOGUE[name]
    usable = kind.gpu_count > 0 and kind.family not in ami.AL2023_RELEASE_LACKS

    if usable:
        assert NodeGroup(instance_types=(name,), count=1).gpu_name == kind.gpu_name
    else:
        with pytest.raises(ValidationError, match=name):
            NodeGroup(instance_types=(name,), count=1)


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        (
            {"throughput_mibps": 2000},
            (
                "3000 iops carry at most 750 MiB/s on gp3, but throughput_mibps is 2000; give at least 8000 iops or "
                "less throughput"
            ),
        ),
        (
            {"size_gib": 100, "iops": 80000},
            "a gp3 volume of 100 GiB has at most 50000 iops, not 80000; give fewer iops or a larger size_gib",
        ),
        ({"size_gib": 20}, "Input should be greater than or equal to 100"),
        ({"throughput_mibps": 125}, "Input should be greater than or equal to 250"),
    ],
)
def test_n01_a_root_volume_that_ebs_or_an_image_would_not_take_is_refused(volume: dict[str, int], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        RootVolume.model_validate(volume)

    assert refusal(error) == message


def test_n01_the_default_root_volume_is_100_gib_and_fast() -> None:
    assert RootVolume().model_dump() == {"size_gib": 100, "throughput_mibps": 500, "iops": 3000}


def test_one_former_name_needs_no_brackets() -> None:
    group = NodeGroup.model_validate({"instance_types": ["g5.xlarge"], "count": 1, "previously": "gpu"})

    assert group.previously == ("gpu",)


def test_purposes_are_the_values_of_the_workload_label() -> None:
    assert tuple(purpose.value for purpose in Purpose) == labels.WORKLOADS


def test_a_pool_knows_its_gpu_architecture_and_disks() -> None:
    pool = NodePool(instance_types=("g5g.xlarge",), max_gpus=1)

    assert (pool.gpu_name, pool.arch, pool.has_local_nvme) == ("t4g", "arm64", False)


@pytest.mark.parametrize("capacity", list(Capacity))
def test_capacities_are_spelt_as_karpenter_spells_them(capacity: Capacity) -> None:
    assert capacity in {"reserved", "spot", "on-demand"}
