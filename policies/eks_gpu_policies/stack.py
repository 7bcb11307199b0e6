"""What the resources of a run mean together: the pools and pods in them, and the questions that rules ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from eks_gpu.planning.daemon import Daemon
from eks_gpu.planning.placement import Manner, Placement
from eks_gpu.planning.pod_template import PodTemplate, asks_gpu
from eks_gpu.planning.pool import Overlay, Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.options import Options
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.claims import Storage
from eks_gpu_policies.readers.daemons import BRINGERS, read_daemons
from eks_gpu_policies.readers.gates import waits_for
from eks_gpu_policies.readers.node_groups import node_groups, read_node_group
from eks_gpu_policies.readers.node_pools import read_node_pool
from eks_gpu_policies.readers.overlays import read_overlays
from eks_gpu_policies.readers.places import Places
from eks_gpu_policies.readers.pods import read_pods
from eks_gpu_policies.readers.reach import DaemonReach
from eks_gpu_policies.readers.self_managed import read_self_managed, self_managed_groups
from eks_gpu_policies.readers.splits import Installation, installations, split_of
from eks_gpu_policies.readers.subnets import Location, pool_locations, zone_of
from eks_gpu_policies.readers.volume_zones import volume_affinity
from eks_gpu_policies.resource import Resource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Whole:
    """The stack itself, for rules whose subject it is."""

    urn: str
    name: str = "the stack"


class Stack(Program):
    """All resources of a run with what they mean: pools, pods, places. Everything is read once."""

    def __init__(self, resources: Iterable[Resource], options: Options | None = None) -> None:
        """Hold ``resources``, the last of each URN, and the options of the run."""
        super().__init__(resources)
        self.options = options or Options()
        self.unreadable: list[tuple[str, str]] = []
        """URN of each resource that could not be read, with the kind of error."""
        self._landing: dict[Manner, tuple[Pool, ...]] = {}
        self._lodgers: dict[int, tuple[PodTemplate, ...]] = {}
        self._gpu_lodgers: dict[int, tuple[PodTemplate, ...]] = {}
        self._locations: dict[str, tuple[Location, ...] | NotKnown] = {}

    @cached_property
    def whole(self) -> Whole:
        """The stack itself."""
        root = self.of_type(tokens.STACK)
        return Whole(root[0].urn if root else "")

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """Node groups, managed by EKS or not, and node pools, whatever they may buy."""
        groups = self._read(node_groups(self), lambda group: (read_node_group(group, self),))
        own = self._read(self_managed_groups(self), lambda group: (read_self_managed(group, self),))
        pools = self._read(self.of_type(tokens.NODE_POOL), lambda pool: (read_node_pool(pool, self),))
        return tuple(self._surrounded(pool) for pool in (*groups, *own, *pools))

    def _surrounded(self, pool: Pool) -> Pool:
        """Return a pool with what other resources decide about it: its zones, and how its GPUs are shared."""
        return replace(
            pool,
            zones=attempt(self._zones_of, pool),
            split=attempt(split_of, pool, self._plugins, self),
            overlays=self._overlays if pool.kind is PoolKind.NODE_POOL else (),
        )

    def _zones_of(self, pool: Pool) -> frozenset[str] | None:
        """Return the zones that a pool's subnets are in; None where it names no subnet."""
        return frozenset(map(zone_of, self.locations(pool))) or None

    @cached_property
    def _plugins(self) -> tuple[Installation, ...]:
        return installations(self)

    @cached_property
    def _overlays(self) -> tuple[Overlay, ...] | NotKnown:
        return attempt(read_overlays, self)

    @cached_property
    def pods(self) -> tuple[PodTemplate, ...]:
        """Every pod template, at any depth of any Kubernetes object."""
        return tuple(self._read(self.resources, lambda resource: read_pods(resource, self)))

    def _read(self, resources: Iterable[Resource], read: Callable[[Resource], Iterable[T]]) -> Iterator[T]:
        """Yield what ``read`` makes of each resource; one that cannot be read is remembered, not fatal."""
        for resource in resources:
            try:
                yield from read(resource)
            except Exception as error:  # noqa: BLE001 - properties can be anything; the rest must still be judged
                self.unreadable.append((resource.urn, type(error).__name__))

    def is_gpu_pool(self, pool: Pool) -> bool:
        """Return whether a pool buys GPUs. One that buys them only by omission counts once a GPU pod can land on it.

        Raises ``NotKnownError`` when its instance types are not known.
        """
        if not pool.buys_gpus:
            return False
        return not pool.by_omission or bool(self.gpu_lodgers(pool))

    @cached_property
    def gpu_pods(self) -> tuple[PodTemplate, ...]:
        """The pods that are known to ask for a GPU."""
        return tuple(pod for pod in self.pods if asks_gpu(pod) is True)

    @cached_property
    def asks_gpus(self) -> frozenset[str]:
        """URNs of the objects of which a pod is known to ask for a GPU."""
        return frozenset(pod.urn for pod in self.gpu_pods)

    def gpu_lodgers(self, pool: Pool) -> tuple[PodTemplate, ...]:
        """Return those of them that are known to be let onto a GPU node of a pool."""
        door = self.places.door(pool)
        if id(door) not in self._gpu_lodgers:
            self._gpu_lodgers[id(door)] = tuple(pod for pod in self.gpu_pods if self.may_land(pod, pool))
        return self._gpu_lodgers[id(door)]

    def may_land(self, pod: PodTemplate, pool: Pool) -> bool:
        """Return whether taints and labels are known to let a pod onto a pool."""
        return self.places.lets_on(pod, pool)

    def landing(self, pod: PodTemplate) -> tuple[Pool, ...]:
        """Return the pools whose taints and labels are known to let a pod onto a GPU node of theirs."""
        asked = self.places.manner(pod)
        if asked not in self._landing:
            self._landing[asked] = tuple(pool for pool in self.pools if self.may_land(pod, pool))
        return self._landing[asked]

    def lodgers(self, pool: Pool) -> tuple[PodTemplate, ...]:
        """Return the pods that are known to be let onto a GPU node of a pool."""
        door = self.places.door(pool)
        # Pools that are alike share a door, and so their lodgers.
        if id(door) not in self._lodgers:
            self._lodgers[id(door)] = tuple(pod for pod in self.pods if self.may_land(pod, pool))
        return self._lodgers[id(door)]

    @cached_property
    def daemons(self) -> tuple[Daemon, ...]:
        """The DaemonSets of the stack, and those that its charts and add-ons bring."""
        return tuple(self._read(self.of_type(*sorted(BRINGERS)), lambda resource: read_daemons(resource, self)))

    @cached_property
    def daemon_reach(self) -> DaemonReach:
        """Which DaemonSets come to which pools."""
        return DaemonReach(self, self.daemons, manifests_only=self.options.manifests_only)

    @cached_property
    def gated(self) -> frozenset[str]:
        """URNs of what is there before a custom resource that counts as made only when it says so."""
        gates = (resource for resource in self.resources if attempt(waits_for, resource) is True)
        return frozenset[str]().union(*(self.graph.before(gate.urn) for gate in gates))

    @cached_property
    def places(self) -> Places:
        """Pods and pools, prepared for the question which fits where."""
        return Places(
            self.pods,
            daemons=self._daemons_of,
            volumes=lambda pod: attempt(volume_affinity, pod, self.storage, self),
        )

    def _daemons_of(self, pool: Pool) -> tuple[PodTemplate, ...]:
        """Return the DaemonSets that are known to come to all GPU nodes of a pool."""
        found = attempt(self.daemon_reach.reaching, pool)
        return () if isinstance(found, NotKnown) else tuple(daemon.template for daemon in found)

    def placed(self, pod: PodTemplate, pool: Pool) -> Placement:
        """Return which instance types of a pool a pod finds room on, or the first reason why not.

        DaemonSets of the stack are taken off, and volumes looked up. Where nobody can tell, the placement says what
        would have to be known.
        """
        return self.places.placed(pod, pool)

    def placements(self, pod: PodTemplate) -> tuple[tuple[Pool, Placement], ...]:
        """Return the same of every pool that may buy GPUs; those that differ in nothing but names are asked once."""
        return tuple((pool, self.placed(pod, pool)) for pool in self.possible_pools)

    @cached_property
    def possible_pools(self) -> tuple[Pool, ...]:
        """The pools that buy GPUs or may; one of each lot that differ in nothing but their names."""
        found = (pool for pool in self.pools if pool.unlisted or isinstance(pool.types, NotKnown) or pool.types)
        return self.places.distinct(found)

    @cached_property
    def storage(self) -> Storage:
        """Claims, who mounts them, and what is behind them."""
        return Storage(self, self.pods)

    def locations(self, pool: Pool) -> tuple[Location, ...]:
        """Return the subnets a pool's nodes may be in; raise ``NotKnownError`` when that cannot be told."""
        if pool.urn not in self._locations:
            self._locations[pool.urn] = attempt(pool_locations, pool, self)
        return need(self._locations[pool.urn])

    @cached_property
    def gpu_pools(self) -> tuple[Pool, ...]:
        """The pools that are known to buy GPUs."""
        return tuple(pool for pool in self.pools if attempt(self.is_gpu_pool, pool) is True)

    @cached_property
    def unclear_pools(self) -> tuple[NotKnown, ...]:
        """What is not known about those pools of which nobody can tell whether they buy GPUs."""
        answers = (attempt(self.is_gpu_pool, pool) for pool in self.pools)
        return tuple(answer for answer in answers if isinstance(answer, NotKnown))

    def template(self, pool: Pool) -> View | None:
        """Return the properties of a pool's launch template or EC2NodeClass; None when it has none in the stack."""
        urn = pool.template
        if urn is None or isinstance(urn, NotKnown):
            return None
        return self.by_urn[urn].view

    def node_pools(self) -> tuple[Pool, ...]:
        """Return Karpenter's pools."""
        return tuple(pool for pool in self.pools if pool.kind is PoolKind.NODE_POOL)
