"""Pods that ask for a part of a GPU in the words of other schedulers and plugins."""

from __future__ import annotations

from eks_gpu.facts import fractions, resources
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import need


def asks_a_fraction(pod: PodTemplate) -> bool:
    """Return whether a pod asks for GPUs by an annotation, or by a resource that is not NVIDIA's own."""
    if not fractions.ANNOTATIONS.isdisjoint(need(pod.annotations)):
        return True
    names = (name for box in pod.all_containers for name in (*need(box.requests), *need(box.limits)))
    return any(fractions.WORD in name and not resources.is_gpu(name) for name in names)
