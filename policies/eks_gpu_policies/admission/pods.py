"""Pods in CEL: where the template is in each kind that carries one, what asks for a GPU, what the pods are for.

``dyn`` keeps the server from judging the expressions against each kind's own schema: no kind has all of the paths.
"""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.trials import NOTEBOOK
from eks_gpu_policies.admission.said import Kinds, changed, is_gpu, text, texts
from eks_gpu_policies.readers.pods import SHORT_JOB_SECONDS

CARRIERS: Final = (
    Kinds("", "v1", ("pods", "replicationcontrollers")),
    Kinds("apps", "v1", ("deployments", "statefulsets", "daemonsets", "replicasets")),
    Kinds("batch", "v1", ("jobs", "cronjobs")),
)
_JUDGED_OWNERS: Final = (
    "ReplicationController",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "Job",
    "CronJob",
)

CONDITIONS: Final = (
    (
        "no-owner-was-judged",
        (
            "!has(dyn(object).metadata.ownerReferences) || !dyn(object).metadata.ownerReferences.exists(o, "
            f"has(o.controller) && o.controller && o.kind in {texts(_JUDGED_OWNERS)})"
        ),
    ),
    changed("spec"),
)
"""What a controller makes of an object that was judged is not judged again: a pod that restarts after the policies came
is let in, and its owner is refused when somebody next changes it."""

TEMPLATE: Final = (
    "template",
    (
        "object.kind == 'Pod' ? dyn(object) : object.kind == 'CronJob' ? dyn(object).spec.jobTemplate.spec.template : "
        "dyn(object).spec.template"
    ),
)
SPEC: Final = ("podSpec", "variables.template.spec")
CONTAINERS: Final = ("containers", "variables.podSpec.containers")
_ALL: Final = (
    "allContainers",
    ("variables.containers + (has(variables.podSpec.initContainers) ? variables.podSpec.initContainers : dyn([]))"),
)
_LABELS: Final = (
    "podLabels",
    (
        "has(variables.template.metadata) && has(variables.template.metadata.labels) ? "
        "variables.template.metadata.labels : dyn({})"
    ),
)


def _asks(amounts: str) -> str:
    some = f"{is_gpu('n')} && quantity(string(c.resources.{amounts}[n])).compareTo(quantity('0')) != 0"
    return f"(has(c.resources.{amounts}) && c.resources.{amounts}.exists(n, {some}))"


_ASKS_GPU: Final = (
    f"has(c.resources) && ({_asks('limits')} || {_asks('requests')} || "
    "(has(c.resources.claims) && c.resources.claims.size() > 0))"
)
_GPU_CONTAINERS: Final = ("gpuContainers", f"variables.containers.filter(c, {_ASKS_GPU})")
_IS_GPU_POD: Final = ("isGpuPod", f"variables.allContainers.exists(c, {_ASKS_GPU})")
POD: Final = (TEMPLATE, SPEC, CONTAINERS, _ALL, _LABELS, _GPU_CONTAINERS, _IS_GPU_POD)

WORKLOAD: Final = text(labels.WORKLOAD)
_SHORT: Final = (
    f"has(dyn(object).spec.activeDeadlineSeconds) ? dyn(object).spec.activeDeadlineSeconds <= {SHORT_JOB_SECONDS} : "
    f"has(variables.podSpec.activeDeadlineSeconds) && variables.podSpec.activeDeadlineSeconds <= {SHORT_JOB_SECONDS}"
)
PURPOSE: Final = (
    (
        "said",
        (
            f"{WORKLOAD} in variables.podLabels && variables.podLabels[{WORKLOAD}] != '' ? "
            f"string(variables.podLabels[{WORKLOAD}]) : has(dyn(object).metadata.labels) && {WORKLOAD} in "
            f"dyn(object).metadata.labels ? string(dyn(object).metadata.labels[{WORKLOAD}]) : ''"
        ),
    ),
    (
        "workload",
        (
            f"variables.said in {texts(labels.WORKLOADS)} ? variables.said : "
            f"object.kind == 'Job' && !({_SHORT}) ? 'training' : "
            "!(object.kind in ['Deployment', 'StatefulSet']) ? 'other' : variables.containers.exists(c, "
            f"has(c.image) && c.image.matches({text(f'(?i){NOTEBOOK.pattern}')})) ? 'development' : 'inference'"
        ),
    ),
)
"""What the pods are for: by their label, or the owner's, else by the kind of owner and by their image."""


VOLUMES: Final = ("volumes", "has(variables.podSpec.volumes) ? variables.podSpec.volumes : dyn([])")


def names(containers: str) -> str:
    """Return an expression for the names of some containers, as messages list them."""
    return f"{containers}.map(c, string(c.name)).join(', ')"


def says(pattern: str) -> str:
    """Return the question whether a word of a container's command or arguments matches ``pattern``."""
    parts = (f"(has(c.{part}) && c.{part}.exists(w, w.matches({text(pattern)})))" for part in ("command", "args"))
    return f"({' || '.join(parts)})"
