"""Which fields of a Kubernetes object cannot be changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IDENTITY: Final = ("metadata.name", "metadata.namespace", "apiVersion", "kind")

_WORKLOAD: Final = ("spec.selector",)
_BINDING: Final = ("roleRef",)

# What the real provider replaces by itself (pulumi-kubernetes provider/pkg/provider/diff.go, 2026-07-01).
_BY_PROVIDER: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes:apps/v1:Deployment": _WORKLOAD,
    "kubernetes:apps/v1:DaemonSet": _WORKLOAD,
    "kubernetes:apps/v1:StatefulSet": (
        *_WORKLOAD,
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "kubernetes:batch/v1:Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "kubernetes:core/v1:ConfigMap": ("data", "binaryData", "immutable"),
    "kubernetes:core/v1:Secret": ("type", "data", "stringData"),
    "kubernetes:core/v1:ResourceQuota": ("spec.scopes",),
    "kubernetes:core/v1:Service": ("spec.clusterIP",),
    "kubernetes:core/v1:PersistentVolume": ("spec.csi", "spec.hostPath", "spec.local", "spec.nfs"),
    "kubernetes:core/v1:PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "kubernetes:core/v1:Pod": ("spec",),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": _BINDING,
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": _BINDING,
    "kubernetes:storage.k8s.io/v1:StorageClass": ("parameters", "provisioner"),
    "kubernetes:helm.sh/v3:Release": ("name", "namespace"),
}

# What the API server refuses to change (kubernetes v1.35 pkg/apis/*/validation). The real provider's update fails
# there; the stand-in shows the replacement that must come.
_BY_API: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes:node.k8s.io/v1:RuntimeClass": ("handler",),
    "kubernetes:storage.k8s.io/v1:StorageClass": ("reclaimPolicy", "volumeBindingMode"),
    "kubernetes:scheduling.k8s.io/v1:PriorityClass": ("value", "preemptionPolicy"),
    "kubernetes:core/v1:PersistentVolumeClaim": ("spec.volumeMode",),
}


def fixed_fields(token: str) -> tuple[str, ...]:
    """Return the fields of `token` whose change replaces the object; custom resources have only their identity."""
    return (*IDENTITY, *_BY_PROVIDER.get(token, ()), *_BY_API.get(token, ()))
