"""Nodes of EKS managed node groups, as Kubernetes is told of them when they join.

Labels, taints, zones and sizes are those of the real thing; the rest is made up. See `sandbox.kubernetes.nodes` for
what they do not prove.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import ami, labels, resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Effect
from sandbox.kubernetes import instance_types, stages
from sandbox.kubernetes.instance_types import ROOT_VOLUME_GIB
from sandbox.kubernetes.rest import Object

CLUSTER_ANNOTATION: Final = "eks-gpu-sandbox/cluster"
AMI_ANNOTATION: Final = "eks-gpu-sandbox/ami-type"
"""The image of a node, which decides whether it has a driver for its GPUs."""
ZONES_ANNOTATION: Final = "eks-gpu-sandbox/zones"
"""All the zones that the group of a node can be in: those that its cluster's subnets are in."""
LAUNCH_ANNOTATION: Final = "eks-gpu-sandbox/launch"
"""What a node was started from: nodes that were started from something else are replaced."""
GROUP_ANNOTATION: Final = "eks-gpu-sandbox/of-group"
"""Which labels and taints a node has of its group."""

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


def new_node(group: NodeGroupShape, subnet: Subnet) -> Object:
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
                GROUP_ANNOTATION: of_group(group),
            },
        },
        "spec": {
            "providerID": f"aws:///{subnet.zone}/i-{secrets.token_hex(8)}0",
            "taints": kubernetes_taints(group.taints),
        },
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "nodeInfo": _node_info(group, instance),
        },
    }


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


def kubernetes_taints(taints: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
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


def of_group(group: NodeGroupShape) -> str:
    """Return what a node has of its group, to be told from what others gave it."""
    return json.dumps({"labels": sorted(group.labels), "taints": kubernetes_taints(group.taints)})
