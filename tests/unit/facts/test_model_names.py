from __future__ import annotations

import pytest

from eks_gpu.facts.model_names import model_bytes


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        ("meta-llama/Llama-3.1-70B-Instruct", 140),
        ("Qwen/Qwen2.5-0.5B-Instruct", 1),
        ("Qwen/Qwen2.5-7B-Instruct", 14),
        ("mistralai/Mixtral-8x7B-v0.1", 112),
        ("Qwen/Qwen3-30B-A3B", 60),
        ("org/Llama-3-8B-Instruct-AWQ", 4),
        ("org/llama-3-8b-gptq", 4),
        ("nvidia/Llama-3.1-8B-Instruct-FP8", 8),
        ("nvidia/Llama-3.1-8B-Instruct-FP4", 4),
        ("7B/small-1b", 2),
        ("openai/gpt-oss-120b", 75),
        ("org/gpt-oss-120b-BF16", 240),
        ("org/gpt-oss-120b-AWQ", 60),
    ],
)
def test_the_size_is_read_off_parameters_and_format(name: str, gigabytes: int) -> None:
    assert model_bytes(name) == gigabytes * 10**9


@pytest.mark.parametrize(
    "name", ["openai-community/gpt2", "org/model-v2.5b1", "org/web3-base", "org/Scout-17B-16E", "org/Llama-70B-GGUF"]
)
def test_a_name_that_does_not_tell_is_not_guessed(name: str) -> None:
    assert model_bytes(name) is None
