"""The network interfaces of a pool's nodes, Elastic Fabric Adapters among them."""

from __future__ import annotations

from dataclasses import dataclass

from eks_gpu.facts import efa
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import View
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.launch_templates import used_by


@dataclass(frozen=True, slots=True)
class Interface:
    """One network interface, as EC2 is asked for it."""

    card: int
    device: int
    kind: str
    public: bool
    """Whether it asks for a public address."""

    @property
    def is_adapter(self) -> bool:
        """Whether it is an Elastic Fabric Adapter."""
        return self.kind in efa.ADAPTERS


def interfaces(pool: Pool, program: Program) -> tuple[Interface, ...]:
    """Return the interfaces that a pool's launch template or EC2NodeClass lists; none where it lists none.

    Raises ``NotKnownError`` when they are not known.
    """
    view = used_by(pool, program)
    if pool.kind is PoolKind.NODE_POOL:
        public = view.at("spec", "associatePublicIPAddress").boolean() is True
        return tuple(_interface(item, public=public) for item in view.at("spec", "networkInterfaces").items())
    return tuple(
        _interface(item, public=item["associatePublicIpAddress"].boolean() is True)
        for item in view["networkInterfaces"].items()
    )


def _interface(item: View, *, public: bool) -> Interface:
    return Interface(
        item["networkCardIndex"].integer() or 0,
        item["deviceIndex"].integer() or 0,
        item["interfaceType"].text() or efa.INTERFACE,
        public,
    )


def adapters_given(pool: Pool, program: Program) -> int:
    """Return how many adapters a node of a pool has at most; raise ``NotKnownError`` when that is not known.

    Karpenter attaches as many as pods ask for, up to what the type has, where its class lists no interfaces.
    """
    listed = interfaces(pool, program)
    if listed:
        return sum(item.is_adapter for item in listed)
    if pool.kind is PoolKind.NODE_POOL or program.by_urn[pool.urn].view["enableEfaSupport"].boolean():
        return max((item.efa_interfaces for item in pool.gpu_types), default=0)
    return 0
