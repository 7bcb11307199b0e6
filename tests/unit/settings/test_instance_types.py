from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eks_gpu.facts import ami, instances
from eks_gpu.settings.instance_need import InstanceNeed
from eks_gpu.settings.instance_types import names_in
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool

NEEDS = st.fixed_dictionaries(
    {},
    optional={
        "gpus": st.sampled_from([1, 2, 4, 8, 16]),
        "gpu": st.sampled_from(sorted(instances.by_gpu_name())),
        "gpu_memory_gib": st.integers(1, 300),
        "arch": st.sampled_from(["amd64", "arm64"]),
        "vcpu": st.integers(1, 400),
        "memory_gib": st.integers(1, 4000),
        "local_nvme_gb": st.integers(1, 40_000),
        "efa": st.booleans(),
    },
)


def _pool(need: object) -> NodePool:
    return NodePool.model_validate({"instance_types": need, "max_gpus": 64})


@pytest.mark.parametrize(
    ("need", "names"),
    [
        (
            {"gpus": 1, "gpu": "a10g"},
            ("g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g5.8xlarge", "g5.16xlarge"),
        ),
        ({"gpus": 8, "gpu": "a100", "gpu_memory_gib": 40}, ("p4d.24xlarge",)),
        ({"gpus": 8, "gpu": "a100", "gpu_memory_gib": 41}, ("p4de.24xlarge",)),
        ({"gpus": 8, "gpu": "h200"}, ("p5en.48xlarge", "p5e.48xlarge")),
        ({"gpus": 1, "gpu": "a10g", "vcpu": 16, "memory_gib": 128}, ("g5.8xlarge", "g5.16xlarge")),
        ({"gpu": "a10g", "efa": True, "local_nvme_gb": 7000}, ("g5.48xlarge",)),
        ({"gpus": 1, "arch": "arm64"}, ("g5g.xlarge", "g5g.2xlarge", "g5g.4xlarge", "g5g.8xlarge")),
    ],
)
def test_n08_a_need_becomes_all_types_of_one_gpu_model_that_meet_it_cheapest_first(
    need: dict[str, Any], names: tuple[str, ...]
) -> None:
    assert _pool(need).instance_types == names
    assert NodeGroup.model_validate({"instance_types": need, "count": 1}).instance_types == names


@pytest.mark.parametrize(
    ("need", "message"),
    [
        (
            {"gpus": 8, "gpu_memory_gib": 100},
            (
                "{gpus: 8, gpu_memory_gib: 100} is met by several GPU models, and a pod could not tell which one it "
                "gets: h200 141 GiB (p5en.48xlarge, p5e.48xlarge), b200 179 GiB (p6-b200.48xlarge), b300 268 GiB "
                "(p6-b300.48xlarge); choose one by gpu and, where it comes in several sizes, gpu_memory_gib, and make "
                "one pool for each"
            ),
        ),
        (
            {"gpus": 8, "gpu": "a100"},
            (
                "{gpus: 8, gpu: a100} is met by several GPU models, and a pod could not tell which one it gets: a100 "
                "40 GiB (p4d.24xlarge), a100 80 GiB (p4de.24xlarge); choose one by gpu and, where it comes in several "
                "sizes, gpu_memory_gib, and make one pool for each"
            ),
        ),
        (
            {"gpus": 3, "gpu": "a10g"},
            "{gpus: 3, gpu: a10g} is met by no instance type; with all else as it is, gpus can be 1 or 4 or 8",
        ),
        (
            {"gpu": "t4g", "efa": True},
            (
                "{gpu: t4g, efa: true} is met by no instance type; with all else as it is, gpu can be a100 or a10g or "
                "b200 or b300 or h100 or h200 or l4 or l40s or rtx-pro-server-6000 or t4 or v100, or efa must be left "
                "out"
            ),
        ),
        (
            {"gpus": 1, "gpu": "a10g", "local_nvme_gb": 5000},
            (
                "{gpus: 1, gpu: a10g, local_nvme_gb: 5000} is met by no instance type; with all else as it is, gpus "
                "can be 8, or local_nvme_gb can be at most 1900"
            ),
        ),
        (
            {"gpus": 5, "vcpu": 9999},
            "{gpus: 5, vcpu: 9999} is met by no instance type; ask for less",
        ),
        (
            {},
            (
                "needs nothing, so every GPU would do; give gpus and gpu, such as {gpus: 8, gpu: a100, gpu_memory_gib: "
                "40}, or a list of instance types"
            ),
        ),
    ],
)
def test_n08_a_need_that_is_not_met_by_one_gpu_model_is_refused_with_the_choices(
    need: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as error:
        _pool(need)

    (problem,) = error.value.errors()
    assert problem["loc"] == ("instance_types",)
    assert problem["msg"].removeprefix("Value error, ") == message


def test_every_mistake_within_a_need_has_its_place() -> None:
    with pytest.raises(ValidationError) as error:
        _pool({"gpus": 0, "gpu_memory": 40, "arch": "x86"})

    assert {problem["loc"] for problem in error.value.errors()} == {
        ("instance_types", "gpus"),
        ("instance_types", "gpu_memory"),
        ("instance_types", "arch"),
    }


@given(NEEDS)
def test_n08_whatever_a_need_says_the_list_has_one_gpu_model_one_architecture_and_is_repeatable(
    need: dict[str, Any],
) -> None:
    try:
        wanted = InstanceNeed.model_validate(need)
        names = wanted.resolve()
    except ValueError:
        assert names_in(need) == ()
        return
    kinds = [instances.CATALOGUE[name] for name in names]
    prices = [kind.usd_per_hour for kind in kinds if kind.usd_per_hour is not None]

    assert names == wanted.resolve() == names_in(need)
    assert len({(kind.gpu_model, kind.arch) for kind in kinds}) == 1
    assert prices == sorted(prices)
    assert all(kind.gpu_count and kind.family not in ami.AL2023_RELEASE_LACKS for kind in kinds)
    assert all(kind.gpu_count == need["gpus"] for kind in kinds if "gpus" in need)
    assert all(kind.gpu_memory_mib >= need.get("gpu_memory_gib", 0) * 1024 for kind in kinds)
    assert all(kind.vcpu >= need.get("vcpu", 0) for kind in kinds)


@given(NEEDS)
def test_n08_what_a_need_becomes_is_a_list_that_could_have_been_written(need: dict[str, Any]) -> None:
    names = names_in(need)
    if names:
        assert _pool(need) == _pool(list(names))


@pytest.mark.parametrize("value", [None, 3, "g5.xlarge", ["g5.xlarge", 3, "g5.huge"], {"gpus": "many"}])
def test_names_are_read_from_anything(value: object) -> None:
    assert set(names_in(value)) <= {"g5.xlarge"}


@pytest.mark.parametrize("block", [NodeGroup, NodePool])
def test_editors_are_offered_the_catalogue_and_the_keys_of_a_need(block: type[NodeGroup | NodePool]) -> None:
    schema = block.model_json_schema()
    by_name, by_need = schema["properties"]["instance_types"]["anyOf"]

    assert by_name["items"]["enum"] == sorted(instances.CATALOGUE)
    assert by_need == {"$ref": "#/$defs/InstanceNeed"}
    assert set(schema["$defs"]["InstanceNeed"]["properties"]) == set(InstanceNeed.model_fields)
