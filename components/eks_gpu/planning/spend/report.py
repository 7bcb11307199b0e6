"""The spend of a stack: for each GPU pool the least, what is to be expected, and the most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnownError, need
from eks_gpu.planning.spend.ceiling import Price, UnboundedSpendError, ceiling
from eks_gpu.planning.spend.demand import Demand, FixedNodes, needed
from eks_gpu.planning.spend.figures import SPOT, Amount, Figure, Nodes, Total, Unpriced, cost_of, spot_price, total
from eks_gpu.planning.spend.overhead import Overhead
from eks_gpu.planning.spend.prices import Prices


class Bound(StrEnum):
    """The three figures of each pool."""

    MINIMUM = "minimum"
    EXPECTED = "expected"
    CEILING = "ceiling"


ASSUMPTIONS: Mapping[Bound, str] = {
    Bound.MINIMUM: (
        "what is there without any workload: minimum sizes and static replicas, of the cheapest type, and nodes that "
        "placeholders keep ready"
    ),
    Bound.EXPECTED: (
        "desired sizes, of the type that is named first, and for GPU workloads of the stack that stay (Deployments and "
        "the like, at the replicas they start with; no Jobs) nodes of their own, of the cheapest type that admits them "
        "in the pool that Karpenter tries first"
    ),
    Bound.CEILING: "every pool at its largest size or limit, of the dearest type",
}
"""What each figure takes for granted."""


@dataclass(frozen=True, slots=True)
class PoolSpend:
    """What one pool costs."""

    urn: str
    name: str
    kind: str
    capacity_types: tuple[str, ...]
    """Empty where they are not known."""
    figures: Mapping[Bound, Figure]
    without_spot_price: tuple[str, ...] = ()
    """Instance types that it may buy as spot, at a price that is not known."""
    daemons: Overhead | None = None
    """What DaemonSets take of its cheapest node; None where that cannot be told."""


@dataclass(frozen=True, slots=True)
class StackSpend:
    """What the GPU pools of a stack cost."""

    pools: tuple[PoolSpend, ...]
    unplaced: tuple[str, ...] = ()
    """Workloads for which the figures hold no node: no pool admits them or has room."""
    uncounted: tuple[str, ...] = ()
    """Workloads that the expected figure leaves out, with the reason."""
    unclear: tuple[str, ...] = ()
    """Pools of which nobody can tell yet whether they buy GPUs."""

    def total(self, bound: Bound) -> Total:
        """Return the sum over the pools."""
        return total((pool.name, pool.figures[bound]) for pool in self.pools)


def spend(pools: Sequence[Pool], demands: Sequence[Demand], prices: Prices) -> StackSpend:
    """Return what ``pools`` cost with ``demands`` on them."""
    limits = {pool.urn: limit for pool in pools if (limit := _gpu_limit(pool)) is not None}
    ready = needed((demand for demand in demands if demand.placeholder), {}, limits)
    wanted = needed(demands, {pool.urn: nodes for pool in pools if (nodes := _fixed(pool)) is not None}, limits)
    return StackSpend(
        tuple(
            PoolSpend(
                urn=pool.urn,
                name=pool.name,
                kind=pool.kind.value,
                capacity_types=_capacity_types(pool),
                figures={
                    Bound.MINIMUM: _figure(pool, prices, Bound.MINIMUM, ready.nodes.get(pool.urn, ())),
                    Bound.EXPECTED: _figure(pool, prices, Bound.EXPECTED, wanted.nodes.get(pool.urn, ())),
                    Bound.CEILING: _ceiling(pool, prices),
                },
                without_spot_price=_without_spot_price(pool, prices),
            )
            for pool in pools
        ),
        tuple(wanted.unplaced),
    )


def _capacity_types(pool: Pool) -> tuple[str, ...]:
    try:
        return tuple(sorted(need(pool.capacity_types)))
    except NotKnownError:
        return ()


def _without_spot_price(pool: Pool, prices: Prices) -> tuple[str, ...]:
    if SPOT not in _capacity_types(pool):
        return ()
    return tuple(kind.name for kind in pool.gpu_types if prices.on_spot(kind) is None)


def _gpu_limit(pool: Pool) -> float | None:
    try:
        return None if pool.static else pool.gpu_limit
    except NotKnownError:
        return None


def _fixed(pool: Pool) -> FixedNodes | None:
    """Return the nodes that a pool of fixed size is expected to have; None for a pool that follows demand."""
    try:
        if not pool.static:
            return None
        nodes = _own(pool, Bound.EXPECTED)
    except NotKnownError:
        return FixedNodes(0, 0)
    return FixedNodes(nodes[0].count, nodes[0].instance.gpu_count) if nodes else FixedNodes(0, 0)


def _own(pool: Pool, bound: Bound) -> tuple[Nodes, ...]:
    """Return the nodes that a pool has of itself, without any demand."""
    if not pool.static or not pool.gpu_types:
        return ()
    size = need(pool.size)
    if pool.kind is PoolKind.NODE_POOL:
        return (Nodes(size.desired or 0, _cheapest(pool)),)
    if bound is Bound.MINIMUM:
        return (Nodes(size.minimum or 0, _cheapest(pool)),)
    desired = size.desired if size.desired is not None else size.minimum
    return (Nodes(desired or 0, pool.gpu_types[0]),)


def _cheapest(pool: Pool) -> InstanceType:
    return min(pool.gpu_types, key=lambda item: item.usd_per_hour if item.usd_per_hour is not None else float("inf"))


def _figure(pool: Pool, prices: Prices, bound: Bound, bought: Iterable[Nodes]) -> Figure:
    try:
        if pool.unlisted and pool.static:
            return Unpriced(f"may buy {', '.join(pool.unlisted)}, whose price is not known")
        return cost_of((*_own(pool, bound), *bought), spot_price(pool, prices))
    except NotKnownError as error:
        return Unpriced(f"{error.what.path} is {error.what.reason}")


def _ceiling(pool: Pool, prices: Prices) -> Figure:
    try:
        most = ceiling(pool)
        return Amount(most.usd_per_hour, _spot_ceiling(pool, spot_price(pool, prices)), most.because)
    except UnboundedSpendError as error:
        return Unpriced(str(error))
    except NotKnownError as error:
        return Unpriced(f"{error.what.path} is {error.what.reason}")


def _spot_ceiling(pool: Pool, price: Price) -> float | None:
    try:
        return ceiling(pool, price).usd_per_hour
    except UnboundedSpendError:
        return None
