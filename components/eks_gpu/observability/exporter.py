"""What NVIDIA's DCGM exporter is installed with, where no GPU operator brings one."""

from __future__ import annotations

import hashlib

from eks_gpu.facts import dcgm_exporter, labels, metrics, taints

_RESOURCES = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "500m", "memory": "1Gi"}}
"""The chart's 200m and 512Mi are too little for eight GPUs with profiling metrics: the exporter is killed or late."""


def chart_values(runtime_class_name: str | None) -> dict[str, object]:
    """Return the values of the dcgm-exporter chart.

    ``runtime_class_name`` is the RuntimeClass through which the exporter sees the GPUs. It asks for none, which is why
    it keeps the chart's SYS_ADMIN capability: the NVIDIA runtime shows GPUs to such a container only, and the profiling
    metrics need it as well.
    """
    counters = metrics.counter_file()
    return {
        "customMetrics": counters,
        # The file is mounted in a way that is never refreshed, so a changed list must change the pods.
        "podAnnotations": {labels.COUNTERS_HASH: hashlib.sha256(counters.encode()).hexdigest()[:16]},
        # By default the chart tolerates no GPU taint, and runs on every node that has no GPU.
        "nodeSelector": {labels.GPU_PRESENT: "true"},
        "tolerations": [taints.TOLERATE_EVERYTHING],
        "resources": _RESOURCES,
        "extraEnv": [{"name": name, "value": value} for name, value in dcgm_exporter.ENVIRONMENT.items()],
        "service": {"type": "ClusterIP"},
        # Ours, because it must carry the node's name and the labels that the Prometheus selects by.
        "serviceMonitor": {"enabled": False},
        **({"runtimeClassName": runtime_class_name} if runtime_class_name else {}),
    }
