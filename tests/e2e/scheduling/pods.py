"""Pods and what they mount, as manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from eks_gpu.facts import labels, resources, taints, versions
from eks_gpu.gpu.device_plugin import chart_values
from tests.e2e.scheduling.emitted import Manifest

GPU_TOLERATION: Final = taints.GPU.toleration()
"""What a pod of a careful author carries, although EKS adds it for whole GPUs."""

IMAGE: Final = "registry.example/any:1"
"""Nothing runs, so nothing is pulled."""


def pod(  # noqa: PLR0913 - what a pod can say; all but the name keyword-only
    name: str,
    *,
    asks: Mapping[str, str] | None = None,
    cpu: str = "1",
    memory: str = "1Gi",
    tolerations: Sequence[Mapping[str, str]] = (),
    annotations: Mapping[str, str] | None = None,
    labelled: Mapping[str, str] | None = None,
    **spec: object,
) -> Manifest:
    """Return a pod; ``asks`` are extended resources, ``spec`` is whatever else stands in its spec."""
    extended = dict(asks or {})
    requests = {resources.CPU: cpu, resources.MEMORY: memory, **extended}
    container = {"name": "main", "image": IMAGE, "resources": {"requests": requests, "limits": extended}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": dict(labelled or {}), "annotations": dict(annotations or {})},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            "tolerations": [dict(each) for each in tolerations],
            **spec,
        },
    }


def gpu_pod(name: str, gpus: int = 1, **spec: Any) -> Manifest:  # noqa: ANN401 - those of pod()
    """Return a pod that asks for whole GPUs and says nothing of taints: EKS lets it past that of GPU nodes."""
    return pod(name, asks={resources.GPU: str(gpus)}, **spec)


def required(*terms: Sequence[Manifest]) -> Manifest:
    """Return a required node affinity: one of the terms must hold, each a list of :func:`where`."""
    found = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": found}}


def where(key: str, operator: str, *values: str) -> Manifest:
    """Return one condition on a label of the node."""
    return {"key": key, "operator": operator, "values": list(values)} if values else {"key": key, "operator": operator}


def alone(group: str) -> Manifest:
    """Return the affinity of pods that share a node with none of their group; their label is :func:`member`."""
    term = {"topologyKey": labels.HOSTNAME, "labelSelector": {"matchLabels": member(group)}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def member(group: str) -> dict[str, str]:
    """Return the label of a group."""
    return {labels.APP_INSTANCE: group}


def mounted(claim: str) -> list[Manifest]:
    """Return the volumes of a pod that mounts a claim."""
    return [{"name": claim, "persistentVolumeClaim": {"claimName": claim}}]


def claim(name: str, namespace: str, *, driver: str, zone: str | None = None) -> list[Manifest]:
    """Return a volume and a claim that are bound to each other; an EBS volume is in one zone, a file system in all."""
    once = {"accessModes": ["ReadWriteOnce" if zone else "ReadWriteMany"], "storageClassName": ""}
    place = (
        {"required": {"nodeSelectorTerms": [{"matchExpressions": [where(labels.ZONE, "In", zone)]}]}} if zone else None
    )
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            **once,
            "capacity": {"storage": "100Gi"},
            "claimRef": {"name": name, "namespace": namespace},
            "csi": {"driver": driver, "volumeHandle": name},
            **({"nodeAffinity": place} if place else {}),
        },
    }
    wanted = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {**once, "volumeName": name, "resources": {"requests": {"storage": "100Gi"}}},
    }
    return [volume, wanted]


def deployment(name: str, replicas: int, of: Manifest) -> Manifest:
    """Return a Deployment of so many pods like ``of``, which come again when they are evicted."""
    its = member(name)
    metadata = {**of["metadata"], "labels": {**of["metadata"]["labels"], **its}}
    metadata.pop("name")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": its},
            "template": {"metadata": metadata, "spec": of["spec"]},
        },
    }


def daemon_set(name: str, *, cpu: str = "10m", **spec: object) -> Manifest:
    """Return a DaemonSet; ``spec`` is what stands in its pods' spec, such as tolerations."""
    its = {labels.APP_NAME: name}
    resources_ = {"requests": {resources.CPU: cpu, resources.MEMORY: "0"}}
    template = {"containers": [{"name": "main", "image": IMAGE, "resources": resources_}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": its}, "template": {"metadata": {"labels": its}, "spec": template}},
    }


def device_plugin() -> Manifest:
    """Return NVIDIA's device plugin with the affinity and the tolerations of our values for its chart.

    The node side of the sandbox makes the GPUs of a node known when a pod of it is ready there. It asks for nothing, so
    that cases about room are about the pods in them.
    """
    values = chart_values("sharing")
    placed = {key: values[key] for key in ("affinity", "tolerations")}
    return daemon_set(versions.NVIDIA_DEVICE_PLUGIN.name, cpu="0", **placed)
