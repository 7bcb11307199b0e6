"""Pods of instances that are gone.

Stands in for the end of the machine that they ran on: the controller manager alone takes a minute to find out. It does
not prove that anything was shut down in order.
"""

from __future__ import annotations

from sandbox.kubernetes import nodes, rest
from sandbox.kubernetes.node_side.world import World, log, name_of


class Terminated:
    """Removes what was bound to a node that does not exist."""

    def step(self, world: World) -> None:
        """Remove such pods, after asking once more whether their node is really not there."""
        there = world.of(rest.NODES).by_name()
        for pod in world.of(rest.PODS):
            node = pod["spec"].get("nodeName")
            if node and node not in there and world.api.get(rest.NODES, node) is None:
                log.info("pod %s is gone with its node %s", name_of(pod), node)
                nodes.delete_pod(world.api, pod, by_force=True)
