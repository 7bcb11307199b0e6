"""What the name of a model says about its size.

Publishers write the number of parameters into the name (``Llama-3.1-70B-Instruct``) and, for quantised weights, their
format (``-AWQ``, ``-FP8``). Sizes are estimates good enough to plan a start with; a declared size always wins.
"""

from __future__ import annotations

import re
from typing import Final

SOURCE: Final = (
    "names on huggingface.co; safetensors data types. A mixture named 8x7B shares its attention layers between "
    "experts, so the product is an upper bound (Mixtral-8x7B: 46.7 of 56 billion)"
)
CHECKED: Final = "2026-11-21"

_PARAMETERS: Final = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
"""``70B`` or ``8x7B``. ``A3B``, the active parameters of a mixture, is preceded by a letter and does not match."""

_EXPERTS: Final = re.compile(r"[-_]\d+e(?:$|[-_.])", re.IGNORECASE)
"""``17B-16E``: the number before it counts active parameters only, so the name does not tell the size."""

_MANY_SIZES: Final = re.compile(r"(?:^|[-_.])(?:gguf|exl2|exl3)(?:$|[-_.])", re.IGNORECASE)
"""Repositories that hold a model in several quantisations: the name does not tell which one is read."""

_BITS_PER_PARAMETER: Final = (
    (re.compile(r"(?:^|[-_.])(?:bf16|fp16)(?:$|[-_.])", re.IGNORECASE), 16),
    (re.compile(r"(?:^|[-_.])(?:awq|gptq|int4|w4a16|4bit|nvfp4|mxfp4|fp4|bnb)(?:$|[-_.])", re.IGNORECASE), 4),
    (re.compile(r"(?:^|[-_.])(?:fp8|int8|w8a8|8bit)(?:$|[-_.])", re.IGNORECASE), 8),
    # Published in MXFP4 without saying so, beside some layers in bfloat16: 60.8 and 12.8 GiB (OpenAI's model card).
    (re.compile(r"^gpt-oss-", re.IGNORECASE), 5),
)
_BITS_UNQUANTISED: Final = 16
"""bfloat16 or float16: what weights are published in unless the name says otherwise."""


def model_bytes(name: str) -> int | None:
    """Return the size of a model's weights in bytes, read from its name, or None where the name does not tell.

    >>> model_bytes("meta-llama/Llama-3.1-70B-Instruct")
    140000000000
    """
    model = name.rpartition("/")[2]
    parameters = [int(experts or 1) * float(billions) for experts, billions in _PARAMETERS.findall(model)]
    if not parameters or _EXPERTS.search(model) or _MANY_SIZES.search(model):
        return None
    bits = next((bits for pattern, bits in _BITS_PER_PARAMETER if pattern.search(model)), _BITS_UNQUANTISED)
    return round(max(parameters) * 10**9 * bits / 8)
