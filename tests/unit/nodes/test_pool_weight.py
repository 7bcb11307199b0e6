from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import ami, instances
from eks_gpu.nodes.pool_weight import HIGHEST, LOWEST, pool_weight
from eks_gpu.settings.node_pool import NodePool

USABLE = sorted(
    name for name, kind in instances.CATALOGUE.items() if kind.gpu_count and kind.family not in ami.AL2023_RELEASE_LACKS
)


def _pool(*names: str) -> NodePool:
    return NodePool(instance_types=names, max_gpus=8)


def _siblings(name: str) -> list[str]:
    chosen = instances.CATALOGUE[name]
    return [
        other
        for other in USABLE
        if instances.CATALOGUE[other].gpu_model == chosen.gpu_model and instances.CATALOGUE[other].arch == chosen.arch
    ]


@st.composite
def pools(draw: st.DrawFn) -> NodePool:
    siblings = _siblings(draw(st.sampled_from(USABLE)))
    return _pool(*draw(st.lists(st.sampled_from(siblings), min_size=1, max_size=20, unique=True)))


def _price(pool: NodePool) -> float:
    return min((kind.usd_per_hour for kind in pool.types if kind.usd_per_hour is not None), default=float("inf"))


@given(pools(), pools())
def test_n12_a_cheaper_pool_is_never_tried_after_a_dearer_one(one: NodePool, other: NodePool) -> None:
    if _price(one) < _price(other):
        assert pool_weight(one) > pool_weight(other)
    if _price(one) == _price(other):
        assert pool_weight(one) == pool_weight(other)


@given(pools())
def test_n12_every_pool_has_a_weight_that_the_api_takes(pool: NodePool) -> None:
    assert LOWEST <= pool_weight(pool) <= HIGHEST


def test_n12_g5_is_tried_before_p4d() -> None:
    assert pool_weight(_pool("g5.xlarge", "g5.12xlarge")) > pool_weight(_pool("p4d.24xlarge"))


def test_n12_types_without_a_price_come_last() -> None:
    unpriced = [name for name in USABLE if instances.CATALOGUE[name].usd_per_hour is None]

    assert unpriced
    assert {pool_weight(_pool(name)) for name in unpriced} == {LOWEST}


def test_the_order_of_instance_types_does_not_matter() -> None:
    assert pool_weight(_pool("g5.xlarge", "g5.2xlarge")) == pool_weight(_pool("g5.2xlarge", "g5.xlarge"))
