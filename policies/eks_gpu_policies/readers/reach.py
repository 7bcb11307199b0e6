"""The DaemonSets of a stack before its pools: who comes to which, asked once for all that are alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.compatibility import KARPENTER_CHARTS
from eks_gpu.facts.node_repair import KARPENTER_GATE
from eks_gpu.planning.daemon import Circumstances, Daemon, Reach
from eks_gpu.planning.daemons import concerned_with, joins, reach, told_apart
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.cluster import brings_unseen, kubernetes_version
from eks_gpu_policies.readers.daemons import unknown_charts

_REPAIR_GATE: Final = ("settings", "featureGates", KARPENTER_GATE)


class DaemonReach:
    """Who comes to the pools of a stack."""

    def __init__(self, program: Program, daemons: Iterable[Daemon], *, manifests_only: bool) -> None:
        """Take the DaemonSets of the stack, and whether others may be in the cluster that nobody sees here."""
        self._program = program
        self._manifests_only = manifests_only
        self._alike: dict[Hashable, list[Daemon]] = {}
        for daemon in daemons:
            self._alike.setdefault(_content(daemon), []).append(daemon)
        self._reaches: dict[Hashable, tuple[Reach, ...] | NotKnown] = {}
        self._reaching: dict[Hashable, tuple[Daemon, ...] | NotKnown] = {}

    @cached_property
    def distinct(self) -> tuple[Daemon, ...]:
        """One of each lot of DaemonSets that differ in nothing but who brings them."""
        return tuple(lot[0] for lot in self._alike.values())

    def twins(self, daemon: Daemon) -> tuple[Daemon, ...]:
        """Return a DaemonSet with those that differ from it in nothing but who brings them."""
        return tuple(self._alike[_content(daemon)])

    def of_role(self, *roles: Role) -> tuple[Daemon, ...]:
        """Return one of each lot that does one of these things."""
        return tuple(daemon for role in roles for daemon in self._by_role.get(role, ()))

    @cached_property
    def _by_role(self) -> Mapping[Role | None, tuple[Daemon, ...]]:
        found: dict[Role | None, tuple[Daemon, ...]] = {}
        for daemon in self.distinct:
            found[daemon.role] = (*found.get(daemon.role, ()), daemon)
        return MappingProxyType(found)

    @cached_property
    def circumstances(self) -> Circumstances:
        """What else decides which labels nodes get."""
        return Circumstances(
            kubernetes=attempt(kubernetes_version, self._program),
            complete=not self._manifests_only
            and bool(self._program.of_type(*sorted(tokens.CLUSTERS)))
            and not brings_unseen(self._program),
        )

    @cached_property
    def unknown_charts(self) -> tuple[NotKnown, ...]:
        """What is not known about releases and add-ons of which nobody can tell what they install."""
        return unknown_charts(self._program)

    @cached_property
    def _karpenter_repairs(self) -> bool | NotKnown:
        own = charts.releases(self._program, *KARPENTER_CHARTS)
        return attempt(lambda: any(charts.values(each).at(*_REPAIR_GATE).boolean() for each in own))

    @property
    def repaired_by_karpenter(self) -> bool:
        """Whether Karpenter replaces nodes that say they are not well; ``NotKnownError`` where nobody can tell."""
        return need(self._karpenter_repairs)

    @cached_property
    def _known(self) -> tuple[Daemon, ...]:
        """Those that do something that is known here; nobody else brings labels."""
        return tuple(daemon for daemon in self.distinct if daemon.role is not None)

    @cached_property
    def _label_keys(self) -> frozenset[str]:
        """The labels of a pool that make a difference to them."""
        return frozenset({key for daemon in self._known for key in concerned_with(daemon)})

    @cached_property
    def _all_label_keys(self) -> frozenset[str]:
        """The same for all DaemonSets, whatever they do."""
        return frozenset({key for daemon in self.distinct for key in concerned_with(daemon)})

    def reaches(self, pool: Pool) -> tuple[Reach, ...]:
        """Return who of those that do something known comes to each lot of instance types that a pool may buy.

        Raises ``NotKnownError`` when taints, labels or instance types of the pool are not known.
        """
        if pool.unlisted and not pool.gpu_types:
            unheard_of = ", ".join(pool.unlisted)
            raise NotKnownError(NotKnown(pool.urn, "instance types", f"nothing is known of {unheard_of}"))
        content = _content_of(pool, self._label_keys)
        if content not in self._reaches:
            self._reaches[content] = attempt(self._judged, pool)
        return need(self._reaches[content])

    def _judged(self, pool: Pool) -> tuple[Reach, ...]:
        return tuple(reach(pool, kind, self._known, self.circumstances) for kind in told_apart(pool, self._known))

    def reaching(self, pool: Pool) -> tuple[Daemon, ...]:
        """Return the DaemonSets that are sure to come to every GPU node of a pool.

        Raises ``NotKnownError`` when taints, labels or instance types of the pool are not known.
        """
        content = _content_of(pool, self._all_label_keys), pool.unlisted
        if content not in self._reaching:
            self._reaching[content] = attempt(self._everywhere, pool)
        return need(self._reaching[content])

    def _everywhere(self, pool: Pool) -> tuple[Daemon, ...]:
        reaches = self.reaches(pool)
        if not reaches:
            return ()
        there = set.intersection(*({id(each) for each in found.arrived} for found in reaches))
        joining: dict[Hashable, bool] = {}
        for wants, daemon in self._others:
            if wants not in joining:
                joining[wants] = joins(daemon, pool, reaches[0])
            if joining[wants]:
                there.add(id(daemon))
        return tuple(daemon for daemon in self.distinct if id(daemon) in there)

    @cached_property
    def _others(self) -> tuple[tuple[Hashable, Daemon], ...]:
        """Those that bring no labels, each after what decides where it comes."""
        others = (daemon for daemon in self.distinct if daemon.role is None)
        return tuple((_content(daemon)[1:], daemon) for daemon in others)


def _content_of(pool: Pool, keys: frozenset[str]) -> Hashable:
    """Return what decides who of those that look at some labels comes to a pool."""
    said = pool.labels
    labels = said if isinstance(said, NotKnown) else frozenset(item for item in said.items() if item[0] in keys)
    image = pool.image if isinstance(pool.image, NotKnown) else pool.image.family
    types = pool.types if isinstance(pool.types, NotKnown) else tuple(kind.name for kind in pool.types)
    return (pool.kind, labels, pool.taints, image, types, pool.requirements, pool.capacity_types, pool.zones)


def _content(daemon: Daemon) -> tuple[Hashable, ...]:
    """Return what makes a DaemonSet what it is, apart from who brings it; first who it is."""
    template = daemon.template
    adds = daemon.adds if isinstance(daemon.adds, NotKnown) else frozenset(daemon.adds.items())
    who = (daemon.urn,) if daemon.role is None else (daemon.name, daemon.role)
    wants = (template.tolerations, template.selector, template.affinity, attempt(_requests, template))
    return (who, daemon.opt_outs, daemon.aimed, adds, daemon.doubt, *wants)


def _requests(template: PodTemplate) -> Hashable:
    return tuple(frozenset(need(container.requests).items()) for container in need(template.containers))
