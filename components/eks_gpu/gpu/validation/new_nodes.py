"""Manifests for the proof of new nodes: the pods that run the checks there, and the gate that acts on the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eks_gpu.facts import images, labels, namespaces, resources, taints
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.visible_devices import VISIBLE_DEVICES
from eks_gpu.gpu.sharing import NamedFiles
from eks_gpu.gpu.validation import checks
from eks_gpu.gpu.validation.checks import Check
from eks_gpu.gpu.validation.manifest import check_container, pod_volumes, restricted
from eks_gpu.settings.validation import Validation

Part = dict[str, Any]

CHECKING: Final = "gpu-node-validation"
"""Label of the pods that run the checks."""

GATE: Final = "gpu-node-gate"
"""Name and label of the program that opens nodes."""

_LEVEL: Final = 1
_PROGRAM: Final = Path(__file__).with_name("node_gate_program.py")
_FOLDER: Final = "/gate"
_ALIVE: Final = "/tmp/alive"  # noqa: S108 - a volume of the pod
_CRITICAL: Final = "system-cluster-critical"
"""Without the gate no new node is ever used."""

_EVERY_GPU: Final = {VISIBLE_DEVICES: "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
"""To a privileged container the toolkit shows them all. Asking for them instead would not do: Karpenter takes what the
pods of a DaemonSet ask for off every node that it thinks of, and would see none with a free GPU."""


def gate_files() -> NamedFiles:
    """Return the gate's program as a ConfigMap holds it."""
    return NamedFiles(stem=GATE, files={_PROGRAM.name: _PROGRAM.read_text(encoding="utf-8")})


def new_node_checks(kind: InstanceType, validation: Validation) -> tuple[Check, ...]:
    """Return what a new node is asked: what takes a minute or two. DCGM's level is 1, and nothing huge is pulled."""
    found = [
        checks.device_count(kind.gpu_count, checks.WHOLE_GPU),
        checks.vector_add(shared=False),
        checks.diagnostic(_LEVEL),
    ]
    if validation.bandwidth:
        found.append(checks.host_bandwidth(kind))
    return tuple(found)


def daemon_set_spec(
    pool: str, kind: InstanceType, found: Sequence[Check], *, scripts: str, runtime_class_name: str | None
) -> Part:
    """Return the spec of the DaemonSet for the nodes of a Karpenter pool that have as many GPUs as ``kind``.

    Its pods leave a node when it is opened, because it has the label of a proven one then.
    """
    matched = {labels.APP_NAME: CHECKING, labels.APP_INSTANCE: f"{pool}-{kind.gpu_count}"}
    spec: Part = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 1,
        "affinity": _closed_nodes(pool, kind),
        "tolerations": [taints.TOLERATE_EVERYTHING],
        "initContainers": [_on_every_gpu(check) for check in found],
        "containers": [_rest()],
        "volumes": pod_volumes(scripts),
    }
    if runtime_class_name is not None:
        spec["runtimeClassName"] = runtime_class_name
    return {
        "selector": {"matchLabels": matched},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {"metadata": {"labels": matched}, "spec": spec},
    }


def _closed_nodes(pool: str, kind: InstanceType) -> Part:
    expressions = [
        {"key": labels.KARPENTER_NODEPOOL, "operator": "In", "values": [pool]},
        {"key": labels.INSTANCE_GPU_COUNT, "operator": "In", "values": [str(kind.gpu_count)]},
        {"key": labels.VALIDATED, "operator": "DoesNotExist"},
    ]
    terms = [{"matchExpressions": expressions}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _on_every_gpu(check: Check) -> Part:
    """Return a check that sees all GPUs of the node. It asks for next to nothing, since the node is still empty."""
    container = check_container(check)
    container["env"] += [{"name": key, "value": value} for key, value in _EVERY_GPU.items()]
    container["securityContext"] = {"privileged": True, "runAsUser": 0}
    container["resources"] = {
        "requests": {resources.CPU: "10m", resources.MEMORY: "64Mi"},
        "limits": {resources.MEMORY: f"{check.memory_gib}Gi"},
    }
    return container


def _rest() -> Part:
    """Return the container that does nothing: that it runs says that every check has passed."""
    return {
        "name": "passed",
        "image": images.CUDA_SAMPLE.reference,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", "echo all checks: PASS; exec sleep infinity"],
        "env": [{"name": VISIBLE_DEVICES, "value": "void"}],
        "resources": {
            "requests": {resources.CPU: "10m", resources.MEMORY: "16Mi"},
            "limits": {resources.MEMORY: "64Mi"},
        },
        "securityContext": restricted(),
    }


def deployment_spec(validation: Validation, *, program: str, account: str) -> Part:
    """Return the spec of the Deployment of the gate, whose program is in the ConfigMap ``program``.

    It tolerates no taint, so that it is on none of the nodes it decides about.
    """
    matched = {labels.APP_NAME: GATE}
    return {
        "replicas": 1,
        # Two at once would each count what they gave back.
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": matched},
        "template": {
            "metadata": {"labels": matched},
            "spec": {
                "serviceAccountName": account,
                "enableServiceLinks": False,
                "priorityClassName": _CRITICAL,
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [_gate_container(validation)],
                "volumes": [
                    {"name": "gate", "configMap": {"name": program}},
                    {"name": "scratch", "emptyDir": {"sizeLimit": "16Mi"}},
                ],
            },
        },
    }


def _gate_container(validation: Validation) -> Part:
    told = {
        "API_SERVER": "https://kubernetes.default.svc",
        "ALIVE": _ALIVE,
        "TAINT": taints.NOT_VALIDATED.key,
        "VALIDATED": labels.VALIDATED,
        "POOL_LABEL": labels.KARPENTER_NODEPOOL,
        "NAMESPACE": namespaces.NODE_VALIDATION,
        "PODS": f"{labels.APP_NAME}={CHECKING}",
        "LIMIT_MINUTES": str(validation.new_node_minutes),
        "MOST_REPLACEMENTS": str(validation.most_replacements_per_hour),
    }
    return {
        "name": "gate",
        "image": images.PYTHON.reference,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python", f"{_FOLDER}/{_PROGRAM.name}"],
        "env": [{"name": key, "value": value} for key, value in told.items()],
        "resources": {
            "requests": {resources.CPU: "10m", resources.MEMORY: "64Mi"},
            "limits": {resources.MEMORY: "128Mi"},
        },
        "securityContext": restricted(),
        "livenessProbe": {
            "exec": {"command": ["sh", "-c", f'test -n "$(find {_ALIVE} -mmin -3)"']},
            "initialDelaySeconds": 60,
            "periodSeconds": 60,
            "timeoutSeconds": 10,
        },
        "volumeMounts": [
            {"name": "gate", "mountPath": _FOLDER, "readOnly": True},
            {"name": "scratch", "mountPath": "/tmp"},  # noqa: S108 - a volume of the pod
        ],
    }


def cluster_rules() -> list[Part]:
    """Return what the gate may do in the whole cluster: take a taint off, and give a node back.

    Rights to nodes cannot be narrowed to a field or a label; it asks for no more than the one verb.
    """
    return [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]},
        {"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims"], "verbs": ["delete"]},
    ]


def namespace_rules() -> list[Part]:
    """Return what it may do in the namespace of the checks: see how they fare."""
    return [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
