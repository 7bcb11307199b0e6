"""How many pods a workload keeps running, and whether they only keep nodes ready for others."""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.planning.images.image_reference import image_reference
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import View, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program

_ENDING: Final = frozenset(
    {
        "Job",
        "CronJob",
        "JobSet",
        "PyTorchJob",
        "MPIJob",
        "TrainJob",
        "RayJob",
        "Workflow",
        "CronWorkflow",
        "WorkflowTemplate",
        "ClusterWorkflowTemplate",
    }
)
"""Kinds whose pods end when their work is done."""
_NO_PODS: Final = frozenset({"PodTemplate", "ServingRuntime", "ClusterServingRuntime", "DaemonSet"})
"""Kinds that only describe pods for others, and the one whose pods follow the nodes."""

_COUNTS: Final = ("replicas", "minReplicas")
_GROUP_SIZE: Final = "size"
"""A LeaderWorkerSet's, under the template of its groups."""
_PARALLEL: Final = "parallelism"
"""A Job's, of the pods that work at the same time."""
_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def stays(pod: PodTemplate) -> bool:
    """Return whether the workload keeps pods running, as a Deployment does and a Job does not."""
    return pod.owner_kind not in _ENDING | _NO_PODS


def replicas(pod: PodTemplate, program: Program) -> int:
    """Return how many pods a workload keeps running; 1 where nothing is said.

    Raises:
        NotKnownError: the number is not known.

    """
    count, groups = 1, 1
    for place in on_the_way(program.by_urn[pod.urn].view, pod.path):
        for key in _COUNTS:
            said = place[key].integer()
            if said is not None:
                count = said
        members = place[_GROUP_SIZE].integer()
        if members is not None and pod.owner_kind == "LeaderWorkerSet":
            groups = members
    return max(0, count) * max(1, groups)


def at_once(pod: PodTemplate, program: Program) -> int:
    """Return how many pods of a workload may run at once: those that it keeps, or those of a Job that run in parallel.

    Raises:
        NotKnownError: the number is not known.

    """
    way = on_the_way(program.by_urn[pod.urn].view, pod.path)
    parallel = (place[_PARALLEL].integer() for place in way)
    return replicas(pod, program) * max(1, *(1 if said is None else said for said in parallel))


def on_the_way(root: View, path: str) -> list[View]:
    """Return the places from the root of an object to its pods' spec."""
    places = [root]
    for key, index in _STEP.findall(path):
        place = places[-1]
        if key:
            places.append(place[key])
            continue
        items = place.items()
        if int(index) >= len(items):
            break
        places.append(items[int(index)])
    return places


def is_placeholder(pod: PodTemplate, program: Program) -> bool:
    """Return whether a workload's pods only keep room: they pause, or every other pod goes before them."""
    if any(image_reference(need(container.image)).is_pause for container in need(pod.containers)):
        return True
    name = pod.spec["priorityClassName"].text()
    classes = program.named(tokens.PRIORITY_CLASS, name) if name else ()
    values = (found.view["value"].integer() for found in classes)
    return any(value is not None and value < 0 for value in values)
