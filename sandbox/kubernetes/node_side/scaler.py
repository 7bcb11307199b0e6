"""Karpenter's container: its process runs while a pod of its Deployment is ready.

Stands in for the container runtime, for this one image. So Karpenter comes and goes with its Helm release, and what
needs it before it is there, or after it is gone, waits for ever, as on EKS. It runs with the rights of an
administrator: it does not prove the chart's roles, nor its AWS permissions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eks_gpu.facts import labels, versions
from sandbox.checkout import Checkout
from sandbox.kubernetes import karpenter, rest
from sandbox.kubernetes.instance_types import Market
from sandbox.kubernetes.karpenter import Karpenter
from sandbox.kubernetes.node_groups import ZONES_ANNOTATION
from sandbox.kubernetes.node_side.world import World, annotations_of, is_going, labels_of, log, name_of
from sandbox.kubernetes.nodes import is_ready
from sandbox.kubernetes.rest import Object

_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 10.0
"""A kubelet goes up to five minutes; here somebody waits."""


@dataclass
class Scaler:
    """Starts and stops Karpenter."""

    checkout: Checkout
    kubeconfig: Path
    running: Karpenter | None = None
    pause: float = _FIRST_PAUSE_SECONDS
    not_before: float = 0.0

    def step(self, world: World) -> None:
        """Let it run if it is to."""
        pod = next((pod for pod in world.of(rest.PODS) if is_karpenter(pod)), None)
        self._notice_end()
        if pod is None:
            self.stop("none of its pods is ready")
            self.pause = _FIRST_PAUSE_SECONDS
        elif self.running is None and time.monotonic() >= self.not_before:
            log.info("Karpenter starts: its pod %s is ready", name_of(pod))
            self.running = karpenter.start(self.checkout, self.kubeconfig, market(world), _environment(pod))

    def stop(self, why: str) -> None:
        """End it, if it runs."""
        if self.running is not None:
            log.info("Karpenter stops: %s", why)
            self.running.stop()
            self.running = None

    def _notice_end(self) -> None:
        if self.running is None or self.running.exit_status is None:
            return
        log.info("Karpenter ended with %s; again in %.0f s", self.running.exit_status, self.pause)
        self.running = None
        self.not_before = time.monotonic() + self.pause
        self.pause = min(2 * self.pause, _LONGEST_PAUSE_SECONDS)


def is_karpenter(pod: Object) -> bool:
    """Tell whether a pod is one of Karpenter's Deployment, and ready."""
    owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences", ())}
    named = labels_of(pod).get(labels.APP_NAME) == versions.KARPENTER.name
    return named and "ReplicaSet" in owners and is_ready(pod) and not is_going(pod)


def market(world: World) -> Market:
    """Return what can be bought in the cluster's region: every type, in the zones that its node groups can be in."""
    nodes = [node for node in world.of(rest.NODES) if ZONES_ANNOTATION in annotations_of(node)]
    if not nodes:
        return Market()
    zones = {zone for node in nodes for zone in annotations_of(node)[ZONES_ANNOTATION].split(",")}
    return Market(region=labels_of(nodes[0])[labels.REGION], zones=tuple(sorted(zones)))


def _environment(pod: Object) -> Mapping[str, str]:
    """Return the variables of a pod's first container that are written out."""
    variables = pod["spec"]["containers"][0].get("env", ())
    return {variable["name"]: variable["value"] for variable in variables if variable.get("value")}
