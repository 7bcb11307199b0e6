"""WORK011: a pod that uses a GPU asks for it.

DaemonSets are exempt: exporters and plugins look at every GPU of a node and must ask for none. So is the pod that
starts a gang whose other pods ask: what it calls runs there. Other schedulers' words for a part of a GPU ask for one,
too; and a script that first sees whether the tool is there, or gets along without it, is right on any node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.images import CUDA_SAMPLE
from eks_gpu.facts.visible_devices import HIDING, VISIBLE_DEVICES
from eks_gpu.planning.fractions import asks_a_fraction
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import View, attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

_DAEMON_SET: Final = "DaemonSet"
TOOL: Final = "nvidia-smi"
_RUNS: Final = re.compile(rf"(?<![\w-]){TOOL}(?![\w-])")
GUARDED: Final = re.compile(
    rf"(?:\b(?:command\s+-v|which|type|hash|if|if\s+!)\s+(?:\S*/)?{TOOL})|{TOOL}[^;&|\n]*\|\||(?:^|[\s/])kubectl\s"
)
"""Commands that get along without it, or run it in another pod. CEL (RE2) reads this, too."""


def _may_use_gpus(pod: PodTemplate, _stack: Stack) -> bool:
    if pod.owner_kind == _DAEMON_SET:
        return False
    uses = [attempt(_use, container) for container in pod.all_containers]
    if any(isinstance(use, str) for use in uses):
        return True
    return not pod.asks_gpu and any(need(use) is not None for use in uses)


def _use(container: Container) -> str | None:
    """Return how a container uses GPUs whatever it asks, or None when nothing says that it does."""
    for variable in container.place["env"].items():
        if variable["name"].text() == VISIBLE_DEVICES:
            devices = variable["value"].text()
            if devices is not None and devices not in HIDING:
                return f"sets {VISIBLE_DEVICES} to {devices}"
    said = " ".join(text for part in ("command", "args") for text in _texts(container.place[part]))
    return f"runs {TOOL}" if _RUNS.search(said) is not None and GUARDED.search(said) is None else None


def _texts(place: View) -> tuple[str, ...]:
    """Return the words of a command; a single string is one."""
    text = place.text()
    return place.texts() if text is None else (text,)


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if pod.asks_gpu or asks_a_fraction(pod) or _starts_others(pod, stack):
        return
    yield from clauses(*(_container(container) for container in pod.all_containers))


def _starts_others(pod: PodTemplate, stack: Stack) -> bool:
    """Return whether another pod of the same object asks for GPUs: a launcher's command runs there."""
    return pod.urn in stack.asks_gpus


def _container(container: Container) -> Iterator[Outcome]:
    use = _use(container)
    if use is None:
        return
    runs = use.startswith("runs")
    effect = "it sees none" if runs else "it sees GPUs that nobody counted, beside the pods that they were given to"
    yield Problem(f"container {container.name} {use} and the pod asks for no GPU: {effect}")


_SMI = examples.container(image=CUDA_SAMPLE.reference, command=[TOOL], startupProbe=None)
_ASKING = {**_SMI, "resources": {"limits": {resources.GPU: "1"}}}
_BARE = {**_SMI, "resources": {}}

RULE: Final = Rule(
    id="WORK011",
    title="A pod that uses a GPU asks for it",
    severity=Severity.MEDIUM,
    why=(
        "A pod that asks for no GPU is given none: nvidia-smi is not even there. Forced to see them all by an "
        "environment variable, it computes on GPUs that belong to others, and their memory runs out."
    ),
    fix=f"set limits: {{{resources.GPU}: 1}}; leave {VISIBLE_DEVICES} to the device plugin",
    lessons=("W08",),
    scope=Scope.RESOURCE,
    looks_at=Subjects[PodTemplate]("pods that use GPUs", frozenset(), lambda stack: stack.pods, _may_use_gpus),
    check=_check,
    failing=Example((examples.deployment(_BARE),)),
    passing=Example((examples.deployment(_ASKING),)),
)
