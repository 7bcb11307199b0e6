"""Rules on pods in CEL."""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.facts import fractions, resources
from eks_gpu.facts.declarations import FULL_IMAGE_REASON
from eks_gpu.facts.visible_devices import HIDING, VISIBLE_DEVICES
from eks_gpu.planning.images.image_reference import IN_CAPITALS, MOVING, PLACEHOLDERS
from eks_gpu.planning.trials import NO_SERVER, SAMPLE, TESTS, WAITING
from eks_gpu_policies.admission.pods import (
    CARRIERS,
    CONDITIONS,
    CONTAINERS,
    POD,
    PURPOSE,
    SPEC,
    TEMPLATE,
    VOLUMES,
    WORKLOAD,
    names,
    says,
)
from eks_gpu_policies.admission.said import Kinds, Said, is_gpu, text, texts
from eks_gpu_policies.rules.workloads.work005 import SHARED_MEMORY, SMALLEST_GIB, USES_SHARED_MEMORY
from eks_gpu_policies.rules.workloads.work006 import ANSWERING
from eks_gpu_policies.rules.workloads.work011 import GUARDED, TOOL
from eks_gpu_policies.rules.workloads.work014 import BACKEND_OPTION, BACKENDS, FULL, REPOSITORY, SLIM

# WORK005: shared memory is there and fits. A mount at its path whose volume is no volume of the pod counts for none.

_HOST_IPC: Final = ("hostIpc", "has(variables.podSpec.hostIPC) && variables.podSpec.hostIPC")
_PATH: Final = text(f"^{SHARED_MEMORY}/*$")
_IS_THERE: Final = f"m.mountPath.matches({_PATH}) && variables.volumes.exists(v, v.name == m.name"
_IN_MEMORY: Final = "(has(v.emptyDir) && has(v.emptyDir.medium) && v.emptyDir.medium == 'Memory')"
_LARGE_ENOUGH: Final = (
    f"(!has(v.emptyDir.sizeLimit) || !quantity(string(v.emptyDir.sizeLimit)).isLessThan(quantity('{SMALLEST_GIB}Gi')))"
)
_HAS: Final = f"(has(c.volumeMounts) && c.volumeMounts.exists(m, {_IS_THERE})))"
_HAS_GOOD: Final = f"c.volumeMounts.exists(m, {_IS_THERE} && (has(v.hostPath) || ({_IN_MEMORY} && {_LARGE_ENOUGH}))))"


def _image(pattern: re.Pattern[str]) -> str:
    return f"(has(c.image) && c.image.matches({text(f'(?i){pattern.pattern}')}))"


_CERTAIN: Final = (
    f"({_image(USES_SHARED_MEMORY)} || "
    f"(variables.workload == 'training' && (object.kind != 'Job' || {WORKLOAD} in variables.podLabels)))"
)
_ALL_WORDS: Final = (
    "((has(c.command) ? c.command : dyn([])) + (has(c.args) ? c.args : dyn([]))).map(w, string(w)).join(' ')"
)


def _all_words(pattern: re.Pattern[str]) -> str:
    flag = "(?i)" if pattern.flags & re.IGNORECASE else ""
    return f"{_ALL_WORDS}.matches({text(flag + pattern.pattern)})"


_TRIAL: Final = f"({_image(SAMPLE)} || {_image(TESTS)} || {_all_words(TESTS)} || {_all_words(WAITING)})"
_POSSIBLE: Final = f"({_CERTAIN} || (variables.workload == 'training' && !{_TRIAL}))"
_POD_LIMITS: Final = (
    "podLimits",
    (
        "has(variables.podSpec.resources) && has(variables.podSpec.resources.limits) ? "
        "variables.podSpec.resources.limits : dyn({})"
    ),
)
_MEMORY: Final = text(resources.MEMORY)
_LIMITS: Final = (
    f"(has(c.resources) && has(c.resources.limits) && {_MEMORY} in c.resources.limits ? c.resources.limits : "
    "variables.podLimits)"
)
_FITS: Final = (
    f"[{_LIMITS}].all(l, has(v.emptyDir.sizeLimit) ? !({_MEMORY} in l) || "
    f"quantity(string(v.emptyDir.sizeLimit)).isLessThan(quantity(string(l[{_MEMORY}]))) : {_MEMORY} in l)"
)

WORK005: Final = Said(
    rule="WORK005",
    kinds=CARRIERS,
    conditions=CONDITIONS,
    variables=(
        *POD,
        *PURPOSE,
        VOLUMES,
        _HOST_IPC,
        _POD_LIMITS,
        (
            "starved",
            (
                f"variables.hostIpc ? dyn([]) : variables.gpuContainers.filter(c, {_POSSIBLE} && "
                f"({_HAS} ? !{_HAS_GOOD} : {_CERTAIN}))"
            ),
        ),
        (
            "overfull",
            (
                "variables.isGpuPod ? variables.containers.filter(c, has(c.volumeMounts) && c.volumeMounts.exists(m, "
                f"variables.volumes.exists(v, v.name == m.name && {_IN_MEMORY} && !{_FITS}))) : dyn([])"
            ),
        ),
    ),
    expression="variables.starved.size() == 0 && variables.overfull.size() == 0",
    message=(
        "variables.starved.size() > 0 ? "
        f"'no volume in memory of {SMALLEST_GIB} GiB or more on {SHARED_MEMORY}: ' + {names('variables.starved')} : "
        f"'a volume in memory that has no limit or is not below the memory limit: ' + {names('variables.overfull')}"
    ),
)
WORK005_ADVICE: Final = Said(
    rule="WORK005",
    advice=True,
    kinds=(Kinds("batch", "v1", ("jobs",)),),
    conditions=CONDITIONS,
    variables=(
        *POD,
        *PURPOSE,
        VOLUMES,
        _HOST_IPC,
        (
            "bare",
            (f"variables.hostIpc ? dyn([]) : variables.gpuContainers.filter(c, {_POSSIBLE} && !{_CERTAIN} && !{_HAS})"),
        ),
    ),
    expression="variables.bare.size() == 0",
    message=f"'nothing but the default on {SHARED_MEMORY}, and it may be training: ' + {names('variables.bare')}",
)

_UNANSWERING: Final = (
    f"{' && '.join(f'!has(c.{field})' for field in ANSWERING)} && ({_image(NO_SERVER)} || {_all_words(WAITING)})"
)

WORK006: Final = Said(
    rule="WORK006",
    kinds=CARRIERS,
    conditions=CONDITIONS,
    variables=(
        *POD,
        *PURPOSE,
        (
            "unprobed",
            (
                "variables.workload == 'inference' ? variables.gpuContainers.filter(c, "
                f"!has(c.startupProbe) && !({_UNANSWERING})) : dyn([])"
            ),
        ),
    ),
    expression="variables.unprobed.size() == 0",
    message=f"'no startup probe: ' + {names('variables.unprobed')}",
)


def _other_gpus(amounts: str) -> str:
    others = f"n.contains({text(fractions.WORD)}) && !{is_gpu('n')}"
    return f"(has(c.resources.{amounts}) && c.resources.{amounts}.exists(n, {others}))"


_FORCES: Final = (
    f"(has(c.env) && c.env.exists(e, e.name == {text(VISIBLE_DEVICES)} && has(e.value) && "
    f"!(e.value in {texts(sorted(HIDING))})))"
)

_TOOL_AS_A_WORD: Final = re.compile(rf"(^|[^\w-]){TOOL}([^\w-]|$)")
_FRACTION: Final = (
    "asksAFraction",
    (
        "(has(variables.template.metadata) && has(variables.template.metadata.annotations) && "
        f"variables.template.metadata.annotations.exists(k, k in {texts(sorted(fractions.ANNOTATIONS))})) || "
        "variables.allContainers.exists(c, has(c.resources) && "
        f"({_other_gpus('limits')} || {_other_gpus('requests')}))"
    ),
)

WORK011: Final = Said(
    rule="WORK011",
    kinds=CARRIERS,
    conditions=CONDITIONS,
    variables=(
        *POD,
        _FRACTION,
        (
            "using",
            (
                "variables.isGpuPod || variables.asksAFraction || object.kind == 'DaemonSet' ? dyn([]) : "
                f"variables.allContainers.filter(c, {_FORCES} || "
                f"({_all_words(_TOOL_AS_A_WORD)} && !{_all_words(GUARDED)}))"
            ),
        ),
    ),
    expression="variables.using.size() == 0",
    message=f"'uses a GPU, and the pod asks for none: ' + {names('variables.using')}",
)

# WORK013: images are pinned. The tag is what follows the colon of the last part; a digest pins whatever the tag is.

_LATER: Final = " || ".join(
    (*(f"c.image.contains({text(mark)})" for mark in PLACEHOLDERS), f"c.image.matches({text(IN_CAPITALS.pattern)})")
)
_WORDS: Final = "t.substring(t.indexOf(':') + 1).findAll('[0-9a-z]+')"
_MOVES: Final = (
    "[c.image.substring(c.image.lastIndexOf('/') + 1).lowerAscii()].exists(t, !t.contains(':') || t.endsWith(':') || "
    f"({_WORDS}.exists(w, w in {texts(sorted(MOVING))}) && "
    f"!{_WORDS}.exists(w, (w.matches('^[0-9a-f]{{7,64}}$') && w.matches('[0-9]')) || w.matches('[0-9]{{8}}'))))"
)

WORK013: Final = Said(
    rule="WORK013",
    kinds=CARRIERS,
    conditions=CONDITIONS,
    variables=(
        *POD,
        (
            "moving",
            (
                "variables.isGpuPod ? variables.allContainers.filter(c, has(c.image) && c.image != '' && "
                f"!c.image.contains('@') && !({_LATER}) && {_MOVES}) : dyn([])"
            ),
        ),
    ),
    expression="variables.moving.size() == 0",
    message="'images that may be others tomorrow: ' + variables.moving.map(c, string(c.image)).join(', ')",
)


def _triton(tag: re.Pattern[str]) -> str:
    return f"c.image.matches({text(f'^([^@]*/)?{REPOSITORY}:({tag.pattern})(@.*)?$')})"


_BRINGS_BACKENDS: Final = (
    f"({says(BACKEND_OPTION)} || "
    f"(has(c.volumeMounts) && c.volumeMounts.exists(m, m.mountPath.startsWith({text(BACKENDS)}))))"
)
_REASON: Final = text(FULL_IMAGE_REASON)

WORK014: Final = Said(
    rule="WORK014",
    kinds=CARRIERS,
    conditions=CONDITIONS,
    variables=(
        TEMPLATE,
        SPEC,
        CONTAINERS,
        (
            "hasReason",
            (
                "has(variables.template.metadata) && has(variables.template.metadata.annotations) && "
                f"{_REASON} in variables.template.metadata.annotations && "
                f"variables.template.metadata.annotations[{_REASON}] != ''"
            ),
        ),
        (
            "whole",
            (
                f"variables.containers.filter(c, has(c.image) && (({_triton(SLIM)} && !{_BRINGS_BACKENDS}) || "
                f"({_triton(FULL)} && !variables.hasReason)))"
            ),
        ),
    ),
    expression="variables.whole.size() == 0",
    message="'Triton with every backend or with none: ' + variables.whole.map(c, string(c.image)).join(', ')",
)

WORKLOADS: Final = (WORK005, WORK005_ADVICE, WORK006, WORK011, WORK013, WORK014)
