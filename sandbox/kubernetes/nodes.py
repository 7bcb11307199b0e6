"""Nodes of EKS managed node groups, joining and leaving as kwok's.

Stands in for EC2 instances, their kubelets and the Auto Scaling group behind a node group. Labels, taints, zones and
sizes are those of the real thing, and a GPU appears on a node only when a device plugin runs there (see
`sandbox.kubernetes.node_side`). It does not prove that an instance starts, that user data works, that security groups
let nodes reach the API server, or that EC2 has the capacity; draining heeds no disruption budget.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Container
from itertools import cycle
from typing import TYPE_CHECKING, Final

from eks_gpu.facts import labels
from sandbox.errors import SandboxError
from sandbox.kubernetes import rest
from sandbox.kubernetes.node_groups import (
    CLUSTER_ANNOTATION,
    GROUP_ANNOTATION,
    LAUNCH_ANNOTATION,
    NodeGroupShape,
    Subnet,
    kubernetes_taints,
    new_node,
    of_group,
)
from sandbox.kubernetes.rest import ApiError, Object, Rest

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane

READY_SECONDS: Final = 60.0
"""How long nodes may take to be ready; they take about a second."""

_DRAIN_SECONDS: Final = 20.0
"""How long pods may take to end; kwok ends them at once. EKS waits 15 minutes before it terminates the instance."""

_NOT_READY: Final = "node.kubernetes.io/not-ready"


def apply(plane: ControlPlane, group: NodeGroupShape) -> None:
    """Make the nodes of a group what it says: as many, with its labels and taints; return when they are ready.

    New nodes come before old ones go, as in an update of EKS's with the default strategy.

    Raises:
        SandboxError: the instance type is not known, or the nodes do not become ready.

    """
    api = Rest.of(plane)
    present = _nodes(api, group.cluster, group.name)
    current = [node for node in present if _annotation(node, LAUNCH_ANNOTATION) == group.launch]
    kept, surplus = current[: group.size], current[group.size :]
    for node in kept:
        _relabel(api, node, group)
    where = cycle(group.subnets)
    for _ in kept:
        next(where)
    names = [_join(api, group, next(where)) for _ in range(group.size - len(kept))]
    _wait_ready(api, [*(node["metadata"]["name"] for node in kept), *names], group.name)
    _remove(api, [*surplus, *(node for node in present if node not in current)])


def leave(plane: ControlPlane, cluster: str, group_name: str) -> None:
    """Remove all nodes of a group with the pods on them, as when EKS terminates the instances of a deleted group."""
    api = Rest.of(plane)
    _remove(api, _nodes(api, cluster, group_name))


def is_ready(node: Object) -> bool:
    """Tell whether a node, or a pod, says that it is ready."""
    conditions = node.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _nodes(api: Rest, cluster: str, group_name: str) -> list[Object]:
    nodes: list[Object] = api.list(rest.NODES, labelSelector=f"{labels.EKS_NODE_GROUP}={group_name}")["items"]
    return [node for node in nodes if _annotation(node, CLUSTER_ANNOTATION) == cluster]


def _annotation(node: Object, key: str) -> str:
    return str((node["metadata"].get("annotations") or {}).get(key, ""))


def _join(api: Rest, group: NodeGroupShape, subnet: Subnet) -> str:
    while True:
        try:
            return str(api.create(rest.NODES, new_node(group, subnet))["metadata"]["name"])
        except ApiError as error:
            if error.code != http.client.CONFLICT:
                raise
            # The address is taken: draw another.


def _relabel(api: Rest, existing: Object, group: NodeGroupShape) -> None:
    """Give a node the labels and taints that its group has now; what others put there stays."""
    before = json.loads(_annotation(existing, GROUP_ANNOTATION) or "{}")
    taints = kubernetes_taints(group.taints)
    foreign = [taint for taint in existing["spec"].get("taints", ()) if taint not in before.get("taints", ())]
    gone = dict.fromkeys(set(before.get("labels", ())) - set(group.labels), None)
    changes = {
        "metadata": {
            "labels": {**gone, **group.labels},
            "annotations": {GROUP_ANNOTATION: of_group(group)},
        },
        "spec": {"taints": [*(taint for taint in foreign if taint not in taints), *taints]},
    }
    api.patch(rest.NODES, existing["metadata"]["name"], changes)


def _wait_ready(api: Rest, names: list[str], group_name: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    waiting = set(names)
    while waiting:
        waiting = {name for name in waiting if not _takes_pods(api.get(rest.NODES, name) or {})}
        if waiting and time.monotonic() > deadline:
            late = ", ".join(sorted(waiting))
            raise SandboxError(
                f"nodes of {group_name} are not ready after {READY_SECONDS:.0f} seconds: {late}; "
                "see kwok.log and kube-controller-manager.log in the sandbox's log folder"
            )
        if waiting:
            time.sleep(0.1)


def _takes_pods(node: Object) -> bool:
    """Tell whether a node is ready, and the taint is gone that keeps pods off until it is."""
    taints = node.get("spec", {}).get("taints", ())
    return is_ready(node) and all(taint["key"] != _NOT_READY for taint in taints)


def _remove(api: Rest, nodes: list[Object]) -> None:
    """Let nodes go: nothing new is put on them, what runs there is deleted, then they and their agents' pods are."""
    names = {node["metadata"]["name"] for node in nodes}
    if not names:
        return
    for name in names:
        api.patch(rest.NODES, name, {"spec": {"unschedulable": True}})
    moving = [pod for pod in pods_on(api, names) if not _is_daemon(pod)]
    for pod in moving:
        delete_pod(api, pod)
    deadline = time.monotonic() + _DRAIN_SECONDS
    while any(not _is_daemon(pod) for pod in pods_on(api, names)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for name in names:
        api.delete(rest.NODES, name)
    # Nobody is left to end them: the controller manager would take a minute to find that out.
    for pod in pods_on(api, names):
        delete_pod(api, pod, by_force=True)


def pods_on(api: Rest, names: Container[str]) -> list[Object]:
    """Return the pods on nodes."""
    return [pod for pod in api.list(rest.PODS)["items"] if pod["spec"].get("nodeName") in names]


def delete_pod(api: Rest, pod: Object, *, by_force: bool = False) -> None:
    """Delete a pod; by force if no kubelet is there to end it."""
    metadata = pod["metadata"]
    query = {"gracePeriodSeconds": "0"} if by_force else {}
    api.delete(rest.PODS, metadata["name"], metadata["namespace"], **query)


def _is_daemon(pod: Object) -> bool:
    return any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", ()))
