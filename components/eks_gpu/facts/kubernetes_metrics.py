"""Series of kube-state-metrics and of Prometheus itself that alerts read."""

from __future__ import annotations

SOURCE = (
    "kubernetes/kube-state-metrics v2.17 docs/metrics/cluster/node-metrics.md and workload/pod-metrics.md; "
    "Prometheus 3.5 documentation, jobs and instances (up)"
)
CHECKED = "2026-11-21"

UP = "up"
NODE_INFO = "kube_node_info"
NODE_LABELS = "kube_node_labels"
NODE_ALLOCATABLE = "kube_node_status_allocatable"
NODE_CAPACITY = "kube_node_status_capacity"
POD_PHASE = "kube_pod_status_phase"
POD_REQUESTS = "kube_pod_container_resource_requests"

KNOWN: frozenset[str] = frozenset(
    {UP, NODE_INFO, NODE_LABELS, NODE_ALLOCATABLE, NODE_CAPACITY, POD_PHASE, POD_REQUESTS}
)
"""Everything an alert of ours may read besides the GPU metrics."""


def label_name(key: str) -> str:
    """Return the label under which ``kube_node_labels`` shows a node's label, for example ``label_gpu_type``.

    Only labels in kube-state-metrics' allow-list are shown at all.
    """
    return "label_" + sanitised(key)


def sanitised(name: str) -> str:
    """Return a label key or resource name as kube-state-metrics spells it: ``nvidia.com/gpu`` is ``nvidia_com_gpu``."""
    return "".join(character if character.isalnum() else "_" for character in name)
