"""What is proven of a pool: on how many pods, each asking for what, by which checks. Decided from settings alone."""

from __future__ import annotations

from dataclasses import dataclass

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.gpu.validation import checks
from eks_gpu.gpu.validation.checks import Check
from eks_gpu.planning.offer import split_of
from eks_gpu.planning.sharing.advertised import Partitions, Shares, advertised
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.sharing import Sharing
from eks_gpu.settings.validation import Collectives, Validation

_AMD64 = "amd64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the Job of one pool is made of."""

    nodes: int
    """Nodes that are proven."""

    resources: tuple[tuple[str, int], ...]
    """What each pod asks for: extended resource and how many."""

    checks: tuple[Check, ...]
    """What each pod runs, in this order."""

    pods_on_a_node: int = 1
    """Pods on each node, all at the same time."""

    @property
    def pods(self) -> int:
        """Pods that run at the same time."""
        return self.nodes * self.pods_on_a_node

    @property
    def whole_nodes(self) -> bool:
        """Whether each pod has a node to itself."""
        return self.pods_on_a_node == 1

    @property
    def meets(self) -> bool:
        """Whether the pods do something together, and must find each other."""
        return any(check.meets for check in self.checks)


def prove(pool: GpuPool, validation: Validation, default: Sharing) -> Proof:
    """Return how the GPUs of ``pool`` are proven; ``default`` is how GPUs of pools that do not say are shared.

    Exclusive GPUs and partitions: one pod for each node, which asks for all that the node advertises, so that a node
    which advertises less never gets it. Of several instance types the one with the fewest GPUs counts. Shared GPUs: one
    pod for each share, all at once; there are more of them than GPUs, so some must share. DCGM and bandwidth are left
    out where a pod has not the whole GPU: neither says anything then.
    """
    kind = min(pool.types, key=lambda each: each.gpu_count)
    nodes = _nodes(pool, kind, validation)
    split = split_of(pool.shared_as(default))
    offers = advertised(kind, split)
    match split:
        case Shares(resource=resource):
            return Proof(
                nodes=nodes,
                pods_on_a_node=offers[resource],
                resources=((resource, 1),),
                checks=(checks.device_count(1, checks.WHOLE_GPU), checks.vector_add(shared=True)),
            )
        case Partitions():
            return Proof(
                nodes=nodes,
                resources=tuple(sorted(offers.items())),
                checks=(checks.device_count(sum(offers.values()), checks.PARTITION), checks.vector_add(shared=False)),
            )
        case None:
            return _exclusive(pool, kind, nodes, validation)


def _nodes(pool: GpuPool, kind: InstanceType, validation: Validation) -> int:
    """Return how many nodes are proven: all of a group, and as many of a Karpenter pool as a check needs."""
    if isinstance(pool, NodeGroup):
        return pool.count
    has_room = isinstance(pool, NodePool) and pool.max_gpus >= 2 * kind.gpu_count
    return 2 if has_room and _talks_across(pool, validation) else 1


def _talks_across(pool: GpuPool, validation: Validation) -> bool:
    has_fabric = isinstance(pool, NodeGroup | NodePool) and pool.efa
    return has_fabric and pool.arch == _AMD64 and validation.nccl is Collectives.AUTO


def _exclusive(pool: GpuPool, kind: InstanceType, nodes: int, validation: Validation) -> Proof:
    across = nodes > 1 and _talks_across(pool, validation)
    asked = [(resources.GPU, kind.gpu_count)]
    if across:
        asked.append((resources.EFA, kind.efa_interfaces))
    found = [
        checks.device_count(kind.gpu_count, checks.WHOLE_GPU),
        checks.vector_add(shared=False),
        checks.diagnostic(validation.diagnostic_level),
    ]
    if validation.bandwidth:
        found.append(checks.host_bandwidth(kind))
    if kind.gpu_count > 1 and pool.arch == _AMD64 and validation.nccl is not Collectives.NONE:
        found.append(checks.all_reduce(kind))
    if across:
        found.append(checks.all_reduce_across(kind, nodes=nodes))
    return Proof(nodes=nodes, resources=tuple(asked), checks=tuple(found))
