from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field, ValidationError

from eks_gpu.facts import ami, instances, labels
from eks_gpu.settings.block import Block
from eks_gpu.settings.documentation import field_docstrings
from eks_gpu.settings.gpu_pool import Purpose


class _Inner(Block):
    """Something inside."""

    number: int = 1
    """A number."""


class _Outer(Block):
    """Something outside."""

    number: int | None = None
    share: float = 0.5
    on: bool = False
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    inner: dict[str, _Inner] = Field(default_factory=dict)


@pytest.mark.parametrize(
    "data",
    [
        {"number": "2"},
        {"number": 2.0},
        {"number": True},
        {"share": "0.5"},
        {"share": True},
        {"on": 1},
        {"on": "yes"},
        {"numbers": ["1"]},
        {"words": [1]},
        {"inner": {"a": {"number": "1"}}},
        {"unknown": 1},
    ],
    ids=str,
)
def test_nothing_is_converted_or_ignored(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _Outer.model_validate(data)


def test_what_yaml_has_is_taken() -> None:
    outer = _Outer.model_validate({"number": 2, "share": 1, "words": ["a"], "inner": {"a": {"number": 3}}})
    assert outer.share == 1.0
    assert outer.words == ("a",)
    assert outer.inner["a"].number == 3


def test_a_block_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        _Inner().number = 2  # type: ignore[misc] # the point: it is refused


def test_a_docstring_is_the_description() -> None:
    assert field_docstrings(_Inner)["number"] == "A number."


def test_n04_purposes_are_the_values_of_the_workload_label() -> None:
    assert tuple(Purpose) == labels.WORKLOADS


def test_a_release_of_the_image_lacks_only_families_that_there_are() -> None:
    assert instances.families().keys() >= ami.AL2023_RELEASE_LACKS
