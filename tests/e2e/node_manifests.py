"""Manifests of what the tests of the node side put into a cluster, each as small as it can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eks_gpu.facts import labels, resources, storage, taints, versions
from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet

NAMESPACE = "default"
SUBNETS = (Subnet("us-east-1a", "10.40.0.0/20"), Subnet("us-east-1b", "10.40.16.0/20"))

Manifest = dict[str, Any]


def group(name: str = "system", **changes: Any) -> NodeGroupShape:  # noqa: ANN401 - the fields of a shape
    """Return a group of two CPU nodes, or what ``changes`` make of it."""
    fields: dict[str, Any] = {
        "cluster": "e2e",
        "name": name,
        "region": "us-east-1",
        "subnets": SUBNETS,
        "instance_types": ("m7i.large",),
        "size": 2,
        "labels": {labels.WORKLOAD: labels.WORKLOAD_SYSTEM},
    }
    return NodeGroupShape(**{**fields, **changes})


def gpu_group(**changes: Any) -> NodeGroupShape:  # noqa: ANN401 - the fields of a shape
    """Return a group of one node with four GPUs."""
    fields: dict[str, Any] = {
        "instance_types": ("g5.12xlarge",),
        "size": 1,
        "ami_type": "AL2023_x86_64_NVIDIA",
        "labels": labels.pool_labels("a10g", "inference"),
        "taints": (taints.GPU.eks(),),
    }
    return group("gpus", **{**fields, **changes})


def pod(name: str, *, gpus: int = 0, **spec: Any) -> Manifest:  # noqa: ANN401 - fields of a pod's spec
    """Return a pod that does nothing."""
    limits = {"limits": {resources.GPU: str(gpus)}} if gpus else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "main", "image": "none", "resources": limits}], **spec},
    }


def workload(
    kind: str, name: str, labelled: Mapping[str, str], spec: Mapping[str, Any] | None = None, **metadata: object
) -> Manifest:
    """Return a Deployment or DaemonSet whose pods carry ``labelled`` and ``metadata``."""
    container = {"name": "main", "image": "none"}
    template = {
        "metadata": {"labels": dict(labelled), **metadata},
        "spec": {"containers": [container], **(spec or {})},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": dict(labelled)}, "template": template},
    }


def device_plugin(sharing: str = "sharing") -> Manifest:
    """Return the device plugin's DaemonSet, which mounts a ConfigMap of configurations."""
    spec = {
        "nodeSelector": {labels.GPU_PRESENT: "true"},
        "tolerations": [taints.TOLERATE_EVERYTHING],
        "volumes": [{"name": "available-configs", "configMap": {"name": sharing}}],
        "containers": [{"name": "main", "image": "none", "env": [{"name": "DEFAULT_CONFIG", "value": "default"}]}],
    }
    return workload("DaemonSet", "nvidia-device-plugin", {labels.APP_NAME: versions.NVIDIA_DEVICE_PLUGIN.name}, spec)


def sharing_config(**files: str) -> Manifest:
    """Return the ConfigMap that it mounts."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "sharing", "namespace": NAMESPACE},
        "data": {"default": "version: v1\n", **files},
    }


def karpenter(replicas: int = 2) -> Manifest:
    """Return Karpenter's Deployment, in whose place the node side runs the process."""
    manifest = workload("Deployment", "karpenter", {labels.APP_NAME: versions.KARPENTER.name})
    manifest["spec"]["replicas"] = replicas
    return manifest


def job(name: str, **metadata: object) -> Manifest:
    """Return a Job that may not fail once."""
    template = {
        "metadata": metadata,
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"backoffLimit": 0, "template": template},
    }


def storage_class(name: str, driver: str, **fields: object) -> Manifest:
    """Return a StorageClass."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": driver,
        **({"parameters": {"fileSystemId": "fs-1"}} if driver == storage.EFS_DRIVER else {}),
        **fields,
    }


def claim(name: str, class_: str, mode: str) -> Manifest:
    """Return a claim on 10 GiB."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "storageClassName": class_,
            "accessModes": [mode],
            "resources": {"requests": {"storage": "10Gi"}},
        },
    }


def node_class(name: str) -> Manifest:
    """Return an EC2NodeClass."""
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@v20260724"}],
            "role": "nodes",
            "subnetSelectorTerms": [{"id": "subnet-0123"}],
            "securityGroupSelectorTerms": [{"id": "sg-0123"}],
        },
    }


def node_pool(name: str, class_: str) -> Manifest:
    """Return a NodePool of g5 instances, of which idle ones go soon."""
    requirements = [
        {"key": labels.CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]},
        {"key": labels.INSTANCE_FAMILY, "operator": "In", "values": ["g5"]},
    ]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "limits": {resources.GPU: "8"},
            "template": {
                "metadata": {"labels": labels.pool_labels("a10g", "inference")},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": class_},
                    "taints": [taints.GPU.kubernetes()],
                    "requirements": requirements,
                },
            },
        },
    }
