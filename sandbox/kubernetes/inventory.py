"""What a cluster holds beyond a bare one: the proof that a destroy left nothing.

A bare cluster is not empty. What Kubernetes makes for itself is told by what it says of itself (labels, annotations,
owners) wherever it does, and by name only where it does not; each rule has its reason beside it. A list recorded at
the first start would not do: controllers go on making such objects later, in every new namespace for instance.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.kubernetes.api import NOT_FOUND, Kind, Manifest, RefusedError, connect

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane

BASELINE_LABEL = "eks-gpu-sandbox/baseline"
"""Label of what the sandbox itself puts into every cluster: it stands for a part of EKS, and does not count."""

CLUSTER = "cluster"
"""Stands in the place of the namespace for what has none."""

_KEPT_BY_KUBERNETES = {
    ("", "ComponentStatus"): "not an object: the answer to a question",
    ("", "Endpoints"): "what is behind a Service, written down a second time in the old form",
    ("", "Event"): "a report, which goes by itself after an hour",
    ("events.k8s.io", "Event"): "the same reports by another address",
    ("coordination.k8s.io", "Lease"): "a sign of life of a process, which nobody takes away when the process ends",
    ("networking.k8s.io", "IPAddress"): "the note that a Service has an address",
}
"""Kinds that count for nothing, and why."""

_NAMESPACES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
_ROOT_CERTIFICATES = "kube-root-ca.crt"
_DEFAULT_ACCOUNT = "default"
_CONTROLLER_ROLE = "system:controller:"


@dataclass(frozen=True, slots=True)
class Item:
    """An object with what the rules look at."""

    api_version: str
    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    uid: str
    owners: frozenset[str]
    """The ids of the objects it goes with."""

    def __str__(self) -> str:
        """Write it as people do."""
        return f"{self.namespace or CLUSTER} {self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Rule:
    """Something every cluster has."""

    reason: str
    applies: Callable[[Item, Collection[str]], bool]
    """Given an object and the names of all cluster roles."""


RULES = (
    Rule("the sandbox put it there, for EKS", lambda item, _: BASELINE_LABEL in item.labels),
    Rule(
        "the API server's own roles bear this label, and are made again if they are deleted",
        lambda item, _: item.labels.get("kubernetes.io/bootstrapping") == "rbac-defaults",
    ),
    Rule(
        "the API server's own rules of fairness bear this annotation; those that somebody makes do not",
        lambda item, _: "apf.kubernetes.io/autoupdate-spec" in item.annotations,
    ),
    Rule(
        "the API server registers what it serves itself, custom resources among it, and takes it off again",
        lambda item, _: item.kind == "APIService" and "kube-aggregator.kubernetes.io/automanaged" in item.labels,
    ),
    Rule("Kubernetes' own namespaces", lambda item, _: item.kind == "Namespace" and item.name in _NAMESPACES),
    Rule(
        "controllers put the authority's certificate into every namespace",
        lambda item, _: (item.kind, item.name) == ("ConfigMap", _ROOT_CERTIFICATES),
    ),
    Rule(
        "controllers put an account for pods that name none into every namespace",
        lambda item, _: (item.kind, item.name) == ("ServiceAccount", _DEFAULT_ACCOUNT),
    ),
    Rule(
        "each controller of Kubernetes has an account of its own, for which there is a role of its own",
        lambda item, roles: (
            (item.kind, item.namespace) == ("ServiceAccount", "kube-system")
            and f"{_CONTROLLER_ROLE}{item.name}" in roles
        ),
    ),
    Rule(
        "the two priorities that are built in",
        lambda item, _: (
            item.kind == "PriorityClass" and item.name in {"system-cluster-critical", "system-node-critical"}
        ),
    ),
    Rule(
        "the API server's own address within the cluster, and the range that it is from",
        lambda item, _: (
            item.name == "kubernetes" and (item.kind, item.namespace) in {("Service", "default"), ("ServiceCIDR", "")}
        ),
    ),
    Rule(
        "the API server's notes for itself and for others that serve a part of the API",
        lambda item, _: (
            (item.kind, item.namespace) == ("ConfigMap", "kube-system")
            and item.name
            in {"extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking"}
        ),
    ),
)
"""What does not count. (Kinds that never do are not even asked for.)"""


def contents(plane: ControlPlane) -> list[str]:
    """Return every object that a bare cluster does not have, as ``namespace Kind name``, sorted.

    What goes with its owner is counted with it: the pods of a Deployment are not listed, but a pod whose owner is gone
    is. What is being deleted and is still there counts.
    """
    return sorted(str(item) for item in beyond_bare(items(plane)))


def items(plane: ControlPlane) -> list[Item]:
    """Return every object of every kind that may count."""
    with connect(plane) as api:
        return [
            _item(kind, manifest)
            for kind in api.kinds()
            if (kind.group, kind.kind) not in _KEPT_BY_KUBERNETES
            for manifest in _list(api.list, kind)
        ]


def beyond_bare(found: Collection[Item]) -> list[Item]:
    """Return those that no rule explains, and that do not go with another one."""
    there = {item.uid for item in found}
    roles = {item.name for item in found if item.kind == "ClusterRole"}
    return [item for item in found if not item.owners & there and not any(rule.applies(item, roles) for rule in RULES)]


def _list(query: Callable[[str, str], list[Manifest]], kind: Kind) -> list[Manifest]:
    try:
        return query(kind.api_version, kind.kind)
    except RefusedError as error:
        # Its definition was deleted since the kinds were asked for, and every object with it.
        if error.status == NOT_FOUND:
            return []
        raise


def _item(kind: Kind, manifest: Mapping[str, Any]) -> Item:
    metadata = manifest["metadata"]
    return Item(
        api_version=kind.api_version,
        kind=kind.kind,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        uid=metadata.get("uid", ""),
        owners=frozenset(owner["uid"] for owner in metadata.get("ownerReferences") or ()),
    )
