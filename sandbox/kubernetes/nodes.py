"""Nodes of EKS managed node groups, joining and leaving as kwok's.

Stands in for EC2 instances, their kubelets and the Auto Scaling group behind a node group. Labels, taints, zones and
sizes are those of the real thing, and a GPU appears on a node only when a device plugin runs there (see
`sandbox.kubernetes.node_side`). It does not prove that an instance starts, that user data works, that security groups
let nodes reach the API server, or that EC2 has the capacity; draining heeds no disruption budget.
"""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import json
import secrets
import time
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Final

from eks_gpu.facts import ami, labels, resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Effect
from sandbox.errors import SandboxError
from sandbox.kubernetes import instance_types, rest, stages
from sandbox.kubernetes.instance_types import ROOT_VOLUME_GIB
from sandbox.kubernetes.rest import ApiError, Object, Rest

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane

READY_SECONDS: Final = 60.0
"""How long nodes may take to be ready; they take about a second."""

_DRAIN_SECONDS: Final = 20.0
"""How long pods may take to end; kwok ends them at once. EKS waits 15 minutes before it terminates the instance."""

CLUSTER_ANNOTATION: Final = "eks-gpu-sandbox/cluster"
AMI_ANNOTATION: Final = "eks-gpu-sandbox/ami-type"
"""The image of a node, which decides whether it has a driver for its GPUs."""
ZONES_ANNOTATION: Final = "eks-gpu-sandbox/zones"
"""All the zones that the group of a node can be in: those that its cluster's subnets are in."""
LAUNCH_ANNOTATION: Final = "eks-gpu-sandbox/launch"
"""What a node was started from: nodes that were started from something else are replaced."""
GROUP_ANNOTATION: Final = "eks-gpu-sandbox/of-group"
"""Which labels and taints a node has of its group."""

_NOT_READY: Final = "node.kubernetes.io/not-ready"

_MANY_PODS_VCPU: Final = 30
_FEW_PODS, _MANY_PODS = 110, 250
"""EKS gives nodes of managed groups no more, whatever their addresses (EKS user guide, "choosing an instance type")."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """Where instances can be."""

    zone: str
    cidr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupShape:
    """A managed node group, as far as its nodes show it."""

    cluster: str
    name: str
    region: str
    subnets: tuple[Subnet, ...]
    """The instances are spread over them."""
    instance_types: tuple[str, ...]
    """The first is taken; EC2 would take the first that it has."""
    size: int
    ami_type: str = "AL2023_x86_64_STANDARD"
    capacity_type: str = "ON_DEMAND"
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...] = ()
    """In the spelling of the EKS API."""
    volume_gib: int = ROOT_VOLUME_GIB
    kubelet_version: str = ""
    launched_from: str = ""
    """Launch template and release, as one text: another one replaces the nodes."""

    @property
    def launch(self) -> str:
        """A short name of all that a change of replaces the nodes."""
        text = repr((self.instance_types, self.ami_type, self.capacity_type, self.launched_from, self.volume_gib))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


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


def node(group: NodeGroupShape, subnet: Subnet) -> Object:
    """Return a new node of a group: what its kubelet and EKS write of it when it joins."""
    instance = instance_types.known(group.instance_types[0])
    address = _address(subnet.cidr)
    name = f"ip-{address.replace('.', '-')}.{_domain(group.region)}"
    capacity, allocatable = _resources(instance, group.volume_gib)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**_labels(group, instance, subnet.zone), labels.HOSTNAME: name},
            "annotations": {
                stages.MANAGED_ANNOTATION: stages.MANAGED,
                CLUSTER_ANNOTATION: group.cluster,
                AMI_ANNOTATION: group.ami_type,
                ZONES_ANNOTATION: ",".join(sorted({each.zone for each in group.subnets})),
                LAUNCH_ANNOTATION: group.launch,
                GROUP_ANNOTATION: _of_group(group),
            },
        },
        "spec": {
            "providerID": f"aws:///{subnet.zone}/i-{secrets.token_hex(8)}0",
            "taints": _taints(group.taints),
        },
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "nodeInfo": _node_info(group, instance),
        },
    }


def is_ready(node: Object) -> bool:
    """Tell whether a node, or a pod, says that it is ready."""
    conditions = node.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _labels(group: NodeGroupShape, instance: InstanceType, zone: str) -> dict[str, str]:
    return {
        labels.INSTANCE_TYPE: instance.name,
        labels.ARCH: instance.arch,
        labels.OS: "linux",
        labels.REGION: group.region,
        labels.ZONE: zone,
        labels.EKS_NODE_GROUP: group.name,
        labels.EKS_CAPACITY_TYPE: group.capacity_type,
        **group.labels,
    }


def _resources(instance: InstanceType, volume_gib: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return capacity and allocatable, without what device plugins add."""
    pods = min(instance.max_pods, _MANY_PODS if instance.vcpu >= _MANY_PODS_VCPU else _FEW_PODS)
    capacity = {
        resources.CPU: str(instance.vcpu),
        resources.MEMORY: f"{instance.memory_mib}Mi",
        resources.PODS: str(pods),
        resources.EPHEMERAL_STORAGE: f"{volume_gib}Gi",
    }
    allocatable = {
        resources.CPU: f"{instance.allocatable_cpu_millicores}m",
        resources.MEMORY: f"{instance.allocatable_memory_mib}Mi",
        resources.PODS: str(pods),
        resources.EPHEMERAL_STORAGE: instance_types.allocatable_storage(volume_gib),
    }
    return capacity, allocatable


def _node_info(group: NodeGroupShape, instance: InstanceType) -> dict[str, str]:
    known = ami.AMI_TYPES.get(group.ami_type)
    return {
        "architecture": instance.arch,
        "operatingSystem": "linux",
        "kubeletVersion": f"v{group.kubelet_version or '0.0.0'}-eks-sandbox",
        "osImage": f"{known.family.value if known else group.ami_type} (pretended)",
        **dict.fromkeys(("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "systemUUID"), ""),
        "containerRuntimeVersion": "",
    }


def _taints(taints: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return taints of the EKS API in Kubernetes' spelling."""
    effects = {effect.eks: effect.value for effect in Effect}
    return [
        {
            "key": taint["key"],
            **({"value": taint["value"]} if taint.get("value") else {}),
            "effect": effects[taint["effect"]],
        }
        for taint in taints
    ]


def _address(cidr: str) -> str:
    """Return an address of the subnet that is (nearly for certain) nobody else's; its first four are AWS's own."""
    network = ipaddress.ip_network(cidr)
    return str(network[4 + secrets.randbelow(network.num_addresses - 5)])


def _domain(region: str) -> str:
    return "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"


def _nodes(api: Rest, cluster: str, group_name: str) -> list[Object]:
    nodes: list[Object] = api.list(rest.NODES, labelSelector=f"{labels.EKS_NODE_GROUP}={group_name}")["items"]
    return [node for node in nodes if _annotation(node, CLUSTER_ANNOTATION) == cluster]


def _annotation(node: Object, key: str) -> str:
    return str((node["metadata"].get("annotations") or {}).get(key, ""))


def _join(api: Rest, group: NodeGroupShape, subnet: Subnet) -> str:
    while True:
        try:
            return str(api.create(rest.NODES, node(group, subnet))["metadata"]["name"])
        except ApiError as error:
            if error.code != http.client.CONFLICT:
                raise
            # The address is taken: draw another.


def _relabel(api: Rest, existing: Object, group: NodeGroupShape) -> None:
    """Give a node the labels and taints that its group has now; what others put there stays."""
    before = json.loads(_annotation(existing, GROUP_ANNOTATION) or "{}")
    taints = _taints(group.taints)
    foreign = [taint for taint in existing["spec"].get("taints", ()) if taint not in before.get("taints", ())]
    gone = dict.fromkeys(set(before.get("labels", ())) - set(group.labels), None)
    changes = {
        "metadata": {
            "labels": {**gone, **group.labels},
            "annotations": {GROUP_ANNOTATION: _of_group(group)},
        },
        "spec": {"taints": [*(taint for taint in foreign if taint not in taints), *taints]},
    }
    api.patch(rest.NODES, existing["metadata"]["name"], changes)


def _of_group(group: NodeGroupShape) -> str:
    """Return what a node has of its group, to be told from what others gave it."""
    return json.dumps({"labels": sorted(group.labels), "taints": _taints(group.taints)})


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
