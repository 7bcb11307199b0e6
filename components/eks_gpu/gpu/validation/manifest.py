"""The manifest of a Job that validates: what Kubernetes is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from eks_gpu.facts import labels, resources
from eks_gpu.facts.taints import Taint
from eks_gpu.gpu.validation.checks import FOLDER, Check
from eks_gpu.gpu.validation.proof import Proof

Part = dict[str, Any]

APP: Final = "gpu-validation"
"""Label of every pod that validates."""

_DIGITS: Final = 10
_NOBODY: Final = 65534
_SCRIPTS: Final = "checks"
_SHARED_MEMORY: Final = "shared-memory"
_SCRATCH: Final = "scratch"
_FIRST: Final = "0"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the pods of a Job run."""

    namespace: str
    selector: Mapping[str, pulumi.Input[str]]
    """Labels of the nodes to prove."""
    taints: Sequence[Taint]
    """What keeps other pods off them."""
    runtime_class_name: str | None
    """RuntimeClass of GPU pods; ``None`` where they name none."""
    scripts: str
    """Name of the ConfigMap with the scripts."""


def job_name(pool: str, proof: Proof, proves: Sequence[str], scripts: str) -> str:
    """Return the name of the pool's Job: another one whenever there is something new to prove.

    ``proves`` says on what hardware, with what software and image, in what time. The number of nodes is left out: a
    group that grows has proven its other nodes, and they are at work.
    """
    checks = [[each.name, each.image.reference, each.script, dict(each.variables)] for each in proof.checks]
    text = json.dumps([proof.resources, proof.pods_on_a_node, checks, list(proves), scripts], sort_keys=True)
    return f"{pool}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def job_spec(name: str, proof: Proof, place: Place, timeout_minutes: int) -> Part:
    """Return the spec of the Job called ``name``: every pod at once, and none of them a second time.

    Only what is no fault of the GPU is tried again: a pod that is evicted, or whose spot instance is taken back.
    """
    return {
        "completionMode": "Indexed",
        "completions": proof.pods,
        "parallelism": proof.pods,
        "backoffLimit": 0,
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
        "activeDeadlineSeconds": timeout_minutes * 60,
        "template": {
            "metadata": {
                "labels": {labels.APP_NAME: APP},
                "annotations": {labels.DO_NOT_DISRUPT: "true"},
            },
            "spec": pod_spec(name, proof, place),
        },
    }


def pod_spec(name: str, proof: Proof, place: Place) -> Part:
    """Return the spec of a pod that runs the checks one after the other; the first that fails ends it."""
    containers = [_container_of_job(check, name, proof) for check in proof.checks]
    spec: Part = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": dict(place.selector),
        "tolerations": [taint.toleration() for taint in place.taints],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "initContainers": containers[:-1],
        "containers": containers[-1:],
        "volumes": pod_volumes(place.scripts),
    }
    if place.runtime_class_name is not None:
        spec["runtimeClassName"] = place.runtime_class_name
    if proof.whole_nodes:
        spec["affinity"] = _one_on_a_node(name)
    if proof.meets:
        spec["subdomain"] = name
    return spec


def meeting_service_spec(name: str) -> Part:
    """Return the spec of the Service by which the pods of the Job called ``name`` find its first one.

    They look for each other before they are ready, which a pod is only when its last container runs.
    """
    return {"clusterIP": "None", "selector": {labels.JOB_NAME: name}, "publishNotReadyAddresses": True}


def _one_on_a_node(name: str) -> Part:
    apart = {"labelSelector": {"matchLabels": {labels.JOB_NAME: name}}, "topologyKey": labels.HOSTNAME}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}


def pod_volumes(scripts: str) -> list[Part]:
    """Return the volumes of a pod with checks; ``scripts`` names the ConfigMap with their scripts."""
    return [
        {"name": _SCRIPTS, "configMap": {"name": scripts}},
        {"name": _SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"name": _SCRATCH, "emptyDir": {"sizeLimit": "2Gi"}},
    ]


def check_container(check: Check) -> Part:
    """Return the container of a check. What it says last is what its failure shows."""
    return {
        "name": check.name,
        "image": check.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", f"{FOLDER}/{check.script}"],
        "env": _environment(check),
        "securityContext": _security(check),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": _mounts(check),
    }


def _mounts(check: Check) -> list[Part]:
    mounts: list[Part] = [
        {"name": _SCRIPTS, "mountPath": FOLDER, "readOnly": True},
        {"name": _SCRATCH, "mountPath": "/tmp"},  # noqa: S108 - a volume of the pod
    ]
    if check.shared_memory:
        mounts.append({"name": _SHARED_MEMORY, "mountPath": "/dev/shm"})  # noqa: S108 - the container's own
    return mounts


def _environment(check: Check) -> list[Part]:
    told = {"HOME": "/tmp", **check.variables}  # noqa: S108 - a volume of the pod
    return [{"name": key, "value": value} for key, value in told.items()]


def _container_of_job(check: Check, job: str, proof: Proof) -> Part:
    container = {**check_container(check), "resources": _resources(check, proof)}
    if check.meets:
        container["env"] += [
            {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": labels.JOB_INDEX_FIELD}}},
            {"name": "MEETING", "value": f"{job}-{_FIRST}.{job}"},
        ]
    return container


def _resources(check: Check, proof: Proof) -> Part:
    """Return whole devices and the memory of the check, or, where GPUs are shared, of which there are many, little."""
    memory = f"{check.memory_gib}Gi" if proof.whole_nodes else "1Gi"
    devices = {name: str(count) for name, count in proof.resources}
    asked = {resources.CPU: "500m" if proof.whole_nodes else "100m", resources.MEMORY: memory, **devices}
    return {"requests": asked, "limits": dict(asked)}


def _security(check: Check) -> Part:
    """Return the security context. Where root is needed it has no privilege and cannot get any.

    What it does keep are containerd's default capabilities, which DCGM's engine needs to change its working files.
    """
    if check.root:
        return {"allowPrivilegeEscalation": False, "runAsUser": 0}
    return restricted()


def restricted() -> Part:
    """Return the security context of a container that needs nothing."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "runAsUser": _NOBODY,
        "runAsGroup": _NOBODY,
    }
