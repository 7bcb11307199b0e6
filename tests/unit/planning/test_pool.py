"""What a pool answers about itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError

SMALL, LARGE = CATALOGUE["g5.xlarge"], CATALOGUE["g5.48xlarge"]
UNPRICED = replace(LARGE, usd_per_hour=None)
POOL = Pool(name="gpu", kind=PoolKind.NODE_POOL, types=(SMALL, LARGE, CATALOGUE["g5.2xlarge"]))


def test_m05_the_dearest_type_is_the_one_with_the_highest_price() -> None:
    assert POOL.dearest == LARGE
    assert replace(POOL, types=(UNPRICED, SMALL)).dearest == SMALL
    assert replace(POOL, types=(UNPRICED,)).dearest is None
    with pytest.raises(NotKnownError):
        assert replace(POOL, types=NotKnown("urn", "instanceTypes")).dearest


@pytest.mark.parametrize(
    ("limits", "gpus"),
    [({}, None), ({"cpu": "8"}, None), ({"nvidia.com/gpu": "8"}, 8), ({"nvidia.com/gpu": "many"}, None)],
)
def test_m05_a_limit_is_one_on_gpus(limits: dict[str, str], gpus: float | None) -> None:
    assert replace(POOL, limits=limits).gpu_limit == gpus
