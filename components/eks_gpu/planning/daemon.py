"""A DaemonSet as far as it is known before it runs, and what there is to say about where it comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eks_gpu.facts import discovery, labels
from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Taint
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, need


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A DaemonSet of the stack, or one that a chart or add-on of the stack installs."""

    urn: str
    """URN of the resource that brings it: the DaemonSet itself, a release, an add-on."""
    owner: str
    """Logical name of that resource."""
    name: str
    role: Role | None
    """None for somebody's own, of which nothing is known."""
    template: PodTemplate
    adds: Mapping[str, str | None] | NotKnown
    """Labels that a node has once it runs there; None for a value that depends on the node."""
    opt_outs: tuple[str, ...] = ()
    """Labels of a pool that keep it away when they say ``false``."""
    aimed: bool = False
    """Whether somebody chose its nodes, by a selector or an affinity of their own."""
    tolerations_at: str = ""
    """The property in which its tolerations are given."""
    doubt: NotKnown | None = None
    """What would have to be known to say that it is there at all."""

    @property
    def by_operator(self) -> bool:
        """Whether the GPU Operator deploys it, by a label that it puts on what looks like a GPU node."""
        return discovery.DEPLOY_OPERANDS in self.opt_outs

    def opted_out(self, pool: Pool) -> bool:
        """Return whether a pool says by label that it does not want it."""
        said = need(pool.labels)
        return any(said.get(key) == labels.NOT_DEPLOYED for key in self.opt_outs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What else decides which labels a node gets."""

    kubernetes: tuple[int, int] | NotKnown
    """The cluster's version."""
    complete: bool
    """Whether nothing is in the cluster but what is known here, so that nobody else can have labelled the node."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a DaemonSet does not come to a node."""

    taint: Taint | None
    """The first taint that it does not tolerate."""
    refusal: str
    """The reason, as the second half of a sentence about it."""
    wanted: bool
    """Whether it wants such a node all the same, as far as labels go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Who comes to the nodes of one instance type of a pool."""

    instance: InstanceType
    arrived: tuple[Daemon, ...]
    kept_off: tuple[tuple[Daemon, Obstacle], ...]
    """Who does not, and has not been opted out."""
    unclear: tuple[tuple[Daemon, NotKnown], ...]
    """Of whom nobody can tell."""
    added: Mapping[str, str]
    """The labels that the nodes have in the end besides those of their pool and type, as far as it is sure."""
