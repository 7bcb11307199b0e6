from __future__ import annotations

import pytest
from pydantic import ValidationError

from eks_gpu.settings.model_cache import ModelCache


def test_s03_a_cache_is_elastic_by_default() -> None:
    assert ModelCache(size_gib=100).throughput == "elastic"


@pytest.mark.parametrize("throughput", ["bursting", "provisioned"])
def test_s03_a_cache_that_would_be_slow_is_refused(throughput: str) -> None:
    with pytest.raises(ValidationError, match="Input should be 'elastic'"):
        ModelCache.model_validate({"size_gib": 100, "throughput": throughput})


@pytest.mark.parametrize("size", [0, -1])
def test_a_cache_holds_something(size: int) -> None:
    with pytest.raises(ValidationError, match="Input should be greater than or equal to 1"):
        ModelCache(size_gib=size)


def test_its_size_has_no_default() -> None:
    with pytest.raises(ValidationError, match="Field required"):
        ModelCache.model_validate({})
