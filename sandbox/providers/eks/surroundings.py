"""What a node group is put into: the cluster it joins, as the component itself or another component gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from sandbox.providers.eks.resources import Met


@dataclass(frozen=True)
class Surroundings:
    """The cluster that nodes join."""

    control_plane: Callable[[str], pulumi.Output[Any]]
    """Gives an output of the `aws` cluster by its name."""
    core: Callable[[str], pulumi.Input[Any]]
    """Gives a value of the component's core data by its name; None where it has none."""
    before: Sequence[pulumi.Resource] = field(default=())
    """What nodes cannot work without."""

    @property
    def cluster_name(self) -> pulumi.Output[str]:
        """The name of the `aws` cluster."""
        return self.control_plane("name")


def surroundings(cluster: pulumi.Input[Met | Mapping[str, Any]]) -> Surroundings:
    """Return the surroundings in a cluster given as a component, or as its core data.

    The control plane comes from an output of its own where there is one: one unknown in the core data hides all of it.
    """
    given: pulumi.Output[Any] = pulumi.Output.from_input(cluster)
    core: pulumi.Output[Any] = given.apply(lambda found: found.output("core") if isinstance(found, Met) else found)
    control_plane = given.apply(
        lambda found: found.output("eksCluster") if isinstance(found, Met) else found["cluster"]
    )
    return Surroundings(
        control_plane=lambda name: control_plane.apply(lambda found: found.output(name)),
        core=lambda name: core.apply(lambda found: found.get(name)),
    )
