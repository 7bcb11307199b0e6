"""Pods that kwok has not noticed.

Makes up for a race in kwok (seen with v0.8.0): a pod that is bound in the moment in which kwok begins to manage its
node belongs to no node yet when kwok hears of it, and is there already when kwok lists the pods of the node. Nothing
more happens to it, and if it is a device plugin's, its node never has a GPU. Any change makes kwok look again. A real
kubelet misses no pod.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from sandbox.kubernetes import rest
from sandbox.kubernetes.node_side.world import World, is_going, log, name_of
from sandbox.kubernetes.nodes import is_ready
from sandbox.kubernetes.rest import Object

ANNOTATION: Final = "eks-gpu-sandbox/look-again"
"""Changed on a pod, so that kwok hears of it."""

_PATIENCE_SECONDS: Final = 2.0
"""How long kwok may take to start a pod; it takes some milliseconds on an idle machine."""


@dataclass
class Unnoticed:
    """Tells kwok again of pods that are bound to a node which is ready, and do not start."""

    waiting: dict[str, float] = field(default_factory=dict)
    """Since when each has been seen so, by its uid."""

    def step(self, world: World) -> None:
        """Look at every pod that nobody has started."""
        ready = {each["metadata"]["name"] for each in world.of(rest.NODES) if is_ready(each)}
        left = {pod["metadata"]["uid"]: pod for pod in world.of(rest.PODS) if _is_left(pod, ready)}
        now = time.monotonic()
        self.waiting = {uid: self.waiting.get(uid, now) for uid in left}
        for uid, since in self.waiting.items():
            if now - since >= _PATIENCE_SECONDS:
                self.waiting[uid] = now
                _tell(world, left[uid])


def _is_left(pod: Object, ready: set[str]) -> bool:
    """Tell whether a pod is bound to such a node, and nothing was ever said of it; a start is the first thing said."""
    silent = pod["status"].get("phase") == "Pending" and "startTime" not in pod["status"]
    return silent and pod["spec"].get("nodeName") in ready and not is_going(pod)


def _tell(world: World, pod: Object) -> None:
    metadata = pod["metadata"]
    log.info("pod %s was not started: kwok is told again", name_of(pod))
    change = {"metadata": {"annotations": {ANNOTATION: str(time.time_ns())}}}
    world.api.patch(rest.PODS, metadata["name"], change, metadata["namespace"])
