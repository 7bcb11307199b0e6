"""Parts that every GPU pod is made of, as plain data in Kubernetes' spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from eks_gpu.facts import labels, resources, taints
from eks_gpu.facts.servers import Endpoints
from eks_gpu.planning.start_up import StartUpProbe
from eks_gpu.storage.model_cache import USER_ID, CacheClaim

Part = dict[str, Any]
"""A fragment of a manifest."""

SERVING_POOLS: Final = ("inference", "development")
"""Values of the ``workload`` label of pools that servers may run on: never those of training, whose nodes are dear."""

CACHE_PATH: Final = "/models"
"""Where a model server sees the cache."""

SCRATCH_PATH: Final = "/tmp"  # noqa: S108 - inside the container, a volume of its own
"""The only other place where a server may write; its root file system is read-only."""

HTTP: Final = "http"
"""Name of the port that serves."""

_SHARED_MEMORY: Final = "shared-memory"
_SCRATCH: Final = "scratch"
_CACHE: Final = "model-cache"
_SCRATCH_LIMIT: Final = "20Gi"
_FIRST_WEIGHT: Final = 100
_WEIGHT_STEP: Final = 10


@dataclass(frozen=True, kw_only=True)
class Volumes:
    """Volumes of a pod, and where its container mounts them."""

    volumes: Sequence[Part]
    mounts: Sequence[Part]


def gpu_resources(gpu_resource: str, gpus: int, *, cpu: float, memory_gib: int) -> Part:
    """Return requests and limits of a container: whole GPUs, and as much memory as it may use.

    GPUs and memory are requested as they are limited. CPU has no limit: throttling a server starves its GPU.
    """
    fixed = {gpu_resource: str(gpus), resources.MEMORY: f"{memory_gib}Gi"}
    return {"requests": {resources.CPU: f"{round(cpu * 1000)}m", **fixed}, "limits": fixed}


def tolerations(gpu_types: Sequence[str]) -> list[Part]:
    """Return consent to the taint of GPU pools, and to those of pools dedicated to a model that the pod asks for."""
    return [taints.GPU.toleration(), *(taints.dedicated(gpu_type).toleration() for gpu_type in gpu_types)]


def node_affinity(gpu_types: Sequence[str], pools: Sequence[str] = SERVING_POOLS) -> Part:
    """Return the affinity to nodes of these GPU models, the first preferred over the second and so on.

    ``pools`` are the values of the ``workload`` label that will do. All labels are on the pools' templates, so that
    Karpenter buys a node for a pod that none has room for.
    """
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [_one_of(labels.GPU_TYPE, *gpu_types), _one_of(labels.WORKLOAD, *pools)]}
                ]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": max(1, _FIRST_WEIGHT - place * _WEIGHT_STEP),
                    "preference": {"matchExpressions": [_one_of(labels.GPU_TYPE, gpu_type)]},
                }
                for place, gpu_type in enumerate(gpu_types)
            ],
        }
    }


def spread_over_zones(selector: Mapping[str, str]) -> list[Part]:
    """Return the wish to be in as many zones as possible. A wish only: GPUs are where they are."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": labels.ZONE,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(selector)},
        }
    ]


def server_volumes(cache: CacheClaim, *, shared_memory_gib: int, cache_read_only: bool) -> Volumes:
    """Return the volumes of a model server: shared memory, scratch space and the model cache.

    ``/dev/shm`` is kept in memory and counts against the container's limit, so the caller makes it smaller than that.
    """
    return Volumes(
        volumes=[
            {"name": _SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": f"{shared_memory_gib}Gi"}},
            {"name": _SCRATCH, "emptyDir": {"sizeLimit": _SCRATCH_LIMIT}},
            {
                "name": _CACHE,
                "persistentVolumeClaim": {"claimName": cache.claim_name, "readOnly": cache_read_only},
            },
        ],
        mounts=[
            {"name": _SHARED_MEMORY, "mountPath": "/dev/shm"},  # noqa: S108 - the container's own
            {"name": _SCRATCH, "mountPath": SCRATCH_PATH},
            {"name": _CACHE, "mountPath": CACHE_PATH, "readOnly": cache_read_only},
        ],
    )


def probes(endpoints: Endpoints, start_up: StartUpProbe) -> Part:
    """Return the probes of a server. The other two wait until the startup probe has passed, so neither delays.

    Liveness asks less often and forgives longer than readiness: a busy server leaves the Service, a dead one is killed.
    """
    return {
        "startupProbe": {
            "httpGet": {"path": endpoints.ready_path, "port": HTTP},
            "initialDelaySeconds": start_up.initial_delay_seconds,
            "periodSeconds": start_up.period_seconds,
            "failureThreshold": start_up.failure_threshold,
            "timeoutSeconds": 5,
        },
        "readinessProbe": {
            "httpGet": {"path": endpoints.ready_path, "port": HTTP},
            "periodSeconds": 10,
            "failureThreshold": 3,
            "timeoutSeconds": 5,
        },
        "livenessProbe": {
            "httpGet": {"path": endpoints.live_path, "port": HTTP},
            "periodSeconds": 20,
            "failureThreshold": 6,
            "timeoutSeconds": 10,
        },
    }


def pod_security() -> Part:
    """Return the pod's security context: never root, as the user that owns the cache's files."""
    return {
        "runAsNonRoot": True,
        "runAsUser": USER_ID,
        "runAsGroup": USER_ID,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> Part:
    """Return the container's security context: what the restricted Pod Security level wants, and a read-only root."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def variables(values: Mapping[str, str]) -> list[Part]:
    """Return environment variables in the order given."""
    return [{"name": name, "value": value} for name, value in values.items()]


def from_secret(name: str, secret: pulumi.Input[str], key: str) -> Part:
    """Return an environment variable whose value Kubernetes takes from a Secret."""
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def _one_of(key: str, *values: str) -> Part:
    return {"key": key, "operator": "In", "values": list(values)}
