from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eks_gpu.facts import images, instances
from eks_gpu.settings.model_server import GPU_NAMES
from eks_gpu.settings.workloads import Triton, Vllm, Workloads

BLOCK: dict[str, object] = {"model": "Qwen/Qwen2.5-7B-Instruct", "gpu_types": ("a10g",)}


def read(**block: object) -> Vllm:
    return Vllm.model_validate({**BLOCK, **block})


def mistake(**block: object) -> str:
    with pytest.raises(ValidationError) as refused:
        read(**block)
    [error] = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


def test_nothing_runs_unless_it_is_named() -> None:
    assert Workloads().vllm is None


def test_the_gpu_models_have_no_default_because_they_are_the_bill() -> None:
    with pytest.raises(ValidationError, match="Field required"):
        Vllm.model_validate({"model": "Qwen/Qwen2.5-7B-Instruct"})


def test_w02_unknown_gpu_models_are_refused_with_the_known_ones() -> None:
    known = ", ".join(sorted(GPU_NAMES))
    assert mistake(gpu_types=("a10g", "a10", "h1000")) == f"unknown GPU models a10, h1000; known are {known}"


def test_w02_a_gpu_model_stands_once_in_the_order_of_preference() -> None:
    assert mistake(gpu_types=("l4", "a10g", "l4")) == "l4 stands there twice; the order is the order of preference"


def test_gpus_that_no_node_has_are_refused() -> None:
    assert mistake(model="org/tiny-1b", gpu_types=("t4g",), gpus=4) == (
        "no instance type has 4 GPUs of t4g; the most on one node are 2"
    )


def test_w03_shared_memory_is_eight_gib_by_default() -> None:
    assert read().shared_memory_gib == 8


def test_w03_shared_memory_that_leaves_no_room_is_refused() -> None:
    assert mistake(memory_gib_per_gpu=8) == (
        "shared_memory_gib 8 is more than half of the pod's 8 GiB of memory, which it counts against; raise "
        "memory_gib_per_gpu or lower it"
    )


@given(
    shared=st.integers(min_value=1, max_value=512),
    memory=st.integers(min_value=4, max_value=256),
    gpus=st.sampled_from([1, 2, 4, 8]),
)
def test_w03_accepted_shared_memory_is_always_well_below_the_memory_limit(shared: int, memory: int, gpus: int) -> None:
    block = {"gpus": gpus, "shared_memory_gib": shared, "memory_gib_per_gpu": memory}
    try:
        server = read(**block)
    except ValidationError:
        assert 2 * shared > memory * gpus
    else:
        assert 2 * server.shared_memory_gib <= server.memory_gib


def test_w07_a_gpu_gets_four_cpus_and_16_gib_by_default() -> None:
    server = read()
    assert server.cpu_per_gpu == 4
    assert server.memory_gib_per_gpu == 16


@pytest.mark.parametrize("model", ["Qwen2.5-7B", "org/", "/name", "https://hub.example/org/name", "a/b/c"])
def test_a_model_is_named_by_organisation_and_name(model: str) -> None:
    assert mistake(model=model, model_size_gb=1.0) == (
        f"{model!r} names no model; write organisation/name, such as mistralai/Mistral-7B-Instruct-v0.3"
    )


def test_w04_a_model_of_unknown_size_must_state_it() -> None:
    assert mistake(model="openai-community/gpt2") == (
        "the name openai-community/gpt2 does not tell the model's size; state model_size_gb"
    )
    assert read(model="openai-community/gpt2", model_size_gb=0.5).weights_bytes == 500_000_000


def test_a_stated_size_wins_over_the_name() -> None:
    assert read(model_size_gb=15.2).weights_bytes == 15_200_000_000
    assert read().weights_bytes == 14 * images.GB


def test_a_model_that_the_gpus_cannot_hold_is_refused() -> None:
    assert mistake(model="meta-llama/Llama-3.1-70B-Instruct", gpus=4) == (
        "meta-llama/Llama-3.1-70B-Instruct has 140 GB of weights, but a server may fill 86 GB of 4 x a10g; take more "
        "gpus, larger gpu_types or a quantised model"
    )
    assert read(model="meta-llama/Llama-3.1-70B-Instruct", gpus=8).gpus == 8


def test_w10_the_public_image_is_pinned() -> None:
    assert read().image_reference == images.VLLM.reference
    assert "latest" not in images.VLLM.reference


@pytest.mark.parametrize("image", ["mirror.example/vllm:v0.28.0", f"mirror.example:5000/vllm@sha256:{'0' * 64}"])
def test_w10_an_image_of_ones_own_is_taken_when_pinned(image: str) -> None:
    assert read(image=image).image_reference == image


@pytest.mark.parametrize("image", ["vllm", "mirror.example/vllm:latest", "mirror.example/vllm:nightly-x", "vllm:main"])
def test_w10_an_image_that_floats_is_refused(image: str) -> None:
    assert mistake(image=image) == (
        f"{image!r} is not pinned; give an exact tag or a digest, such as {images.VLLM.reference}"
    )


@pytest.mark.parametrize("token", ["hf_AbCdEf", "Upper", "has space", ""])
def test_a_token_is_not_taken_for_the_name_of_a_secret_nor_repeated(token: str) -> None:
    message = mistake(hf_token_secret=token)
    assert message == (
        "is no name of a Secret; give the name of an existing one (lowercase letters, digits, hyphens, dots), never "
        "the token"
    )


@pytest.mark.parametrize(("gpus", "spare", "surge"), [(1, 0, False), (1, 1, True), (2, 1, False), (2, 2, True)])
def test_w05_a_rolling_update_surges_only_where_gpus_stand_by(gpus: int, spare: int, *, surge: bool) -> None:
    assert read(gpus=gpus, spare_gpus=spare).may_surge is surge


@pytest.mark.parametrize("name", sorted(GPU_NAMES))
def test_every_gpu_model_that_a_pool_can_have_is_known(name: str) -> None:
    memory = max(kind.gpu_memory_mib for kind in instances.CATALOGUE.values() if kind.gpu_name == name)
    assert read(gpu_types=(name,), model="org/tiny-1b").gpu_types == (name,)
    assert memory > 0


def triton_mistake(**block: object) -> str:
    with pytest.raises(ValidationError) as refused:
        Triton.model_validate({"gpu_types": ("a10g",), "model_size_gb": 10.0, "image": "mirror/triton:1", **block})
    [error] = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


@pytest.mark.parametrize(
    "choice", [{"image": None}, {"full_image_reason": "all of them are needed"}], ids=["neither", "both"]
)
def test_w10_tritons_image_is_a_decision(choice: dict[str, object]) -> None:
    assert triton_mistake(**choice) == (
        "give either image, made of the py3-min variant and the backends needed, or full_image_reason, why the public "
        "image with every backend runs"
    )


@pytest.mark.parametrize("folder", ["/models", "../secrets", "a//b", "", "a/"])
def test_a_repository_stays_on_the_cache(folder: str) -> None:
    assert triton_mistake(model_repository=folder) == (
        f"{folder!r} is no folder on the cache; give a relative path such as triton or teams/search"
    )


def test_w04_a_repository_must_state_its_size() -> None:
    assert triton_mistake(model_size_gb=0) == "Input should be greater than 0"


def test_g04_a_partition_must_hold_the_model() -> None:
    on_a_slice = read(gpu_types=("a100",), mig_profile="3g.20gb")
    assert on_a_slice.node_gpu_types == ("a100-mig",)
    assert mistake(gpu_types=("a100",), mig_profile="1g.5gb") == (
        "Qwen/Qwen2.5-7B-Instruct has 14 GB of weights, but a server may fill 4 GB of 1 x 1g.5gb; take a larger "
        "mig_profile or a quantised model"
    )


def test_g04_a_partition_that_no_gpu_of_the_server_has_is_refused() -> None:
    assert mistake(mig_profile="1g.5gb") == (
        "a10g has no MIG, so mig_profile 1g.5gb is nowhere; remove it, or use gpu_types with MIG, such as a100 or h100"
    )
    assert mistake(gpu_types=("h200",), mig_profile="1g.5gb").startswith(
        "mig_profile 1g.5gb is none of h200; profiles are 1g.18gb, 1g.18gb+me, 1g.35gb"
    )


def test_g04_partitions_do_not_add_up() -> None:
    assert "2 partitions cannot work together" in mistake(gpu_types=("a100",), mig_profile="3g.20gb", gpus=2)
