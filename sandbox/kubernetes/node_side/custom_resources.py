"""What the controllers behind two custom resources report, of which no code runs in the sandbox.

Stands in for the GPU Operator, whose ClusterPolicy is ready when its pod is and its operands are, and for the half of
Karpenter that speaks to AWS, which makes each EC2NodeClass ready and lets it go when no NodeClaim needs it any more. It
does not prove that subnets, security groups, images or roles exist, nor that any operand would work.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from eks_gpu.facts import gpu_software, labels
from sandbox.kubernetes import rest
from sandbox.kubernetes.node_side.world import (
    CLUSTER_POLICIES,
    NODE_CLAIMS,
    NODE_CLASSES,
    World,
    is_daemon,
    is_going,
    labels_of,
    log,
    name_of,
)
from sandbox.kubernetes.nodes import is_ready
from sandbox.kubernetes.rest import Object

FINALIZER: Final = f"{labels.KARPENTER_AWS_DOMAIN}/termination"
"""Karpenter's on each EC2NodeClass: one that is deleted without a Karpenter stays (karpenter-provider-aws v1.14.1,
pkg/apis/v1/labels.go, checked 2026-11-21)."""

CONDITIONS: Final = (
    "AMIsReady",
    "SubnetsReady",
    "SecurityGroupsReady",
    "InstanceProfileReady",
    "ValidationSucceeded",
    "PlacementGroupReady",
    "CapacityReservationsReady",
    "Ready",
)
"""Of an EC2NodeClass (the same, pkg/apis/v1/ec2nodeclass_status.go)."""

_READY, _NOT_READY = "ready", "notReady"
"""States of a ClusterPolicy (NVIDIA/gpu-operator v26.7.0, api/nvidia/v1)."""


class ClusterPolicies:
    """Reports whether what the GPU Operator's ClusterPolicy asks for is there."""

    def step(self, world: World) -> None:
        """Report it, while the operator's pod is ready: all operands are, or not."""
        policies = list(world.of(CLUSTER_POLICIES))
        pods = list(world.of(rest.PODS)) if policies else []
        operator = [pod for pod in pods if labels_of(pod).get(labels.APP) == gpu_software.OPERATOR and is_ready(pod)]
        if not operator:
            return
        namespace = operator[0]["metadata"]["namespace"]
        operands = [pod for pod in pods if pod["metadata"]["namespace"] == namespace and is_daemon(pod)]
        state = _READY if all(is_ready(pod) for pod in operands) else _NOT_READY
        for policy in policies:
            if _state(policy) != state:
                log.info("ClusterPolicy %s is %s", name_of(policy), state)
                status = {"state": state, "namespace": namespace}
                world.api.patch(CLUSTER_POLICIES, policy["metadata"]["name"], {"status": status}, status=True)


class NodeClasses:
    """Does what Karpenter does with an EC2NodeClass, while a Karpenter runs."""

    def __init__(self, karpenter_runs: Callable[[], bool]) -> None:
        """Ask ``karpenter_runs`` when something is to be done."""
        self._karpenter_runs = karpenter_runs

    def step(self, world: World) -> None:
        """Make ready what is new, and let go what is deleted and not needed."""
        due = [each for each in world.of(NODE_CLASSES) if is_going(each) or not is_current(each)]
        if not due or not self._karpenter_runs():
            return
        used = {claim["spec"]["nodeClassRef"]["name"] for claim in world.of(NODE_CLAIMS)}
        for each in due:
            if not is_going(each):
                _make_ready(world, each)
            elif each["metadata"]["name"] not in used:
                _let_go(world, each)


def is_current(node_class: Object) -> bool:
    """Tell whether an EC2NodeClass is ready as it is now, and cannot go unnoticed."""
    conditions = (node_class.get("status") or {}).get("conditions") or ()
    ready = {each["type"] for each in conditions if each["status"] == "True"}
    seen = {each.get("observedGeneration") for each in conditions}
    finalizers = node_class["metadata"].get("finalizers") or ()
    return ready.issuperset(CONDITIONS) and seen == {node_class["metadata"]["generation"]} and FINALIZER in finalizers


def status(node_class: Object, now: str) -> dict[str, Any]:
    """Return the status of an EC2NodeClass that is ready."""
    metadata, spec = node_class["metadata"], node_class["spec"]
    return {
        "instanceProfile": spec.get("instanceProfile") or f"sandbox_{spec.get('role', '')}",
        "conditions": [
            {
                "type": name,
                "status": "True",
                "reason": name,
                "message": "",
                "lastTransitionTime": now,
                "observedGeneration": metadata["generation"],
            }
            for name in CONDITIONS
        ],
    }


def _make_ready(world: World, node_class: Object) -> None:
    name = node_class["metadata"]["name"]
    finalizers = node_class["metadata"].get("finalizers") or []
    if FINALIZER not in finalizers:
        world.api.patch(NODE_CLASSES, name, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})
    log.info("EC2NodeClass %s is ready", name)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    world.api.patch(NODE_CLASSES, name, {"status": status(node_class, now)}, status=True)


def _let_go(world: World, node_class: Object) -> None:
    name = node_class["metadata"]["name"]
    finalizers = node_class["metadata"].get("finalizers") or []
    if FINALIZER in finalizers:
        log.info("EC2NodeClass %s goes: no NodeClaim needs it", name)
        kept = [each for each in finalizers if each != FINALIZER]
        world.api.patch(NODE_CLASSES, name, {"metadata": {"finalizers": kept}})


def _state(policy: Object) -> str:
    return str((policy.get("status") or {}).get("state", ""))
